//! Facts of the network interfaces: driver, speed, queues, rings, offloads, steering. No addresses.

use super::ethtool::Devices;
use super::sheet::{Sheet, link_name, list};
use std::path::{Path, PathBuf};
use sysdyno_record::ranges::ranges;

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
    let slot = slot(&folder.join("device"));
    sheet.text(format!("nic.{name}.pci_slot"), slot.ok_or_else(|| "it is in no PCI slot".to_owned()));
    let irqs = irqs(&folder.join("device"));
    sheet.text(format!("nic.{name}.irqs"), irqs.ok_or_else(|| "it has no interrupts of its own".to_owned()));
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

/// Folders above a device that are looked at: virtio devices have a PCI device of their own above them.
const DEVICES_ABOVE: usize = 3;

fn with_those_above(device: &Path) -> impl Iterator<Item = PathBuf> {
    let real = std::fs::canonicalize(device).unwrap_or_default();
    real.ancestors().take(DEVICES_ABOVE).map(Path::to_owned).collect::<Vec<_>>().into_iter()
}

/// The PCI address of a device, such as `0000:03:00.1`.
fn slot(device: &Path) -> Option<String> {
    with_those_above(device)
        .find_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()).filter(|name| is_slot(name)))
}

/// Domain, bus, and device, then the function: `0000:03:00.1`.
fn is_slot(name: &str) -> bool {
    let is_hex =
        |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some((place, function)) = name.split_once('.') else { return false };
    let parts: Vec<&str> = place.split(':').collect();
    let are_hex = parts.iter().zip([4, 2, 2]).all(|(part, length)| is_hex(part, length));
    parts.len() == 3 && are_hex && is_hex(function, 1)
}

/// Interrupts of a device, as ranges: `24-27, 30`. Sources: `msi_irqs/` and `irq` of the PCI device.
fn irqs(device: &Path) -> Option<String> {
    let numbers = |folder: PathBuf| {
        let several: Vec<u32> =
            list(&folder.join("msi_irqs")).iter().filter_map(|name| name.parse().ok()).collect();
        let one =
            || std::fs::read_to_string(folder.join("irq")).ok()?.trim().parse().ok().filter(|irq| *irq > 0);
        if several.is_empty() { one().map(|irq| vec![irq]) } else { Some(several) }
    };
    with_those_above(device).find_map(numbers).map(|irqs| ranges(irqs).join(", "))
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

    #[test]
    fn a_device_below_a_pci_device_has_its_slot_and_interrupts() {
        let tree = tempfile::tempdir().expect("a folder");
        let pci = tree.path().join("0000:03:00.1");
        let device = pci.join("virtio2");
        std::fs::create_dir_all(pci.join("msi_irqs")).expect("creates");
        std::fs::create_dir_all(&device).expect("creates");
        for irq in ["27", "24", "25", "31", "x"] {
            std::fs::write(pci.join("msi_irqs").join(irq), "msix").expect("writes");
        }
        assert_eq!(slot(&device).as_deref(), Some("0000:03:00.1"));
        assert_eq!(irqs(&device).as_deref(), Some("24-25, 27, 31"));
        std::fs::remove_dir_all(pci.join("msi_irqs")).expect("removes");
        std::fs::write(pci.join("irq"), "11\n").expect("writes");
        assert_eq!(irqs(&device).as_deref(), Some("11"));
        for name in ["virtio2", "0000:03:00", "0000.03:00:1", "pci0000:00", "0000:03:00.1.2"] {
            assert!(!is_slot(name), "{name}");
        }
        assert_eq!(slot(&tree.path().join("none")), None);
    }
}
