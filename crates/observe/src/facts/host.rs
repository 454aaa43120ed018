//! Facts about the kernel, the memory, the machine, and its limits.

use super::sheet::{Answer, Sheet, chosen};
use crate::source::limits::{self, Limit};
use crate::source::named::Picker;
use std::path::Path;
use sysdyno_record::facts::Fact;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    read_texts(sheet);
    read_emulator(sheet);
    read_kernel_command(sheet);
    read_memory(sheet);
    read_load(sheet);
    read_limits(sheet);
    read_distribution(sheet);
    let pressure = sheet.roots.in_proc("pressure/cpu");
    let answer = sheet.read(&pressure).map(|_| "yes".to_owned());
    sheet.text("kernel.pressure", answer);
    let schedstat = sheet.roots.in_proc("self/schedstat");
    let answer = sheet.read(&schedstat).map(|_| "yes".to_owned());
    sheet.text("kernel.run_delay", answer);
    let controllers = sheet.roots.in_sys("fs/cgroup/cgroup.controllers");
    let answer = sheet.read(&controllers).or_else(|_| version_1_controllers(sheet));
    sheet.text("cgroup.controllers", answer);
    let version = cgroup_version(&sheet.roots.in_sys("fs/cgroup"));
    sheet
        .text("cgroup.version", version.map(str::to_owned).ok_or("no control groups are mounted".to_owned()));
}

fn read_texts(sheet: &mut Sheet<'_>) {
    let texts = [
        ("kernel.release", sheet.roots.in_proc("sys/kernel/osrelease")),
        ("kernel.version", sheet.roots.in_proc("sys/kernel/version")),
        ("kernel.architecture", sheet.roots.in_proc("sys/kernel/arch")),
        ("kernel.boot_id", sheet.roots.in_proc("sys/kernel/random/boot_id")),
        ("clock.source", sheet.roots.in_sys("devices/system/clocksource/clocksource0/current_clocksource")),
        (
            "clock.sources",
            sheet.roots.in_sys("devices/system/clocksource/clocksource0/available_clocksource"),
        ),
        ("machine.vendor", sheet.roots.in_sys("class/dmi/id/sys_vendor")),
        ("machine.product", sheet.roots.in_sys("class/dmi/id/product_name")),
        ("machine.hypervisor", sheet.roots.in_sys("hypervisor/type")),
    ];
    for (name, path) in texts {
        let answer = sheet.read(&path);
        sheet.text(name, answer);
    }
    let choices = [
        ("memory.huge_pages", "kernel/mm/transparent_hugepage/enabled"),
        ("memory.huge_pages_defrag", "kernel/mm/transparent_hugepage/defrag"),
        ("memory.huge_pages_shared", "kernel/mm/transparent_hugepage/shmem_enabled"),
        ("memory.huge_pages_khugepaged", "kernel/mm/transparent_hugepage/khugepaged/defrag"),
        ("memory.same_page_merging", "kernel/mm/ksm/run"),
        ("memory.compressed_swap", "module/zswap/parameters/enabled"),
        ("kernel.scheduler_preempt", "kernel/debug/sched/preempt"),
    ];
    for (name, file) in choices {
        let path = sheet.roots.in_sys(file);
        let answer = sheet.read(&path).map(|text| chosen(&text));
        sheet.text(name, answer);
    }
}

/// Whether this program is emulated: it is for another kind of machine than the kernel. An emulator such as qemu-user passes
/// the kernel's own name of its machine on, whatever `uname` answers.
fn read_emulator(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("sys/kernel/arch");
    let answer = sheet.read(&path).map(|kernel| emulator(std::env::consts::ARCH, &kernel));
    sheet.text("machine.emulator", answer);
}

fn emulator(program: &str, kernel: &str) -> String {
    // A 64-bit kernel runs 32-bit programs without an emulator.
    let families: [&[&str]; 2] = [
        &["x86_64", "x86", "i386", "i486", "i586", "i686"],
        &["aarch64", "arm64", "arm", "armv7l", "armv8l"],
    ];
    let is_native = program == kernel
        || families.iter().any(|family| family.contains(&program) && family.contains(&kernel));
    if is_native { "none".to_owned() } else { format!("{program} on {kernel}") }
}

/// Parameters whose values are kept, since they change how fast a host is. The values of all others may be addresses,
/// names or secrets, and are left out.
const KEPT_PARAMETERS: &[&str] = &[
    "amd_iommu",
    "amd_pstate",
    "cgroup_disable",
    "cgroup_enable",
    "cgroup_no_v1",
    "clocksource",
    "cpuidle.governor",
    "cpuidle.off",
    "cpuidle_haltpoll.force",
    "default_hugepagesz",
    "elevator",
    "haltpoll.guest_halt_poll_ns",
    "hugepages",
    "hugepagesz",
    "idle",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "l1tf",
    "maxcpus",
    "mds",
    "mem",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nosmt",
    "nr_cpus",
    "numa_balancing",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "psi",
    "pti",
    "rcu_nocbs",
    "skew_tick",
    "spec_store_bypass_disable",
    "spectre_v2",
    "swapaccount",
    "swiotlb",
    "systemd.unified_cgroup_hierarchy",
    "transparent_hugepage",
    "tsc",
    "tsx",
];

/// What stands for a value that is not kept.
const REDACTED: &str = "«redacted»";

fn read_kernel_command(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("cmdline");
    let answer = sheet.read(&path).map(|text| redact_command(&text));
    sheet.text("kernel.cmdline", answer);
}

