//! Rules of the processor, memory, kernel and limits.

use super::{FactRule, rules};

/// The rules.
pub(super) const RULES: &[FactRule] = rules! {
    "D60" ["cpu.model", "cpu.vendor"], 9 5 9,
        "model of the processor",
        "models differ in what one core does in a second, in caches and in the cost of a system call",
        "proc_cpuinfo(5)";
    "D61" ["cpu.online_count", "cpu.cores_count", "cpu.sockets_count", "cpu.smt"], 9 5 9,
        "how many CPUs work, and how many of them share a core",
        "two threads of a core do less than two cores",
        "Documentation/admin-guide/cputopology.rst";
    "D62" ["limits.open_files_*", "sysctl.fs.file-max", "sysctl.fs.nr_open"], 9 4 6,
        "how many files and sockets may be open",
        "at the limit accept() fails and connections wait or are refused",
        "getrlimit(2); Documentation/admin-guide/sysctl/fs.rst";
    "D63" ["cpu.frequency_*", "cpu.intel_pstate*", "cpu.amd_pstate*"], 8 4 7,
        "how the processor's frequency is chosen",
        "a governor that saves power answers a burst late, and a lower limit is a slower processor",
        "Documentation/admin-guide/pm/cpufreq.rst";
    "D64" ["cpu.vulnerability.*"], 8 6 6,
        "mitigations of the processor's defects",
        "some make each system call, interrupt or context switch more expensive",
        "Documentation/admin-guide/hw-vuln/";
    "D65" ["kernel.cmdline"], 8 6 7,
        "parameters that the kernel was started with",
        "mitigations, isolated CPUs, idle states and huge pages are chosen there",
        "Documentation/admin-guide/kernel-parameters.txt";
    "D66" ["kernel.release", "kernel.version", "kernel.architecture"], 7 7 6,
        "version of the kernel",
        "schedulers, protocols, file systems and defaults change between versions",
        "Documentation/process/2.Process.rst";
    "D67" ["cpu.is_virtual", "machine.*"], 7 6 7,
        "whether this is a virtual machine, and whose",
        "a hypervisor takes CPU time, and makes interrupts, timers and disks more expensive",
        "Documentation/virt/";
    "D68" ["clock.*"], 7 3 5,
        "where the kernel gets the time from",
        "with a source that user space cannot read, each look at the clock is a system call or worse",
        "Documentation/virt/kvm/x86/timekeeping.rst; vdso(7)";
    "D69" ["memory.total_bytes", "numa.*.memory_bytes"], 6 7 10,
        "size of the memory",
        "what does not fit is read from the disk again, or swapped out",
        "proc_meminfo(5)";
    "D70" ["cpu.numa_nodes_count", "numa.*", "sysctl.kernel.numa_balancing*", "sysctl.vm.zone_reclaim_mode", "sysctl.vm.numa_*"], 6 3 9,
        "nodes of memory and CPUs, and what keeps them apart",
        "memory of a far node takes longer; reclaim within a node can stall it while others have memory left",
        "Documentation/mm/numa.rst; Documentation/admin-guide/sysctl/vm.rst";
    "D71" ["memory.huge_page*", "sysctl.vm.nr_hugepages*", "sysctl.vm.nr_overcommit_hugepages", "sysctl.vm.compact*"], 5 2 9,
        "whether memory comes in huge pages",
        "they save page faults and look-ups of addresses; making them can stall whoever asks",
        "Documentation/admin-guide/mm/transhuge.rst";
    "D72" ["sysctl.vm.swappiness", "memory.swap_total_bytes", "memory.compressed_swap", "sysctl.vm.page-cluster"], 3 3 8,
        "what is swapped out, and where to",
        "a page that was swapped out is waited for when it is used",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D73" ["sysctl.vm.overcommit*", "sysctl.vm.max_map_count", "sysctl.vm.min_free_kbytes", "sysctl.vm.watermark*", "memory.*"], 3 3 7,
        "how memory is promised and kept free",
        "below the watermarks whoever asks for memory has to free some first; beyond the promise it is refused",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D74" ["cpu.cache_*"], 6 3 8,
        "caches of the processor",
        "what does not fit into them is fetched from memory",
        "Documentation/ABI/testing/sysfs-devices-system-cpu";
    "D75" ["cpu.isolated", "cpu.tick_stopped", "cpu.idle_*", "cpu.microcode"], 5 2 5,
        "isolated CPUs, idle states and microcode",
        "an isolated CPU does no ordinary work; a deep idle state takes time to leave",
        "Documentation/admin-guide/pm/cpuidle.rst";
    "D76" ["limits.*", "sysctl.kernel.threads-max", "sysctl.kernel.pid_max", "sysctl.fs.epoll.*"], 5 3 5,
        "limits of a process and of the host",
        "beyond them calls fail",
        "getrlimit(2); Documentation/admin-guide/sysctl/kernel.rst";
    "D77" ["cgroup.*"], 5 3 5,
        "version and controllers of control groups",
        "what is limited and how it is accounted depends on them",
        "Documentation/admin-guide/cgroup-v2.rst";
    "D78" ["sysctl.kernel.sched_*", "kernel.scheduler_preempt", "sysctl.kernel.timer_migration", "sysctl.kernel.nmi_watchdog", "sysctl.kernel.watchdog*"], 5 3 4,
        "a setting of the scheduler",
        "it changes who runs when more is to be done than there are CPUs",
        "Documentation/admin-guide/sysctl/kernel.rst";
    "D79" ["distribution.name"], 4 4 4,
        "distribution",
        "its libraries, defaults and services are others",
        "os-release(5)";
    "D80" ["cpu.*"], 4 2 4,
        "a property of the processor",
        "it may change what one core does in a second",
        "Documentation/ABI/testing/sysfs-devices-system-cpu";
    "D81" ["sysctl.vm.*"], 2 3 4,
        "a setting of the memory",
        "some decide what is kept in memory and for how long",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D82" ["sysctl.kernel.*", "kernel.*"], 2 2 2,
        "a setting or property of the kernel",
        "most have no effect on a server",
        "Documentation/admin-guide/sysctl/kernel.rst";
    "D83" ["sysctl.fs.*"], 1 2 1,
        "a setting of the file layer",
        "some are limits beyond which calls fail",
        "Documentation/admin-guide/sysctl/fs.rst";
};
