//! Devices: huge pages, disks, processors, interrupts, network queues.
//!
//! A disk is identified by its number and sequence, an interrupt by its purpose, an interface by its index and address: if a
//! name has meanwhile passed to another device, nothing is written to it.

use super::{INT_MAX, LONG_MAX, Risk, Scope, Tunable, int};
use crate::setting::{
    DISK, DeviceFiles, DiskLimitKind, INTERFACE, READ_BPS, READ_IOPS, WRITE_BPS, WRITE_IOPS,
};
use crate::value::ValueKind;

const THP: &str = "admin-guide/mm/transhuge.rst";
const BLOCK: &str = "ABI/stable/sysfs-block";
const NET: &str = "ABI/testing/sysfs-class-net";
const CPUFREQ: &str = "admin-guide/pm/cpufreq.rst";
const SCALING: &str = "networking/scaling.rst";

const fn file(id: &'static str, kind: ValueKind, unit: &'static str, does: &'static str) -> Tunable {
    Tunable::new(id, kind, unit, does)
}

const fn thp(path: &'static str) -> DeviceFiles {
    DeviceFiles { path, witnesses: &[] }
}

const fn disk(path: &'static str) -> DeviceFiles {
    DeviceFiles { path, witnesses: DISK }
}

const fn interface(path: &'static str) -> DeviceFiles {
    DeviceFiles { path, witnesses: INTERFACE }
}

const fn cpufreq(path: &'static str) -> DeviceFiles {
    DeviceFiles {
        path,
        witnesses: &[
            "/sys/devices/system/cpu/cpufreq/policy*/related_cpus",
            "/sys/devices/system/cpu/cpufreq/policy*/scaling_driver",
        ],
    }
}

const IRQ: DeviceFiles = DeviceFiles {
    path: "/proc/irq/*/smp_affinity_list",
    witnesses: &["/sys/kernel/irq/*/actions", "/sys/kernel/irq/*/hwirq", "/sys/kernel/irq/*/chip_name"],
};

/// A limit that control groups set on a disk.
const fn disk_limit(
    id: &'static str,
    family: &'static DiskLimitKind,
    unit: &'static str,
    does: &'static str,
) -> Tunable {
    Tunable::new(id, int(1, LONG_MAX), unit, does)
        .of(Scope::Device, "admin-guide/cgroup-v2.rst")
        .risks(Risk::Medium)
        .at(family)
}

