//! The catalogue of columns: what the collectors read of the kernel, and what the rules look at.
//!
//! A [`Quantity`] is what a column holds, whatever it is of: its name, unit, and kind, what its scope is, and where the kernel
//! tells it. Where the kernel names the columns itself (`TcpExt.*`), the catalogue has the family, and those members that a
//! rule looks at or that differ from their family. Columns are made and looked up by these constants only.
//! `docs/reference/formats/series.md` describes the same columns, which a test of `observe` compares.

use crate::series::{Column, ReadingKind};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The name of its columns; that of a family ends in `*`.
    pub name: &'static str,
    /// The unit of the values.
    pub unit: &'static str,
    /// Counter or gauge.
    pub kind: ReadingKind,
    /// What its columns are of.
    pub scope: ScopeKind,
    /// The kernel's file or interface that it is read from.
    pub file: &'static str,
    /// What it is in there.
    pub field: &'static str,
}

/// What a column is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The whole host.
    Host,
    /// A CPU.
    Cpu,
    /// A line of interrupts on a CPU.
    Irq,
    /// The network namespace of the target.
    Netns,
    /// A network interface.
    Netdev,
    /// A block device.
    Disk,
    /// A listening address.
    Listener,
    /// A process.
    Process,
    /// A thread.
    Thread,
    /// The control group of the target or of the generator.
    Cgroup,
}

/// The scope of the whole host.
pub const HOST: &str = "host";
/// The scope of the target's network namespace.
pub const NETNS: &str = "netns:target";
/// The scope of the target's control group.
pub const CGROUP_TARGET: &str = "cgroup:target";
/// The scope of the generator's control group.
pub const CGROUP_GENERATOR: &str = "cgroup:generator";

impl ScopeKind {
    /// What its scopes begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            ScopeKind::Host => HOST,
            ScopeKind::Cpu => "cpu:",
            ScopeKind::Irq => "irq:",
            ScopeKind::Netns => NETNS,
            ScopeKind::Netdev => "netdev:",
            ScopeKind::Disk => "disk:",
            ScopeKind::Listener => "listener:",
            ScopeKind::Process => "process:",
            ScopeKind::Thread => "thread:",
            ScopeKind::Cgroup => "cgroup:",
        }
    }
}

impl Quantity {
    /// Its column of a scope.
    pub fn of(&self, scope: impl Into<String>) -> Column {
        self.column(self.name.to_owned(), scope.into())
    }

    /// The column of a member of this family.
    pub fn member(&self, field: &str, scope: impl Into<String>) -> Column {
        self.column(format!("{}{field}", self.stem()), scope.into())
    }

    fn column(&self, name: String, scope: String) -> Column {
        Column { name, scope, unit: self.unit.to_owned(), kind: self.kind, unavailable: None }
    }

    /// How evidence names its column of a scope.
    pub fn at(&self, scope: &str) -> String {
        format!("{}@{scope}", self.name)
    }

    /// Whether it is a family, whose members the kernel names.
    pub fn is_family(&self) -> bool {
        self.name.ends_with('*')
    }

    /// Whether a column of this name holds it.
    pub fn has(&self, name: &str) -> bool {
        self.name == name || (self.is_family() && name.starts_with(self.stem()))
    }

    fn stem(&self) -> &'static str {
        self.name.trim_end_matches('*')
    }
}

/// What columns of this name hold: the entry of the name, or that of its family. `None`: the catalogue has neither.
pub fn find(name: &str) -> Option<&'static Quantity> {
    let exact = QUANTITIES.iter().find(|quantity| quantity.name == name);
    exact.or_else(|| QUANTITIES.iter().find(|quantity| quantity.has(name)))
}

macro_rules! quantities {
    ($($id:ident $name:literal $unit:literal $kind:ident $scope:ident $file:literal $field:literal;)+) => {
        $(
            #[doc = concat!("`", $name, "`: `", $file, "` ", $field, ".")]
            pub const $id: Quantity = Quantity {
                name: $name,
                unit: $unit,
                kind: ReadingKind::$kind,
                scope: ScopeKind::$scope,
                file: $file,
                field: $field,
            };
        )+

        /// All of them, in the order of the reference.
        pub const QUANTITIES: &[Quantity] = &[$($id),+];
    };
}

