//! The catalog of columns: what the collectors read from the kernel, and what the rules examine.
//!
//! A [`Quantity`] describes the content of a column: its name, unit, kind, and scope, and where the kernel reports it. If the
//! kernel itself names the columns (`TcpExt.*`), the catalog has the family, and those members that a rule examines or that
//! differ from their family. Columns are created and looked up only by these constants.
//! `docs/reference/formats/series.md` describes the same columns; a test in `observe` compares the two.

use crate::plan::Endpoint;
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
    /// A file system, by where it is mounted.
    Filesystem,
    /// A listening address.
    Listener,
    /// A tier of the server.
    Tier,
    /// A process.
    Process,
    /// A thread.
    Thread,
    /// The control group of the target, of a tier behind it, or of the generator.
    Cgroup,
    /// A log of the server, or the kernel's.
    Log,
    /// A zone of the power of the host.
    Energy,
}

/// The scope of the whole host.
pub const HOST: &str = "host";
/// The scope of the target's network namespace.
pub const NETNS: &str = "netns:target";
/// The scope of the target's control group.
pub const CGROUP_TARGET: &str = "cgroup:target";
/// The scope of the generator's control group.
pub const CGROUP_GENERATOR: &str = "cgroup:generator";

/// The scope of what listens at an address: `listener:ADDRESS:PORT` or `listener:unix:PATH`.
pub fn listener_scope(address: &Endpoint) -> String {
    match address {
        Endpoint::Tcp(address) => format!("listener:{address}"),
        Endpoint::Unix(path) => format!("listener:unix:{}", path.display()),
    }
}

/// The scope of the tier that listens at an address; `None`: of the one that the load reaches, `tier:target`.
pub fn tier_scope(address: Option<&Endpoint>) -> String {
    let prefix = ScopeKind::Listener.prefix();
    let name = address.map(|address| listener_scope(address)[prefix.len()..].to_owned());
    format!("tier:{}", name.as_deref().unwrap_or("target"))
}

/// The scope of what a tier asks another one: `tier:target>127.0.0.1:3306`.
pub fn asking_scope(address: Option<&Endpoint>, asked: &Endpoint) -> String {
    format!("{}>{}", tier_scope(address), &tier_scope(Some(asked))[ScopeKind::Tier.prefix().len()..])
}

/// The scope of a log, by its path, or of [`crate::log::KERNEL_LOG`].
pub fn log_scope(log: &str) -> String {
    format!("{}{log}", ScopeKind::Log.prefix())
}

/// The scope of the control group of the tier that listens at an address: `cgroup:tier:127.0.0.1:3306`.
pub fn cgroup_tier_scope(address: &Endpoint) -> String {
    format!("{}{}", ScopeKind::Cgroup.prefix(), tier_scope(Some(address)))
}

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
            ScopeKind::Filesystem => "fs:",
            ScopeKind::Listener => "listener:",
            ScopeKind::Tier => "tier:",
            ScopeKind::Process => "process:",
            ScopeKind::Thread => "thread:",
            ScopeKind::Cgroup => "cgroup:",
            ScopeKind::Log => "log:",
            ScopeKind::Energy => "energy:",
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