/// Settings of devices.
pub const TABLE: &[Tunable] = &[
    file("thp.enabled", ValueKind::Bracketed { except: "never" }, "mode",
        "Where memory is backed by huge pages: everywhere (always), or where a program asks for them (madvise). 'never' starts or stops khugepaged, which changes vm.min_free_kbytes, and is left alone.")
        .of(Scope::Host, THP).risks(Risk::Medium).at(&thp("/sys/kernel/mm/transparent_hugepage/enabled")),
    file("thp.defrag", ValueKind::Bracketed { except: "" }, "mode",
        "Whether a page fault that wants a huge page may wait for memory to be compacted. Waiting shows as stalls in the latency of programs that allocate much.")
        .of(Scope::Host, THP).at(&thp("/sys/kernel/mm/transparent_hugepage/defrag")),
    file("thp.khugepaged.pages_to_scan", int(1, INT_MAX), "pages",
        "Pages that khugepaged looks at in one go. More of them make huge pages sooner, and cost CPU.")
        .of(Scope::Host, THP).at(&thp("/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan")),
    file("thp.khugepaged.scan_sleep_millisecs", int(0, INT_MAX), "milliseconds",
        "How long khugepaged sleeps between two goes. Shorter makes huge pages sooner, and costs CPU.")
        .of(Scope::Host, THP).at(&thp("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs")),
    file("block.*.read_ahead_kb", ValueKind::Stepped { step: 4, max: 1_048_576 }, "KiB",
        "How much is read ahead of a sequential reader. More helps streams on slow or distant disks; random readers only lose memory and bandwidth to it.")
        .of(Scope::Device, BLOCK).at(&disk("/sys/block/*/queue/read_ahead_kb")),
    file("block.*.scheduler", ValueKind::Bracketed { except: "" }, "scheduler",
        "Who decides in which order requests go to the disk. none suits quick disks and virtual ones, mq-deadline keeps reads from starving, bfq and kyber share by process or by latency at the cost of CPU.")
        .of(Scope::Device, "block/switching-sched.rst").risks(Risk::Medium).at(&disk("/sys/block/*/queue/scheduler"))
        .resets(&["/sys/block/*/queue/nr_requests", "/sys/block/*/queue/wbt_lat_usec", "/sys/block/*/queue/async_depth",
            "/sys/block/*/queue/iosched/"]),
    file("block.*.nr_requests", int(4, 65_536), "requests",
        "Requests that may wait in each queue of the disk. More gives the scheduler and the disk more to choose from; fewer keep latency short.")
        .of(Scope::Device, BLOCK).at(&disk("/sys/block/*/queue/nr_requests")),
    file("block.*.rq_affinity", int(0, 2), "mode",
        "Where a request is completed: wherever (0), in the group of CPUs that sent it (1), on the very CPU (2). The last costs interrupts between CPUs, and keeps caches warm.")
        .of(Scope::Device, BLOCK).at(&disk("/sys/block/*/queue/rq_affinity")),
    file("block.*.nomerges", int(0, 2), "mode",
        "How hard the kernel tries to merge requests: fully (0), simply (1), not at all (2). Random load on quick disks saves CPU without.")
        .of(Scope::Device, BLOCK).at(&disk("/sys/block/*/queue/nomerges")),
    file("block.*.add_random", int(0, 1), "switch",
        "Whether completions of the disk add to the kernel's randomness. Quick disks save a little without.")
        .of(Scope::Device, BLOCK).at(&disk("/sys/block/*/queue/add_random")),
    disk_limit("block.*.read_iops", &READ_IOPS, "requests per second",
        "Most reads of the disk in a second, in every control group that has such a limit for it. One that is not there is not made."),
    disk_limit("block.*.write_iops", &WRITE_IOPS, "requests per second",
        "Most writes to the disk in a second, in every control group that has such a limit for it. One that is not there is not made."),
    disk_limit("block.*.read_bps", &READ_BPS, "bytes",
        "Most bytes that are read from the disk in a second, in every control group that has such a limit for it. One that is not there is not made."),
    disk_limit("block.*.write_bps", &WRITE_BPS, "bytes",
        "Most bytes that are written to the disk in a second, in every control group that has such a limit for it. One that is not there is not made."),
    file("cpufreq.policy*.governor", ValueKind::Listed { file: "/sys/devices/system/cpu/cpufreq/policy*/scaling_available_governors" },
        "governor",
        "Who chooses the frequency of these CPUs: highest always (performance), lowest (powersave without a vendor driver), or by load (schedutil, ondemand). Measured times depend on it more than on most settings; machines whose hypervisor or firmware decides have none.")
        .of(Scope::Device, CPUFREQ).risks(Risk::Medium).at(&cpufreq("/sys/devices/system/cpu/cpufreq/policy*/scaling_governor"))
        .resets(&["/sys/devices/system/cpu/cpufreq/policy*/scaling_setspeed",
            "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
            "/sys/devices/system/cpu/cpufreq/policy*/schedutil/", "/sys/devices/system/cpu/cpufreq/policy*/ondemand/",
            "/sys/devices/system/cpu/cpufreq/policy*/conservative/", "/sys/devices/system/cpu/cpufreq/ondemand/",
            "/sys/devices/system/cpu/cpufreq/conservative/"]),
    file("cpufreq.policy*.energy_preference",
        ValueKind::Listed { file: "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_available_preferences" }, "preference",
        "Whether the processor itself leans to speed or to saving energy where it chooses its frequency. It is there with intel_pstate and amd-pstate in active mode; under the governor performance it is fixed.")
        .of(Scope::Device, "admin-guide/pm/intel_pstate.rst").risks(Risk::Medium)
        .at(&cpufreq("/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference")),
    file("irq.*.cpus", ValueKind::CpuList, "CPUs",
        "CPUs that may take this interrupt, and with it the softirq work that follows. All receive work on one CPU limits a server long before its other CPUs are busy; irqbalance may move it again.")
        .of(Scope::Device, "core-api/irq/irq-affinity.rst").risks(Risk::Medium).at(&IRQ),
    file("netdev.*.rx-*.rps_cpus", ValueKind::CpuMask, "CPUs",
        "CPUs to which packets of this receive queue are spread by a hash of their flow. It takes the place of queues that the device does not have, at the cost of an interrupt between CPUs.")
        .of(Scope::NetworkDevice, SCALING).at(&interface("/sys/class/net/*/queues/rx-*/rps_cpus")),
    file("netdev.*.rx-*.rps_flow_cnt", ValueKind::PowerOfTwo { min: 1, max: 1 << 29, has_zero: true }, "flows",
        "Flows of this receive queue that are steered to the CPU that consumes them. It works when net.core.rps_sock_flow_entries is not 0 either.")
        .of(Scope::NetworkDevice, SCALING).at(&interface("/sys/class/net/*/queues/rx-*/rps_flow_cnt")),
    file("netdev.*.tx-*.xps_cpus", ValueKind::CpuMask, "CPUs",
        "CPUs that send by this queue. It keeps a queue's lock and completions on few CPUs; devices with one queue have no such setting.")
        .of(Scope::NetworkDevice, SCALING).at(&interface("/sys/class/net/*/queues/tx-*/xps_cpus")),
    file("netdev.*.tx_queue_len", int(0, 1_000_000), "packets",
        "Packets that may wait in the device's queueing discipline, where that asks for it. Longer queues lose less and delay more.")
        .of(Scope::NetworkDevice, NET).at(&interface("/sys/class/net/*/tx_queue_len")),
    file("netdev.*.gro_flush_timeout", int(0, 1_000_000_000), "nanoseconds",
        "How long received packets may wait to be merged before they are handed on. Longer merges more, and adds to latency; 0 waits not at all.")
        .of(Scope::NetworkDevice, NET).at(&interface("/sys/class/net/*/gro_flush_timeout")),
    file("netdev.*.napi_defer_hard_irqs", int(0, INT_MAX), "rounds",
        "Empty rounds of polling before the device's interrupt is turned on again. With gro_flush_timeout it saves interrupts on busy devices.")
        .of(Scope::NetworkDevice, NET).at(&interface("/sys/class/net/*/napi_defer_hard_irqs")),
];
