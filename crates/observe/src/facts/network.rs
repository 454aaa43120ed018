//! Facts of the network interfaces: driver, speed, queues, steering. No addresses.

use super::sheet::{Sheet, link_name, list};
use std::path::Path;

/// At most this many interfaces are listed, those with a device first.
const MAX_INTERFACES: usize = 32;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys("class/net");
    let (mut physical, virtual_ones): (Vec<String>, Vec<String>) =
        list(&folder).into_iter().partition(|name| folder.join(name).join("device").exists());
    physical.extend(virtual_ones);
    for name in physical.into_iter().take(MAX_INTERFACES) {
        read_interface(sheet, &name, &folder.join(&name));
    }
}

fn read_interface(sheet: &mut Sheet<'_>, name: &str, folder: &Path) {
    let driver = link_name(&folder.join("device/driver")).ok_or("it has no device".to_owned());
    sheet.text(format!("nic.{name}.driver"), driver);
    let state = sheet.read(&folder.join("operstate"));
    sheet.text(format!("nic.{name}.state"), state);
    let speed = sheet.read_count(&folder.join("speed"));
    sheet.number(format!("nic.{name}.speed_mbps"), speed.map_err(|_| "the link has no speed".to_owned()));
    let mtu = sheet.read_count(&folder.join("mtu"));
    sheet.number(format!("nic.{name}.mtu_bytes"), mtu);
    let length = sheet.read_count(&folder.join("tx_queue_len"));
    sheet.number(format!("nic.{name}.tx_queue_packets"), length);
    let queues = list(&folder.join("queues"));
    for (kind, fact) in [("rx-", "rx_queues_count"), ("tx-", "tx_queues_count")] {
        let count = queues.iter().filter(|queue| queue.starts_with(kind)).count();
        let answer =
            if queues.is_empty() { Err("'queues' is not there".to_owned()) } else { Ok(count as f64) };
        sheet.number(format!("nic.{name}.{fact}"), answer);
    }
    let steering = sheet.read(&folder.join("queues/rx-0/rps_cpus"));
    sheet.text(format!("nic.{name}.rps_cpus"), steering);
    let bonding = folder.join("bonding");
    if bonding.is_dir() {
        for file in ["mode", "xmit_hash_policy", "slaves", "lacp_rate"] {
            let answer = sheet.read(&bonding.join(file));
            sheet.text(format!("nic.{name}.bond_{file}"), answer);
        }
    }
}