quantities! {
    CPU_USER "cpu.user_us" "us" Counter Cpu "/proc/stat" "cpuN, user";
    CPU_NICE "cpu.nice_us" "us" Counter Cpu "/proc/stat" "cpuN, nice";
    CPU_SYSTEM "cpu.system_us" "us" Counter Cpu "/proc/stat" "cpuN, system";
    CPU_IDLE "cpu.idle_us" "us" Counter Cpu "/proc/stat" "cpuN, idle";
    CPU_IOWAIT "cpu.iowait_us" "us" Counter Cpu "/proc/stat" "cpuN, iowait";
    CPU_IRQ "cpu.irq_us" "us" Counter Cpu "/proc/stat" "cpuN, irq";
    CPU_SOFTIRQ "cpu.softirq_us" "us" Counter Cpu "/proc/stat" "cpuN, softirq";
    CPU_STEAL "cpu.steal_us" "us" Counter Cpu "/proc/stat" "cpuN, steal";
    KERNEL_CONTEXT_SWITCHES "kernel.context_switches_count" "count" Counter Host "/proc/stat" "ctxt";
    KERNEL_FORKS "kernel.forks_count" "count" Counter Host "/proc/stat" "processes";
    KERNEL_RUNNING "kernel.running_count" "count" Gauge Host "/proc/stat" "procs_running";
    IRQ "irq.count" "count" Counter Irq "/proc/interrupts" "a cell";
    SOFTIRQ "softirq.*" "count" Counter Cpu "/proc/softirqs" "a cell";
    SOFTNET_PROCESSED "softnet.processed_count" "count" Counter Cpu "/proc/net/softnet_stat" "column 0";
    SOFTNET_DROPPED "softnet.dropped_count" "count" Counter Cpu "/proc/net/softnet_stat" "column 1";
    SOFTNET_TIME_SQUEEZE "softnet.time_squeeze_count" "count" Counter Cpu "/proc/net/softnet_stat" "column 2";
    SOFTNET_RECEIVED_RPS "softnet.received_rps_count" "count" Counter Cpu "/proc/net/softnet_stat" "column 9";
    SOFTNET_FLOW_LIMIT "softnet.flow_limit_count" "count" Counter Cpu "/proc/net/softnet_stat" "column 10";
    SOFTNET_BACKLOG "softnet.backlog_count" "count" Gauge Cpu "/proc/net/softnet_stat" "column 11";
    IP "Ip.*" "count" Counter Netns "/proc/PID/net/snmp" "Ip";
    IP_IN_RECEIVES "Ip.InReceives" "count" Counter Netns "/proc/PID/net/snmp" "Ip InReceives";
    TCP "Tcp.*" "count" Counter Netns "/proc/PID/net/snmp" "Tcp";
    TCP_CURR_ESTAB "Tcp.CurrEstab" "count" Gauge Netns "/proc/PID/net/snmp" "Tcp CurrEstab";
    TCP_OUT_SEGS "Tcp.OutSegs" "count" Counter Netns "/proc/PID/net/snmp" "Tcp OutSegs";
    TCP_PASSIVE_OPENS "Tcp.PassiveOpens" "count" Counter Netns "/proc/PID/net/snmp" "Tcp PassiveOpens";
    TCP_RETRANS_SEGS "Tcp.RetransSegs" "count" Counter Netns "/proc/PID/net/snmp" "Tcp RetransSegs";
    UDP "Udp.*" "count" Counter Netns "/proc/PID/net/snmp" "Udp";
    TCP_EXT "TcpExt.*" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt";
    LISTEN_DROPS "TcpExt.ListenDrops" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt ListenDrops";
    LISTEN_OVERFLOWS "TcpExt.ListenOverflows" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt ListenOverflows";
    TCP_SYN_RETRANS "TcpExt.TCPSynRetrans" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPSynRetrans";
    IP_EXT "IpExt.*" "count" Counter Netns "/proc/PID/net/netstat" "IpExt";
    SOCKSTAT_TCP_INUSE "sockstat.tcp_inuse_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP inuse";
    SOCKSTAT_TCP_ORPHAN "sockstat.tcp_orphan_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP orphan";
    SOCKSTAT_TCP_TW "sockstat.tcp_tw_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP tw";
    SOCKSTAT_TCP_ALLOC "sockstat.tcp_alloc_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP alloc";
    SOCKSTAT_TCP_MEM "sockstat.tcp_mem_pages" "pages" Gauge Netns "/proc/PID/net/sockstat" "TCP mem";
    NETDEV_RX_BYTES "netdev.rx_bytes" "bytes" Counter Netdev "/proc/PID/net/dev" "receive bytes";
    NETDEV_TX_BYTES "netdev.tx_bytes" "bytes" Counter Netdev "/proc/PID/net/dev" "transmit bytes";
    NETDEV_RX_PACKETS "netdev.rx_packets_count" "count" Counter Netdev "/proc/PID/net/dev" "receive packets";
    NETDEV_TX_PACKETS "netdev.tx_packets_count" "count" Counter Netdev "/proc/PID/net/dev" "transmit packets";
    NETDEV_RX_DROPPED "netdev.rx_dropped_count" "count" Counter Netdev "/proc/PID/net/dev" "receive drop";
    NETDEV_TX_DROPPED "netdev.tx_dropped_count" "count" Counter Netdev "/proc/PID/net/dev" "transmit drop";
    NETDEV_RX_ERRORS "netdev.rx_errors_count" "count" Counter Netdev "/proc/PID/net/dev" "receive errs";
    NETDEV_TX_ERRORS "netdev.tx_errors_count" "count" Counter Netdev "/proc/PID/net/dev" "transmit errs";
    NETDEV_RX_FIFO "netdev.rx_fifo_count" "count" Counter Netdev "/proc/PID/net/dev" "receive fifo";
    NETDEV_SPEED "netdev.speed_mbps" "mbps" Gauge Netdev "/sys/class/net/NAME/speed" "its number";
    DISK_READS "disk.reads_count" "count" Counter Disk "/proc/diskstats" "field 1";
    DISK_WRITES "disk.writes_count" "count" Counter Disk "/proc/diskstats" "field 5";
    DISK_FLUSHES "disk.flushes_count" "count" Counter Disk "/proc/diskstats" "field 16";
    DISK_READ_BYTES "disk.read_bytes" "bytes" Counter Disk "/proc/diskstats" "field 3, sectors";
    DISK_WRITTEN_BYTES "disk.written_bytes" "bytes" Counter Disk "/proc/diskstats" "field 7, sectors";
    DISK_IO "disk.io_ms" "ms" Counter Disk "/proc/diskstats" "field 10";
    DISK_QUEUE "disk.queue_ms" "ms" Counter Disk "/proc/diskstats" "field 11";
    DISK_FLUSH "disk.flush_ms" "ms" Counter Disk "/proc/diskstats" "field 17";
    DISK_IN_FLIGHT "disk.in_flight_count" "count" Gauge Disk "/proc/diskstats" "field 9";
    MEMORY_TOTAL "memory.total_bytes" "bytes" Gauge Host "/proc/meminfo" "MemTotal";
    MEMORY_FREE "memory.free_bytes" "bytes" Gauge Host "/proc/meminfo" "MemFree";
    MEMORY_AVAILABLE "memory.available_bytes" "bytes" Gauge Host "/proc/meminfo" "MemAvailable";
    MEMORY_CACHED "memory.cached_bytes" "bytes" Gauge Host "/proc/meminfo" "Cached";
    MEMORY_DIRTY "memory.dirty_bytes" "bytes" Gauge Host "/proc/meminfo" "Dirty";
    MEMORY_WRITEBACK "memory.writeback_bytes" "bytes" Gauge Host "/proc/meminfo" "Writeback";
    MEMORY_SLAB "memory.slab_bytes" "bytes" Gauge Host "/proc/meminfo" "Slab";
    MEMORY_SWAP_TOTAL "memory.swap_total_bytes" "bytes" Gauge Host "/proc/meminfo" "SwapTotal";
    MEMORY_SWAP_FREE "memory.swap_free_bytes" "bytes" Gauge Host "/proc/meminfo" "SwapFree";
    VMSTAT "vmstat.*" "count" Counter Host "/proc/vmstat" "chosen fields";
    PSI_CPU_SOME "psi.cpu_some_us" "us" Counter Host "/proc/pressure/cpu" "some total";
    PSI_MEMORY_SOME "psi.memory_some_us" "us" Counter Host "/proc/pressure/memory" "some total";
    PSI_MEMORY_FULL "psi.memory_full_us" "us" Counter Host "/proc/pressure/memory" "full total";
    PSI_IO_SOME "psi.io_some_us" "us" Counter Host "/proc/pressure/io" "some total";
    PSI_IO_FULL "psi.io_full_us" "us" Counter Host "/proc/pressure/io" "full total";
    FILES_ALLOCATED "files.allocated_count" "count" Gauge Host "/proc/sys/fs/file-nr" "first";
    FILES_LIMIT "files.limit_count" "count" Gauge Host "/proc/sys/fs/file-nr" "third";
    LISTENER_QUEUE "listener.queue_count" "count" Gauge Listener "sock_diag" "idiag_rqueue of LISTEN sockets";
    LISTENER_LIMIT "listener.limit_count" "count" Gauge Listener "sock_diag" "idiag_wqueue of LISTEN sockets";
    CONNECTIONS_ESTABLISHED "connections.established_count" "count" Gauge Listener "sock_diag" "ESTABLISHED sockets";
    CONNECTIONS_UNREAD "connections.unread_count" "count" Gauge Listener "sock_diag" "idiag_rqueue of ESTABLISHED sockets";
    PROCESS_CPU "process.cpu_us" "us" Counter Process "clock_getcpuclockid" "of the process, threads that have ended included";
    PROCESS_USER "process.user_us" "us" Counter Process "/proc/PID/stat" "utime";
    PROCESS_SYSTEM "process.system_us" "us" Counter Process "/proc/PID/stat" "stime";
    PROCESS_RUN_DELAY "process.run_delay_us" "us" Counter Process "/proc/PID/task/TID/schedstat" "field 2";
    PROCESS_RSS "process.rss_bytes" "bytes" Gauge Process "/proc/PID/stat" "rss";
    PROCESS_THREADS "process.threads_count" "count" Gauge Process "/proc/PID/stat" "num_threads";
    PROCESS_RUNNING_THREADS "process.running_threads_count" "count" Gauge Process "/proc/PID/task/TID/stat" "state R";
    PROCESS_UNINTERRUPTIBLE_THREADS "process.uninterruptible_threads_count" "count" Gauge Process "/proc/PID/task/TID/stat" "state D";
    PROCESS_FDS "process.fds_count" "count" Gauge Process "/proc/PID/fd" "its size, or its entries";
    PROCESS_FDS_LIMIT "process.fds_limit_count" "count" Gauge Process "/proc/PID/limits" "Max open files";
    PROCESS_VOLUNTARY_SWITCHES "process.voluntary_switches_count" "count" Counter Process "/proc/PID/task/TID/status" "voluntary_ctxt_switches";
    PROCESS_INVOLUNTARY_SWITCHES "process.involuntary_switches_count" "count" Counter Process "/proc/PID/task/TID/status" "nonvoluntary_ctxt_switches";
    THREAD_CPU "thread.cpu_us" "us" Counter Thread "/proc/PID/task/TID/schedstat" "field 1";
    THREAD_RUN_DELAY "thread.run_delay_us" "us" Counter Thread "/proc/PID/task/TID/schedstat" "field 2";
    CGROUP_PERIODS "cgroup.periods_count" "count" Counter Cgroup "cpu.stat" "nr_periods";
    CGROUP_THROTTLED "cgroup.throttled_count" "count" Counter Cgroup "cpu.stat" "nr_throttled";
    CGROUP_THROTTLED_TIME "cgroup.throttled_us" "us" Counter Cgroup "cpu.stat" "throttled_usec";
    CGROUP_QUOTA "cgroup.quota_ratio" "ratio" Gauge Cgroup "cpu.max" "quota ÷ period";
    SELF_CPU "self.cpu_us" "us" Counter Host "CLOCK_THREAD_CPUTIME_ID" "of the thread of the sampler";
}