/// The kernel's command line without what may name a machine or be secret; what follows `--` is the init's own.
fn redact_command(text: &str) -> String {
    let words = text.split_whitespace().take_while(|word| *word != "--");
    let kept = words.map(|word| match word.split_once('=') {
        Some((name, _)) if KEPT_PARAMETERS.contains(&name) => word.to_owned(),
        Some((name, _)) => format!("{name}={REDACTED}"),
        None => word.to_owned(),
    });
    kept.collect::<Vec<_>>().join(" ")
}

fn read_memory(sheet: &mut Sheet<'_>) {
    const FIELDS: &[&str] = &["MemTotal", "SwapTotal", "Hugepagesize", "HugePages_Total"];
    let path = sheet.roots.in_proc("meminfo");
    let mut picker = Picker::new(FIELDS);
    let parsed =
        sheet.read(&path).and_then(|text| picker.parse(text.as_bytes()).map_err(|error| error.to_string()));
    let value = |index: usize, factor: f64| -> Answer<f64> {
        parsed.clone()?;
        let value = picker.values()[index].ok_or("'/proc/meminfo' does not have it".to_owned())?;
        Ok(value as f64 * factor)
    };
    sheet.number("memory.total_bytes", value(0, 1024.0));
    sheet.number("memory.swap_total_bytes", value(1, 1024.0));
    sheet.number("memory.huge_page_bytes", value(2, 1024.0));
    sheet.number("memory.huge_pages_reserved_count", value(3, 1.0));
    sheet.number("memory.page_bytes", Ok(rustix::param::page_size() as f64));
}

fn read_load(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("uptime");
    let answer = sheet.read(&path).and_then(|text| number_in(&text, 0));
    sheet.number("kernel.uptime_seconds", answer);
    let path = sheet.roots.in_proc("loadavg");
    let answer = sheet.read(&path);
    for (index, name) in ["load.1min_tasks", "load.5min_tasks", "load.15min_tasks"].into_iter().enumerate() {
        sheet.number(name, answer.clone().and_then(|text| number_in(&text, index)));
    }
}

fn number_in(text: &str, index: usize) -> Answer<f64> {
    let field = text.split_whitespace().nth(index).and_then(|field| field.parse().ok());
    field.ok_or_else(|| "it is not a number".to_owned())
}

/// Limits of this process, which a server started from the same shell would have too.
fn read_limits(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("self/limits");
    let fact = |limit: Limit| match limit {
        Limit::At(count) => Fact::Number(count as f64),
        Limit::Unlimited => Fact::Text("unlimited".to_owned()),
    };
    let mut found = Vec::new();
    let read = sheet.read(&path).and_then(|text| {
        let each = |limit: limits::Named<'_>| {
            let unit = limit.unit.filter(|unit| ["bytes", "seconds", "us"].contains(unit)).unwrap_or("count");
            let name = limit.name.replace(' ', "_");
            found.push((format!("limits.{name}_soft_{unit}"), fact(limit.pair.soft)));
            found.push((format!("limits.{name}_hard_{unit}"), fact(limit.pair.hard)));
        };
        limits::parse(text.as_bytes(), each).map_err(|error| error.to_string())
    });
    if let Err(reason) = read {
        found = ["soft", "hard"]
            .map(|kind| (format!("limits.open_files_{kind}_count"), Fact::Unavailable(reason.clone())))
            .into();
    }
    found.into_iter().for_each(|(name, limit)| sheet.insert(name, limit));
}

fn read_distribution(sheet: &mut Sheet<'_>) {
    let answer = if sheet.roots.is_host() {
        sheet.read(Path::new("/etc/os-release"))
    } else {
        Err("a recorded tree does not have it".to_owned())
    };
    let name =
        answer.and_then(|text| distribution(&text).ok_or("'/etc/os-release' does not have it".to_owned()));
    sheet.text("distribution.name", name);
}

fn distribution(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// Controllers of version 1 that are switched on, by `/proc/cgroups`.
fn version_1_controllers(sheet: &mut Sheet<'_>) -> Answer<String> {
    let path = sheet.roots.in_proc("cgroups");
    let text = sheet.read(&path)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && line.ends_with("\t1"));
    Ok(lines.filter_map(|line| line.split('\t').next()).collect::<Vec<_>>().join(" "))
}

fn cgroup_version(folder: &Path) -> Option<&'static str> {
    let has = |path: &str| folder.join(path).exists();
    match (has("cgroup.controllers"), has("unified/cgroup.controllers"), has("cpu") || has("cpu,cpuacct")) {
        (true, _, _) => Some("2"),
        (_, true, true) => Some("hybrid"),
        (_, _, true) => Some("1"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_may_name_a_machine_are_left_out() {
        let text = "BOOT_IMAGE=/vmlinuz root=UUID=12 ip=10.0.0.2 quiet psi=1 isolcpus=2-3 -- --token abc";
        let expected = "BOOT_IMAGE=«redacted» root=«redacted» ip=«redacted» quiet psi=1 isolcpus=2-3";
        assert_eq!(redact_command(text), expected);
    }

    #[test]
    fn a_program_for_another_kind_of_machine_is_emulated() {
        assert_eq!(emulator("aarch64", "x86_64"), "aarch64 on x86_64");
        assert_eq!(emulator("x86_64", "x86_64"), "none");
        assert_eq!([emulator("arm", "aarch64"), emulator("x86", "x86_64")], ["none", "none"]);
    }

    #[test]
    fn the_distribution_is_named() {
        assert_eq!(distribution("ID=debian\nPRETTY_NAME=\"Debian 12\"\n").as_deref(), Some("Debian 12"));
        assert_eq!(distribution("ID=debian\n"), None);
    }
}
