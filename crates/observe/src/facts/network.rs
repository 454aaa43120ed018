//! Facts of the network interfaces: driver, speed, queues, rings, offloads, steering. No addresses.

use super::ethtool::Devices;
use super::sheet::{Sheet, link_name, list};
use std::path::Path;

/// At most this many interfaces are listed, those with a device first.
const MAX_INTERFACES: usize = 32;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys("class/net");
    let (mut physical, virtual_ones): (Vec<String>, Vec<String>) =
        list(&folder).into_iter().partition(|name| folder.join(name).join("device").exists());
    physical.extend(virtual_ones);
    let mut devices = Devices::open(sheet.roots.is_host());
    for name in physical.into_iter().take(MAX_INTERFACES) {
        read_interface(sheet, &name, &folder.join(&name));
        devices.read(sheet, &name);
    }
}

/// At most this many queues of an interface are looked at.
const MAX_QUEUES: usize = 256;

/// How receive and transmit work is given to CPUs: the fact, the kind of queue, the file of each.
const STEERING: [(&str, &str, &str); 3] =
    [("rps_cpus", "rx-", "rps_cpus"), ("rps_flows", "rx-", "rps_flow_cnt"), ("xps_cpus", "tx-", "xps_cpus")];

/// The values in order; a value that repeats stands once, with how often.
fn join_runs(values: &[String]) -> String {
    let runs = values.chunk_by(|one, next| one == next);
    let shown = runs.map(|run| match run {
        [only] => only.clone(),
        _ => format!("{} ×{}", run[0], run.len()),
    });
    shown.collect::<Vec<_>>().join(", ")
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
        let answer = if queues.is_empty() { Err("'queues' is missing".to_owned()) } else { Ok(count as f64) };
        sheet.number(format!("nic.{name}.{fact}"), answer);
    }
    for (fact, file) in [("duplex", "duplex"), ("numa_node", "device/numa_node"), ("is_threaded", "threaded")]
    {
        let answer = sheet.read(&folder.join(file));
        sheet.text(format!("nic.{name}.{fact}"), answer);
    }
    for (fact, file) in
        [("gro_flush_ns", "gro_flush_timeout"), ("deferred_irqs_count", "napi_defer_hard_irqs")]
    {
        let answer = sheet.read_count(&folder.join(file));
        sheet.number(format!("nic.{name}.{fact}"), answer);
    }
    for (fact, kind, file) in STEERING {
        let of_queues = queues.iter().filter(|queue| queue.starts_with(kind)).take(MAX_QUEUES);
        let values: Vec<String> = of_queues
            .filter_map(|queue| sheet.read(&folder.join("queues").join(queue).join(file)).ok())
            .collect();
        let answer =
            if values.is_empty() { Err(format!("no queue has '{file}'")) } else { Ok(join_runs(&values)) };
        sheet.text(format!("nic.{name}.{fact}"), answer);
    }
    let bonding = folder.join("bonding");
    if bonding.is_dir() {
        for file in ["mode", "xmit_hash_policy", "slaves", "lacp_rate"] {
            let answer = sheet.read(&bonding.join(file));
            sheet.text(format!("nic.{name}.bond_{file}"), answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_that_agree_are_told_once() {
        let join =
            |values: &[&str]| join_runs(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>());
        assert_eq!(join(&["0", "0", "0", "3"]), "0 ×3, 3");
        assert_eq!(join(&["f"]), "f");
    }
}
