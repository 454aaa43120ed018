//! Rules for the processor, memory, kernel, and limits.

use super::{FactRule, rules};

/// The rules.
pub(super) const RULES: &[FactRule] = rules! {
    "D59" ["machine.emulator"], 10 10 10,
        "emulator that sysdyno ran under, such as qemu-user",
        "it translates every instruction, so its numbers are those of the emulator and not of a machine",
        "qemu-user(1)";
    "D60" ["cpu.model", "cpu.vendor"], 9 5 9,
        "CPU model",
        "models differ in speed per core, in caches, and in the cost of system calls",
        "proc_cpuinfo(5)";
    "D61" ["cpu.allowed_count", "cpu.quota_ratio", "cpu.online_count", "cpu.cores_count", "cpu.sockets_count", "cpu.smt"], 9 5 9,
        "number of CPUs, how many of them may be used, and how many share a core",
        "two hardware threads do less than two cores, and a quota or a CPU set takes some of them away",
        "Documentation/admin-guide/cputopology.rst";
    "D62" ["limits.open_files_*", "sysctl.fs.file-max", "sysctl.fs.nr_open"], 9 4 6,
        "limits of open files and sockets",
        "at the limit, accept() fails, and connections wait or are refused",
        "getrlimit(2); Documentation/admin-guide/sysctl/fs.rst";
    "D63" ["cpu.frequency_*", "cpu.intel_pstate*", "cpu.amd_pstate*"], 8 4 7,
        "CPU frequency scaling",
        "a power-saving governor reacts late to bursts, and a lower maximum makes a slower CPU",
        "Documentation/admin-guide/pm/cpufreq.rst";
    "D64" ["cpu.vulnerability.*"], 8 6 6,
        "mitigations of CPU vulnerabilities",
        "some make every system call, interrupt, or context switch more expensive",
        "Documentation/admin-guide/hw-vuln/";
    "D65" ["kernel.cmdline"], 8 6 7,
        "kernel command line",
        "it sets mitigations, isolated CPUs, idle states, and huge pages",
        "Documentation/admin-guide/kernel-parameters.txt";
    "D66" ["kernel.release", "kernel.version", "kernel.architecture"], 7 7 6,
        "kernel version",
        "schedulers, protocols, file systems, and defaults change between versions",
        "Documentation/process/2.Process.rst";
    "D67" ["cpu.is_virtual", "machine.*"], 7 6 7,
        "virtual machine, and its hypervisor",
        "a hypervisor steals CPU time and makes interrupts, timers, and disks more expensive",
        "Documentation/virt/";
    "D68" ["clock.*"], 7 3 5,
        "clock source of the kernel",
        "if user space cannot read it directly, every clock read is a system call or worse",
        "Documentation/virt/kvm/x86/timekeeping.rst; vdso(7)";
    "D69" ["memory.total_bytes", "numa.*.memory_bytes"], 6 7 10,
        "memory size",
        "what does not fit is read from disk again or swapped out",
        "proc_meminfo(5)";
    "D70" ["cpu.numa_nodes_count", "numa.*", "sysctl.kernel.numa_balancing*", "sysctl.vm.zone_reclaim_mode", "sysctl.vm.numa_*"], 6 3 9,
        "NUMA nodes, and NUMA settings",
        "memory on a remote node is slower; reclaim within a node can stall it while other nodes have free \
         memory",
        "Documentation/mm/numa.rst; Documentation/admin-guide/sysctl/vm.rst";
    "D71" ["memory.huge_page*", "sysctl.vm.nr_hugepages*", "sysctl.vm.nr_overcommit_hugepages", "sysctl.vm.compact*"], 5 2 9,
        "huge pages",
        "they save page faults and TLB misses; allocating them can stall",
        "Documentation/admin-guide/mm/transhuge.rst";
    "D72" ["sysctl.vm.swappiness", "memory.swap_total_bytes", "memory.compressed_swap", "sysctl.vm.page-cluster"], 3 3 8,
        "swap, and what is swapped out",
        "using a swapped-out page means waiting for the disk",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D73" ["sysctl.vm.overcommit*", "sysctl.vm.max_map_count", "sysctl.vm.min_free_kbytes", "sysctl.vm.watermark*", "memory.*"], 3 3 7,
        "overcommit and free-memory watermarks",
        "below the watermarks, allocations have to free memory first; beyond the overcommit limit, they fail",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D74" ["cpu.cache_*"], 6 3 8,
        "CPU caches",
        "what does not fit is fetched from memory",
        "Documentation/ABI/testing/sysfs-devices-system-cpu";
    "D75" ["cpu.isolated", "cpu.tick_stopped", "cpu.idle_*", "cpu.microcode"], 5 2 5,
        "isolated CPUs, idle states, and microcode",
        "an isolated CPU runs no ordinary work; a deep idle state takes time to leave",
        "Documentation/admin-guide/pm/cpuidle.rst";
    "D76" ["limits.*", "sysctl.kernel.threads-max", "sysctl.kernel.pid_max", "sysctl.fs.epoll.*"], 5 3 5,
        "limits of processes and of the host",
        "beyond them, calls fail",
        "getrlimit(2); Documentation/admin-guide/sysctl/kernel.rst";
    "D77" ["cgroup.*"], 5 3 5,
        "cgroup version and controllers",
        "they decide what is limited and how it is accounted",
        "Documentation/admin-guide/cgroup-v2.rst";
    "D78" ["sysctl.kernel.sched_*", "kernel.scheduler_preempt", "sysctl.kernel.timer_migration", "sysctl.kernel.nmi_watchdog", "sysctl.kernel.watchdog*"], 5 3 4,
        "a scheduler setting",
        "it changes who runs when there are more runnable tasks than CPUs",
        "Documentation/admin-guide/sysctl/kernel.rst";
    "D79" ["distribution.name"], 4 4 4,
        "distribution",
        "libraries, defaults, and services differ",
        "os-release(5)";
    "D80" ["cpu.*"], 4 2 4,
        "a CPU property",
        "it may change the speed of a core",
        "Documentation/ABI/testing/sysfs-devices-system-cpu";
    "D81" ["sysctl.vm.*"], 2 3 4,
        "a memory setting",
        "some decide what stays in memory and for how long",
        "Documentation/admin-guide/sysctl/vm.rst";
    "D82" ["sysctl.kernel.*", "kernel.*"], 2 2 2,
        "a kernel setting or property",
        "most do not affect a server",
        "Documentation/admin-guide/sysctl/kernel.rst";
    "D83" ["sysctl.fs.*"], 1 2 1,
        "a file system layer setting",
        "some are limits beyond which calls fail",
        "Documentation/admin-guide/sysctl/fs.rst";
};