/// What columns of this name hold: the entry of the name, or that of its family. `None`: the catalog has neither.
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
    IP_REASSEMBLY_FAILURES "Ip.ReasmFails" "count" Counter Netns "/proc/PID/net/snmp" "Ip ReasmFails";
    TCP "Tcp.*" "count" Counter Netns "/proc/PID/net/snmp" "Tcp";
    TCP_ATTEMPT_FAILS "Tcp.AttemptFails" "count" Counter Netns "/proc/PID/net/snmp" "Tcp AttemptFails";
    TCP_CURR_ESTAB "Tcp.CurrEstab" "count" Gauge Netns "/proc/PID/net/snmp" "Tcp CurrEstab";
    TCP_CHECKSUM_ERRORS "Tcp.InCsumErrors" "count" Counter Netns "/proc/PID/net/snmp" "Tcp InCsumErrors";
    TCP_OUT_SEGS "Tcp.OutSegs" "count" Counter Netns "/proc/PID/net/snmp" "Tcp OutSegs";
    TCP_PASSIVE_OPENS "Tcp.PassiveOpens" "count" Counter Netns "/proc/PID/net/snmp" "Tcp PassiveOpens";
    TCP_RETRANS_SEGS "Tcp.RetransSegs" "count" Counter Netns "/proc/PID/net/snmp" "Tcp RetransSegs";
    UDP "Udp.*" "count" Counter Netns "/proc/PID/net/snmp" "Udp";
    UDP_RCVBUF_ERRORS "Udp.RcvbufErrors" "count" Counter Netns "/proc/PID/net/snmp" "Udp RcvbufErrors";
    TCP_EXT "TcpExt.*" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt";
    LISTEN_DROPS "TcpExt.ListenDrops" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt ListenDrops";
    LISTEN_OVERFLOWS "TcpExt.ListenOverflows" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt ListenOverflows";
    PAWS_DROPS "TcpExt.PAWSEstab" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt PAWSEstab";
    REVERSE_PATH_DROPS "TcpExt.IPReversePathFilter" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt IPReversePathFilter";
    RECEIVE_PRUNED "TcpExt.RcvPruned" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt RcvPruned";
    TCP_BACKLOG_DROPS "TcpExt.TCPBacklogDrop" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPBacklogDrop";
    TCP_DSACKS "TcpExt.TCPDSACKRecv" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPDSACKRecv";
    TCP_OUT_OF_ORDER_DROPS "TcpExt.TCPOFODrop" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPOFODrop";
    TCP_RECEIVE_QUEUE_DROPS "TcpExt.TCPRcvQDrop" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPRcvQDrop";
    TCP_SACK_REORDERS "TcpExt.TCPSACKReorder" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPSACKReorder";
    TCP_TIMESTAMP_REORDERS "TcpExt.TCPTSReorder" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPTSReorder";
    TCP_SPURIOUS_TIMEOUTS "TcpExt.TCPSpuriousRTOs" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPSpuriousRTOs";
    TCP_SYN_CHALLENGES "TcpExt.TCPSYNChallenge" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPSYNChallenge";
    TCP_ZERO_WINDOW_DROPS "TcpExt.TCPZeroWindowDrop" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPZeroWindowDrop";
    TCP_SYN_RETRANS "TcpExt.TCPSynRetrans" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPSynRetrans";
    DELAYED_ACKS "TcpExt.DelayedACKs" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt DelayedACKs";
    PRUNE_CALLED "TcpExt.PruneCalled" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt PruneCalled";
    SYN_QUEUE_COOKIES "TcpExt.TCPReqQFullDoCookies" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPReqQFullDoCookies";
    SYN_QUEUE_DROPS "TcpExt.TCPReqQFullDrop" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPReqQFullDrop";
    TCP_ABORTS_ON_MEMORY "TcpExt.TCPAbortOnMemory" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPAbortOnMemory";
    TCP_COLLAPSED "TcpExt.TCPRcvCollapsed" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPRcvCollapsed";
    TCP_FAST_RETRANS "TcpExt.TCPFastRetrans" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPFastRetrans";
    TCP_MEMORY_PRESSURES "TcpExt.TCPMemoryPressures" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPMemoryPressures";
    TCP_TIMEOUTS "TcpExt.TCPTimeouts" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPTimeouts";
    TCP_TW_OVERFLOWS "TcpExt.TCPTimeWaitOverflow" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPTimeWaitOverflow";
    TCP_ZERO_WINDOWS "TcpExt.TCPToZeroWindowAdv" "count" Counter Netns "/proc/PID/net/netstat" "TcpExt TCPToZeroWindowAdv";
    IP_EXT "IpExt.*" "count" Counter Netns "/proc/PID/net/netstat" "IpExt";
    SOCKSTAT_TCP_INUSE "sockstat.tcp_inuse_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP inuse";
    SOCKSTAT_TCP_ORPHAN "sockstat.tcp_orphan_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP orphan";
    SOCKSTAT_TCP_TW "sockstat.tcp_tw_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP tw";
    SOCKSTAT_TCP_ALLOC "sockstat.tcp_alloc_count" "count" Gauge Netns "/proc/PID/net/sockstat" "TCP alloc";
    SOCKSTAT_TCP_MEM "sockstat.tcp_mem_pages" "pages" Gauge Netns "/proc/PID/net/sockstat" "TCP mem";
    SOCKSTAT_TCP_MEM_PRESSURE "sockstat.tcp_mem_pressure_pages" "pages" Gauge Netns "/proc/sys/net/ipv4" "tcp_mem, second";
    SOCKSTAT_TCP_MEM_LIMIT "sockstat.tcp_mem_limit_pages" "pages" Gauge Netns "/proc/sys/net/ipv4" "tcp_mem, third";
    SOCKSTAT_TCP_ORPHAN_LIMIT "sockstat.tcp_orphan_limit_count" "count" Gauge Netns "/proc/sys/net/ipv4" "tcp_max_orphans";
    SOCKSTAT_TCP_TW_LIMIT "sockstat.tcp_tw_limit_count" "count" Gauge Netns "/proc/sys/net/ipv4" "tcp_max_tw_buckets";
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
    NETDEV_DOWNS "netdev.carrier_downs_count" "count" Counter Netdev "RTM_GETLINK" "IFLA_CARRIER_DOWN_COUNT";
    QDISC_DROPS "qdisc.drops_count" "count" Counter Netdev "RTM_GETQDISC" "drops of the root";
    QDISC_OVERLIMITS "qdisc.overlimits_count" "count" Counter Netdev "RTM_GETQDISC" "overlimits of the root";
    QDISC_BACKLOG "qdisc.backlog_bytes" "bytes" Gauge Netdev "RTM_GETQDISC" "backlog";
    QDISC_BACKLOG_PACKETS "qdisc.backlog_packets_count" "count" Gauge Netdev "RTM_GETQDISC" "qlen";
    QDISC_LIMIT "qdisc.limit_mbps" "mbps" Gauge Netdev "RTM_GETQDISC" "rate of a tbf, ceil of an htb class";
    DISK_READS "disk.reads_count" "count" Counter Disk "/proc/diskstats" "field 1";
    DISK_WRITES "disk.writes_count" "count" Counter Disk "/proc/diskstats" "field 5";
    DISK_FLUSHES "disk.flushes_count" "count" Counter Disk "/proc/diskstats" "field 16";
    DISK_READ_BYTES "disk.read_bytes" "bytes" Counter Disk "/proc/diskstats" "field 3, sectors";
    DISK_WRITTEN_BYTES "disk.written_bytes" "bytes" Counter Disk "/proc/diskstats" "field 7, sectors";
    DISK_IO "disk.io_ms" "ms" Counter Disk "/proc/diskstats" "field 10";
    DISK_QUEUE "disk.queue_ms" "ms" Counter Disk "/proc/diskstats" "field 11";
    DISK_READ "disk.read_ms" "ms" Counter Disk "/proc/diskstats" "field 4";
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
    VM_ALLOC_STALLS "vmstat.allocstall_normal" "count" Counter Host "/proc/vmstat" "allocstall_normal";
    VM_ALLOC_STALLS_MOVABLE "vmstat.allocstall_movable" "count" Counter Host "/proc/vmstat" "allocstall_movable";
    VM_COMPACT_STALLS "vmstat.compact_stall" "count" Counter Host "/proc/vmstat" "compact_stall";
    VM_CACHE_DROPS "vmstat.drop_pagecache" "count" Counter Host "/proc/vmstat" "drop_pagecache";
    VM_MAJOR_FAULTS "vmstat.pgmajfault" "count" Counter Host "/proc/vmstat" "pgmajfault";
    VM_OOM_KILLS "vmstat.oom_kill" "count" Counter Host "/proc/vmstat" "oom_kill";
    VM_REFAULTS "vmstat.workingset_refault_file" "count" Counter Host "/proc/vmstat" "workingset_refault_file";
    VM_SWAPPED_IN "vmstat.pswpin" "count" Counter Host "/proc/vmstat" "pswpin";
    MEMORY_DIRTY_LIMIT "memory.dirty_limit_bytes" "bytes" Gauge Host "/proc/vmstat" "nr_dirty_threshold, pages";
    PSI_CPU_SOME "psi.cpu_some_us" "us" Counter Host "/proc/pressure/cpu" "some total";
    PSI_MEMORY_SOME "psi.memory_some_us" "us" Counter Host "/proc/pressure/memory" "some total";
    PSI_MEMORY_FULL "psi.memory_full_us" "us" Counter Host "/proc/pressure/memory" "full total";
    PSI_IO_SOME "psi.io_some_us" "us" Counter Host "/proc/pressure/io" "some total";
    PSI_IO_FULL "psi.io_full_us" "us" Counter Host "/proc/pressure/io" "full total";
    FILES_ALLOCATED "files.allocated_count" "count" Gauge Host "/proc/sys/fs/file-nr" "first";
    FILES_LIMIT "files.limit_count" "count" Gauge Host "/proc/sys/fs/file-nr" "third";
    TASKS "tasks.count" "count" Gauge Host "/proc/loadavg" "fourth, all tasks";
    TASKS_LIMIT "tasks.limit_count" "count" Gauge Host "/proc/sys/kernel" "pid_max or threads-max, whichever is less";
    CONNTRACK_ENTRIES "conntrack.entries_count" "count" Gauge Netns "/proc/PID/net/stat/nf_conntrack" "entries";
    CONNTRACK_DROPS "conntrack.drops_count" "count" Counter Netns "/proc/PID/net/stat/nf_conntrack" "drop";
    CONNTRACK_EARLY_DROPS "conntrack.early_drops_count" "count" Counter Netns "/proc/PID/net/stat/nf_conntrack" "early_drop";
    CONNTRACK_LIMIT "conntrack.limit_count" "count" Gauge Netns "/proc/sys/net/netfilter" "nf_conntrack_max";
    NEIGHBORS "neighbors.entries_count" "count" Gauge Host "/proc/net/stat/arp_cache" "entries";
    NEIGHBORS_FULL "neighbors.full_count" "count" Counter Host "/proc/net/stat/arp_cache" "table_fulls";
    NEIGHBORS_LIMIT "neighbors.limit_count" "count" Gauge Host "/proc/sys/net/ipv4/neigh/default" "gc_thresh3";
    FS_SIZE "fs.size_bytes" "bytes" Gauge Filesystem "statvfs" "f_blocks";
    FS_FREE "fs.free_bytes" "bytes" Gauge Filesystem "statvfs" "f_bavail";
    FS_INODES "fs.inodes_count" "count" Gauge Filesystem "statvfs" "f_files";
    FS_FREE_INODES "fs.free_inodes_count" "count" Gauge Filesystem "statvfs" "f_favail";
    LISTENER_QUEUE "listener.queue_count" "count" Gauge Listener "sock_diag" "idiag_rqueue of LISTEN sockets";
    LISTENER_LIMIT "listener.limit_count" "count" Gauge Listener "sock_diag" "idiag_wqueue of LISTEN sockets";
    LISTENER_SOCKETS "listener.sockets_count" "count" Gauge Listener "sock_diag" "LISTEN sockets of one address";
    LISTENER_WAITING "listener.waiting_sockets_count" "count" Gauge Listener "sock_diag" "LISTEN sockets with an idiag_rqueue";
    CONNECTIONS_ESTABLISHED "connections.established_count" "count" Gauge Listener "sock_diag" "ESTABLISHED sockets";
    CONNECTIONS_UNREAD "connections.unread_count" "count" Gauge Listener "sock_diag" "idiag_rqueue of ESTABLISHED sockets";
    CONNECTIONS_UNSENT "connections.unsent_count" "count" Gauge Listener "sock_diag" "idiag_wqueue of ESTABLISHED sockets";
    CONNECTIONS_RESENDING "connections.resending_count" "count" Gauge Listener "sock_diag" "idiag_retrans of either end";
    CONNECTIONS_STUCK "connections.stuck_count" "count" Gauge Listener "sock_diag" "idiag_retrans";
    CONNECTIONS_HELD_BACK "connections.held_back_ratio" "ratio" Gauge Listener "sock_diag" "tcpi_sndbuf_limited";
    WAITS_THREADS "waits.threads_count" "count" Gauge Tier "/proc/PID/task" "threads that serve requests";
    WAITS_RUNNING "waits.running_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "running, or state R";
    WAITS_LOCK "waits.lock_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "futex, flock, fcntl";
    WAITS_PROCESS "waits.process_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "wait4, waitid, or at a pipe";
    WAITS_DISK "waits.disk_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "state D, or fsync, fdatasync, …";
    WAITS_TIMER "waits.timer_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "nanosleep, clock_nanosleep";
    WAITS_STOPPED "waits.stopped_count" "count" Gauge Tier "/proc/PID/task/TID/stat" "state T";
    WAITS_IDLE "waits.idle_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "accept, epoll, or at an accepted connection";
    WAITS_NETWORK "waits.network_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "at another connection";
    WAITS_OTHER "waits.other_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "anything else";
    WAITS_ASKING "waits.asking_count" "count" Gauge Tier "/proc/PID/task/TID/syscall" "at a connection to the next tier";
    REQUESTS_READ "requests.read_count" "count" Counter Tier "sock_recv_length" "first reads of a request";
    REQUESTS_ANSWERED "requests.answered_count" "count" Counter Tier "sock_send_length" "first writes of an answer";
    REQUESTS_MERGED "requests.merged_count" "count" Counter Tier "sock_recv_length" "more data before the answer";
    REQUESTS_UNREAD_TIME "requests.unread_ns" "ns" Counter Tier "sk_data_ready" "from data to its first read";
    REQUESTS_INSIDE_TIME "requests.inside_ns" "ns" Counter Tier "sock_send_length" "from the first read to the last write";
    REQUESTS_PARTIAL_TIME "requests.partial_ns" "ns" Counter Tier "sk_data_ready" "from a part of a request to more of it";
    ASKED_CONNECTING "asked.connecting_count" "count" Gauge Tier "sock_diag" "SYN_SENT sockets to the next tier";
    ASKED_SENT "asked.sent_count" "count" Counter Tier "sock_send_length" "requests to the next tier";
    ASKED_ANSWERED "asked.answered_count" "count" Counter Tier "sock_recv_length" "first reads of an answer";
    ASKED_MERGED "asked.merged_count" "count" Counter Tier "sock_send_length" "more written before the answer";
    ASKED_WAITING_TIME "asked.waiting_ns" "ns" Counter Tier "sk_data_ready" "from the first write to the first data";
    ASKED_TRAILING_TIME "asked.trailing_ns" "ns" Counter Tier "sk_data_ready" "until more data of the answer";
    ASKED_UNREAD_TIME "asked.unread_ns" "ns" Counter Tier "sock_recv_length" "from data to its read";
    PROCESS_CPU "process.cpu_us" "us" Counter Process "clock_getcpuclockid" "of the process, threads that have ended included";
    PROCESS_USER "process.user_us" "us" Counter Process "/proc/PID/stat" "utime";
    PROCESS_SYSTEM "process.system_us" "us" Counter Process "/proc/PID/stat" "stime";
    PROCESS_REAPED "process.reaped_us" "us" Counter Process "/proc/PID/stat" "cutime, cstime";
    PROCESS_RUN_DELAY "process.run_delay_us" "us" Counter Process "/proc/PID/task/TID/schedstat" "field 2";
    PROCESS_RSS "process.rss_bytes" "bytes" Gauge Process "/proc/PID/stat" "rss";
    PROCESS_MAJOR_FAULTS "process.major_faults_count" "count" Counter Process "/proc/PID/stat" "majflt";
    PROCESS_THREADS "process.threads_count" "count" Gauge Process "/proc/PID/stat" "num_threads";
    PROCESS_RUNNING_THREADS "process.running_threads_count" "count" Gauge Process "/proc/PID/task/TID/stat" "state R";
    PROCESS_UNINTERRUPTIBLE_THREADS "process.uninterruptible_threads_count" "count" Gauge Process "/proc/PID/task/TID/stat" "state D";
    PROCESS_FDS "process.fds_count" "count" Gauge Process "/proc/PID/fd" "its size, or its entries";
    PROCESS_FDS_LIMIT "process.fds_limit_count" "count" Gauge Process "/proc/PID/limits" "Max open files";
    PROCESS_VOLUNTARY_SWITCHES "process.voluntary_switches_count" "count" Counter Process "/proc/PID/task/TID/status" "voluntary_ctxt_switches";
    PROCESS_INVOLUNTARY_SWITCHES "process.involuntary_switches_count" "count" Counter Process "/proc/PID/task/TID/status" "nonvoluntary_ctxt_switches";
    JVM_COLLECTIONS "jvm.collections_count" "count" Counter Process "hsperfdata" "sun.gc.collector, invocations";
    JVM_PAUSED "jvm.paused_us" "us" Counter Process "hsperfdata" "sun.gc.collector, time";
    PROCESS_READ_BYTES "process.read_bytes" "bytes" Counter Process "/proc/PID/io" "read_bytes";
    PROCESS_WRITTEN_BYTES "process.written_bytes" "bytes" Counter Process "/proc/PID/io" "write_bytes";
    THREAD_CPU "thread.cpu_us" "us" Counter Thread "/proc/PID/task/TID/schedstat" "field 1";
    THREAD_RUN_DELAY "thread.run_delay_us" "us" Counter Thread "/proc/PID/task/TID/schedstat" "field 2";
    CGROUP_PERIODS "cgroup.periods_count" "count" Counter Cgroup "cpu.stat" "nr_periods";
    CGROUP_THROTTLED "cgroup.throttled_count" "count" Counter Cgroup "cpu.stat" "nr_throttled";
    CGROUP_THROTTLED_TIME "cgroup.throttled_us" "us" Counter Cgroup "cpu.stat" "throttled_usec";
    CGROUP_QUOTA "cgroup.quota_ratio" "ratio" Gauge Cgroup "cpu.max" "quota ÷ period";
    LOG_LINES "log.lines_count" "count" Counter Log "/proc/PID/fd" "lines that were appended";
    LOG_ERRORS "log.errors_count" "count" Counter Log "/proc/PID/fd" "of these, errors by their own words";
    LOG_WARNINGS "log.warnings_count" "count" Counter Log "/proc/PID/fd" "of these, warnings by their own words";
    LOG_SKIPPED "log.skipped_bytes" "bytes" Counter Log "/proc/PID/fd" "appended, but too much to be read";
    CGROUP_MEMORY "cgroup.memory_bytes" "bytes" Gauge Cgroup "memory.current" "of the level with the least room";
    CGROUP_MEMORY_LIMIT "cgroup.memory_limit_bytes" "bytes" Gauge Cgroup "memory.max" "of the level with the least room";
    CGROUP_MEMORY_FAILURES "cgroup.memory_failures_count" "count" Counter Cgroup "memory.events" "max";
    CGROUP_OOM_KILLS "cgroup.oom_kills_count" "count" Counter Cgroup "memory.events" "oom_kill";
    CGROUP_REFAULTS "cgroup.refaults_count" "count" Counter Cgroup "memory.stat" "workingset_refault_file";
    CGROUP_PIDS "cgroup.pids_count" "count" Gauge Cgroup "pids.current" "of the level with the least room";
    CGROUP_PIDS_LIMIT "cgroup.pids_limit_count" "count" Gauge Cgroup "pids.max" "of the level with the least room";
    CGROUP_PIDS_FAILURES "cgroup.pids_failures_count" "count" Counter Cgroup "pids.events" "max";
    CGROUP_MEMORY_THROTTLES "cgroup.memory_throttles_count" "count" Counter Cgroup "memory.events" "high";
    CGROUP_PSI_CPU "cgroup.psi_cpu_some_us" "us" Counter Cgroup "cpu.pressure" "some total";
    CGROUP_PSI_MEMORY "cgroup.psi_memory_some_us" "us" Counter Cgroup "memory.pressure" "some total";
    CGROUP_PSI_IO "cgroup.psi_io_some_us" "us" Counter Cgroup "io.pressure" "some total";
    ENERGY_USED "energy.used_uj" "uj" Counter Energy "/sys/class/powercap" "energy_uj";
    SELF_CPU "self.cpu_us" "us" Counter Host "CLOCK_THREAD_CPUTIME_ID" "of the thread of the sampler";
}
