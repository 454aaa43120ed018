//! Facts of the block devices.

use super::sheet::{Sheet, chosen, list};
use std::path::Path;

/// At most this many devices are listed.
const MAX_DISKS: usize = 64;
/// The unit of `/sys/block/NAME/size`. Unit: bytes.
const SECTOR_BYTES: f64 = 512.0;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys("block");
    let names = list(&folder);
    let is_listed = |name: &String| !["loop", "ram", "zram"].iter().any(|kind| name.starts_with(kind));
    for name in names.into_iter().filter(is_listed).take(MAX_DISKS) {
        read_disk(sheet, &name, &folder.join(&name));
    }
}

/// Facts that are texts, and where they are below `/sys/block/NAME`.
const TEXTS: &[(&str, &str)] = &[
    ("vendor", "device/vendor"),
    ("firmware", "device/firmware_rev"),
    ("revision", "device/rev"),
    ("merges_off", "queue/nomerges"),
    ("completion_affinity", "queue/rq_affinity"),
    ("is_polled", "queue/io_poll"),
    ("is_entropy_source", "queue/add_random"),
    ("zoned", "queue/zoned"),
];

/// Facts that are numbers.
const NUMBERS: &[(&str, &str)] = &[
    ("logical_block_bytes", "queue/logical_block_size"),
    ("physical_block_bytes", "queue/physical_block_size"),
    ("optimal_io_bytes", "queue/optimal_io_size"),
    ("max_request_kib", "queue/max_sectors_kb"),
    ("discard_max_bytes", "queue/discard_max_bytes"),
    ("writeback_latency_us", "queue/wbt_lat_usec"),
    ("device_queue_requests", "device/queue_depth"),
];

fn read_disk(sheet: &mut Sheet<'_>, name: &str, folder: &Path) {
    let size = sheet.read_count(&folder.join("size")).map(|sectors| sectors * SECTOR_BYTES);
    sheet.number(format!("disk.{name}.size_bytes"), size);
    let model = sheet.read(&folder.join("device/model"));
    sheet.text(format!("disk.{name}.model"), model);
    let scheduler = sheet.read(&folder.join("queue/scheduler")).map(|text| chosen(&text));
    sheet.text(format!("disk.{name}.scheduler"), scheduler);
    let rotational = sheet.read(&folder.join("queue/rotational"));
    let rotational = rotational.map(|flag| if flag == "0" { "no" } else { "yes" }.to_owned());
    sheet.text(format!("disk.{name}.is_rotational"), rotational);
    let cache = sheet.read(&folder.join("queue/write_cache"));
    sheet.text(format!("disk.{name}.write_cache"), cache);
    for (fact, file) in TEXTS {
        let answer = sheet.read(&folder.join(file));
        sheet.text(format!("disk.{name}.{fact}"), answer);
    }
    for (fact, file) in NUMBERS {
        let answer = sheet.read_count(&folder.join(file));
        sheet.number(format!("disk.{name}.{fact}"), answer);
    }
    let hardware = list(&folder.join("mq")).len();
    let hardware = if hardware > 0 { Ok(hardware as f64) } else { Err("'mq' is missing".to_owned()) };
    sheet.number(format!("disk.{name}.hardware_queues_count"), hardware);
    let requests = sheet.read_count(&folder.join("queue/nr_requests"));
    sheet.number(format!("disk.{name}.queue_requests"), requests);
    let ahead = sheet.read_count(&folder.join("queue/read_ahead_kb")).map(|kibibytes| kibibytes * 1024.0);
    sheet.number(format!("disk.{name}.read_ahead_bytes"), ahead);
}
