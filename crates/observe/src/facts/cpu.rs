//! Facts of the processor.

use super::sheet::{Answer, Sheet, list};
use crate::collect::own_quota;
use crate::source::cpu_list;
use std::collections::BTreeSet;

/// Where the CPUs are below `/sys`.
const CPUS: &str = "devices/system/cpu";
/// At most this many nodes are listed.
const MAX_NODES: usize = 64;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    read_model(sheet);
    for (name, file) in [("cpu.online_count", "online"), ("cpu.possible_count", "possible")] {
        let path = sheet.roots.in_sys(CPUS).join(file);
        let answer = sheet.read(&path).and_then(|text| count_list(&text));
        sheet.number(name, answer.map(|count| count as f64));
    }
    read_share(sheet);
    read_topology(sheet);
    read_caches(sheet);
    let texts = [
        ("cpu.smt", "smt/control"),
        ("cpu.isolated", "isolated"),
        ("cpu.frequency_governor", "cpu0/cpufreq/scaling_governor"),
        ("cpu.frequency_driver", "cpu0/cpufreq/scaling_driver"),
        ("cpu.frequency_preference", "cpu0/cpufreq/energy_performance_preference"),
        ("cpu.frequency_boost", "cpufreq/boost"),
        ("cpu.intel_pstate", "intel_pstate/status"),
        ("cpu.intel_pstate_no_turbo", "intel_pstate/no_turbo"),
        ("cpu.amd_pstate", "amd_pstate/status"),
        ("cpu.tick_stopped", "nohz_full"),
        ("cpu.idle_driver", "cpuidle/current_driver"),
        ("cpu.idle_governor", "cpuidle/current_governor"),
    ];
    for (name, file) in texts {
        let path = sheet.roots.in_sys(CPUS).join(file);
        let answer = sheet.read(&path);
        sheet.text(name, answer);
    }
    let frequencies = [
        ("cpu.frequency_max_khz", "cpuinfo_max_freq"),
        ("cpu.frequency_min_khz", "cpuinfo_min_freq"),
        ("cpu.frequency_allowed_max_khz", "scaling_max_freq"),
        ("cpu.frequency_allowed_min_khz", "scaling_min_freq"),
    ];
    for (name, file) in frequencies {
        let path = sheet.roots.in_sys(CPUS).join("cpu0/cpufreq").join(file);
        let answer = sheet.read_count(&path);
        sheet.number(name, answer);
    }
    read_nominal_frequency(sheet);
    read_nodes(sheet);
    let folder = sheet.roots.in_sys(CPUS).join("vulnerabilities");
    for name in list(&folder) {
        let answer = sheet.read(&folder.join(&name));
        sheet.text(format!("cpu.vulnerability.{name}"), answer);
    }
}

/// Model and virtualisation, from `/proc/cpuinfo`, whose fields differ between architectures.
fn read_model(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("cpuinfo");
    let answer = sheet.read(&path);
    let field = |names: &[&str]| -> Answer<String> {
        let text = answer.as_ref().map_err(Clone::clone)?;
        let found = text.lines().filter_map(|line| line.split_once(':'));
        let mut found = found.filter(|(name, _)| names.contains(&name.trim()));
        found
            .next()
            .map(|(_, value)| value.trim().to_owned())
            .ok_or("'/proc/cpuinfo' does not have it".to_owned())
    };
    sheet.text("cpu.model", field(&["model name", "Model", "cpu model", "CPU part", "uarch"]));
    sheet.text("cpu.vendor", field(&["vendor_id", "CPU implementer", "mvendorid"]));
    sheet.text("cpu.microcode", field(&["microcode"]));
    let is_guest =
        field(&["flags", "Features"]).map(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    sheet.text("cpu.is_virtual", is_guest.map(|is_guest| if is_guest { "yes" } else { "no" }.to_owned()));
}

/// CPUs that this process may use, which a server started from the same shell would have too.
fn read_share(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("self/status");
    let answer = sheet.read(&path).and_then(|text| {
        let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        count_list(list.ok_or("'/proc/self/status' does not have it")?.trim())
    });
    sheet.number("cpu.allowed_count", answer.map(|count| count as f64));
    sheet.number("cpu.quota_ratio", own_quota(sheet.roots));
}

/// The frequency that the CPU is sold with. Without frequency scaling, as in most virtual machines, it is the constant one of
/// `/proc/cpuinfo`.
fn read_nominal_frequency(sheet: &mut Sheet<'_>) {
    let first = sheet.roots.in_sys(CPUS).join("cpu0");
    let base = sheet.read_count(&first.join("cpufreq/base_frequency"));
    let answer = base.or_else(|_| {
        let mhz = sheet.read_count(&first.join("acpi_cppc/nominal_freq"));
        mhz.map(|mhz| mhz * 1000.0)
    });
    let is_scaled = first.join("cpufreq").exists();
    let answer = answer.or_else(|reason| {
        if is_scaled {
            return Err(reason);
        }
        let path = sheet.roots.in_proc("cpuinfo");
        constant_frequency(&sheet.read(&path)?)
    });
    sheet.number("cpu.frequency_nominal_khz", answer);
}

/// `cpu MHz : 2595.124`. Unit: kHz.
fn constant_frequency(text: &str) -> Answer<f64> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let field = fields.find(|(name, _)| name.trim() == "cpu MHz");
    let mhz = field.and_then(|(_, value)| value.trim().parse::<f64>().ok());
    mhz.filter(|mhz| *mhz > 0.0).map(|mhz| mhz * 1000.0).ok_or("the kernel does not tell it".to_owned())
}

/// Sockets and cores, counted over the CPUs that have a topology.
fn read_topology(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys(CPUS);
    let (mut sockets, mut cores) = (BTreeSet::new(), BTreeSet::new());
    for cpu in list(&folder).iter().filter(|name| is_numbered(name, "cpu")) {
        let topology = folder.join(cpu).join("topology");
        let socket = sheet.read(&topology.join("physical_package_id"));
        let core = sheet.read(&topology.join("core_id"));
        if let (Ok(socket), Ok(core)) = (socket, core) {
            sockets.insert(socket.clone());
            cores.insert((socket, core));
        }
    }
    let known =
        |count: usize| if count > 0 { Ok(count as f64) } else { Err("no CPU has a topology".to_owned()) };
    sheet.number("cpu.sockets_count", known(sockets.len()));
    sheet.number("cpu.cores_count", known(cores.len()));
}

/// Memory and CPUs of each node.
fn read_nodes(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys("devices/system/node");
    let mut nodes = list(&folder);
    nodes.retain(|name| is_numbered(name, "node"));
    let missing = || "'/sys/devices/system/node' is missing".to_owned();
    let count = if nodes.is_empty() { Err(missing()) } else { Ok(nodes.len() as f64) };
    sheet.number("cpu.numa_nodes_count", count);
    for node in nodes.iter().take(MAX_NODES) {
        for (fact, file) in [("cpus", "cpulist"), ("distances", "distance")] {
            let answer = sheet.read(&folder.join(node).join(file));
            sheet.text(format!("numa.{node}.{fact}"), answer);
        }
        let memory = sheet.read(&folder.join(node).join("meminfo")).and_then(|text| node_total(&text));
        sheet.number(format!("numa.{node}.memory_bytes"), memory);
    }
}

/// `Node 0 MemTotal:  123 kB`. Unit: bytes.
fn node_total(text: &str) -> Answer<f64> {
    let line = text.lines().find(|line| line.contains(" MemTotal:")).ok_or("'meminfo' has no total")?;
    let kibibytes: u64 = line
        .split_whitespace()
        .nth(3)
        .and_then(|field| field.parse().ok())
        .ok_or("its total is not a number")?;
    Ok(kibibytes as f64 * 1024.0)
}

/// Caches of the first CPU.
fn read_caches(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys(CPUS).join("cpu0/cache");
    for index in list(&folder).iter().filter(|name| is_numbered(name, "index")) {
        let cache = folder.join(index);
        let (Ok(level), Ok(kind)) = (sheet.read(&cache.join("level")), sheet.read(&cache.join("type")))
        else {
            continue;
        };
        let suffix = match kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let size = sheet.read(&cache.join("size")).and_then(|text| parse_size(&text));
        let shared = sheet.read(&cache.join("shared_cpu_list")).and_then(|text| count_list(&text));
        sheet.number(format!("cpu.cache_l{level}{suffix}_bytes"), size);
        sheet.number(format!("cpu.cache_l{level}{suffix}_shared_count"), shared.map(|count| count as f64));
    }
}

/// `32K`, `8192K`, `1M`. Unit: bytes.
fn parse_size(text: &str) -> Answer<f64> {
    let (digits, factor) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1024.0),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1_048_576.0)),
    };
    let number: u32 = digits.parse().map_err(|_| "its size is not a number".to_owned())?;
    Ok(f64::from(number) * factor)
}

/// How many CPUs a list such as `0-3,8` holds.
fn count_list(text: &str) -> Answer<usize> {
    cpu_list::parse(text.as_bytes()).map(|cpus| cpus.len()).map_err(|error| error.to_string())
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    let digits = name.strip_prefix(prefix);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_frequency_is_in_khz() {
        assert_eq!(constant_frequency("model\t: x\ncpu MHz\t\t: 2595.5\n"), Ok(2_595_500.0));
        assert!(
            constant_frequency("cpu MHz : 0\n").is_err() && constant_frequency("BogoMIPS : 50\n").is_err()
        );
    }

    #[test]
    fn sizes_of_caches_are_bytes() {
        assert_eq!(parse_size("32K"), Ok(32_768.0));
        assert_eq!(parse_size("1M"), Ok(1_048_576.0));
        assert!(parse_size("K").is_err());
        assert_eq!(node_total("Node 0 MemTotal:       4 kB\nNode 0 MemFree: 1 kB\n"), Ok(4096.0));
        assert!(node_total("Node 0 MemFree: 1 kB\n").is_err());
    }
}
