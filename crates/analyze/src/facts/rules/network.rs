//! Rules for sockets, protocols, and interfaces.

use super::{FactRule, rules};

/// The rules.
pub(super) const RULES: &[FactRule] = rules! {
    "D30" ["sysctl.net.core.somaxconn"], 10 1 7,
        "upper limit of every accept queue",
        "listen() backlogs are capped at it; when the queue is full, connections are dropped and retried \
         after a second",
        "Documentation/admin-guide/sysctl/net.rst; listen(2)";
    "D31" ["sysctl.net.ipv4.tcp_max_syn_backlog", "sysctl.net.ipv4.tcp_syncookies"], 9 0 5,
        "how many half-open connections are kept, and what happens above that",
        "above it, SYNs are dropped or answered with a cookie, which loses TCP options",
        "Documentation/networking/ip-sysctl.rst";
    "D32" ["nic.*.speed_mbps", "nic.*.duplex"], 9 1 8,
        "link speed",
        "it limits the traffic of the host",
        "Documentation/ABI/testing/sysfs-class-net";
    "D33" ["nic.*.driver"], 9 1 8,
        "interface driver",
        "drivers differ in queues, offloads, interrupts, and cost per packet",
        "Documentation/networking/device_drivers/";
    "D34" ["nic.*.rx_queues_count", "nic.*.tx_queues_count", "nic.*.channels_*"], 9 1 8,
        "interface queues",
        "each queue is served by one CPU at a time: with a single queue, one CPU does all receive work",
        "Documentation/networking/scaling.rst";
    "D35" ["irq.*"], 8 2 7,
        "CPUs that handle an interrupt",
        "with all queue interrupts on one CPU, that CPU becomes the bottleneck while others idle",
        "Documentation/core-api/irq/irq-affinity.rst";
    "D36" ["nic.*.rps_cpus", "nic.*.rps_flows", "nic.*.xps_cpus", "sysctl.net.core.rps_sock_flow_entries"], 8 1 7,
        "how receive and transmit work is spread across CPUs",
        "without it, the CPU that handles the interrupt also does the protocol work",
        "Documentation/networking/scaling.rst";
    "D37" ["nic.*.offloads"], 8 1 6,
        "offloads of the interface",
        "without segmentation and receive offloads, every packet passes through the whole stack",
        "Documentation/networking/segmentation-offloads.rst; ethtool(8)";
    "D38" ["nic.*.ring_*"], 7 1 6,
        "size of the interface's rings",
        "a small receive ring overflows in bursts, and packets are lost before the kernel sees them",
        "Documentation/networking/ethtool-netlink.rst, RINGS_GET; ethtool(8), -g";
    "D39" ["nic.*.coalesce_*", "nic.*.gro_flush_ns", "nic.*.deferred_irqs_count", "nic.*.is_threaded"], 7 1 7,
        "interrupt coalescing",
        "longer delays save CPU per packet and add latency to every response",
        "Documentation/networking/napi.rst; ethtool(8), -c";
    "D40" ["sysctl.net.core.netdev_max_backlog", "sysctl.net.core.netdev_budget*", "sysctl.net.core.dev_weight*"], 7 1 6,
        "receive backlog and budget",
        "packets beyond the backlog are dropped; a small budget leaves them waiting",
        "Documentation/admin-guide/sysctl/net.rst";
    "D41" ["sysctl.net.ipv4.ip_local_port_range", "sysctl.net.ipv4.tcp_tw_reuse", "sysctl.net.ipv4.tcp_max_tw_buckets", "sysctl.net.ipv4.tcp_fin_timeout", "sysctl.net.ipv4.ip_local_reserved_ports"], 7 0 3,
        "local ports for outgoing connections, and how soon they can be reused",
        "a proxy that opens a connection per request runs out of them",
        "Documentation/networking/ip-sysctl.rst";
    "D42" ["sysctl.net.netfilter.nf_conntrack_*", "sysctl.net.nf_conntrack_max"], 7 0 4,
        "connection tracking table",
        "when it is full, packets of new connections are dropped; a small hash table slows down each lookup",
        "Documentation/networking/nf_conntrack-sysctl.rst";
    "D43" ["sysctl.net.ipv4.tcp_congestion_control", "sysctl.net.ipv4.tcp_available_congestion_control", "sysctl.net.core.default_qdisc"], 6 0 4,
        "congestion control and queueing discipline",
        "they decide how fast a connection fills a path with loss or delay",
        "Documentation/networking/ip-sysctl.rst";
    "D44" ["sysctl.net.ipv4.tcp_*mem", "sysctl.net.core.rmem_*", "sysctl.net.core.wmem_*", "sysctl.net.core.optmem_max", "sysctl.net.ipv4.udp_*"], 6 1 5,
        "socket buffers",
        "small buffers limit the rate on a path with delay; the total limits the number of connections",
        "Documentation/networking/ip-sysctl.rst; socket(7)";
    "D45" ["sysctl.net.ipv4.tcp_abort_on_overflow", "sysctl.net.ipv4.tcp_syn*_retries", "sysctl.net.ipv4.tcp_fastopen", "sysctl.net.ipv4.tcp_slow_start_after_idle", "sysctl.net.ipv4.tcp_notsent_lowat", "sysctl.net.ipv4.tcp_autocorking", "sysctl.net.ipv4.tcp_limit_output_bytes", "sysctl.net.ipv4.tcp_max_orphans"], 6 0 3,
        "how TCP opens, resumes, and refuses connections",
        "it changes round trips per connection, or what clients see during overload",
        "Documentation/networking/ip-sysctl.rst";
    "D46" ["sysctl.net.core.busy_*"], 5 0 6,
        "busy polling of sockets",
        "polling uses CPU and avoids interrupt latency",
        "Documentation/networking/napi.rst";
    "D47" ["nic.*.mtu_bytes", "nic.*.tx_queue_packets"], 5 1 4,
        "MTU and transmit queue length",
        "smaller packets cost more CPU per byte",
        "Documentation/ABI/testing/sysfs-class-net";
    "D48" ["nic.*.bond_*"], 7 0 5,
        "link bonding",
        "the hash policy decides if traffic between few addresses uses more than one link",
        "Documentation/networking/bonding.rst";
    "D49" ["nic.*.state", "nic.*.numa_node"], 5 0 4,
        "state and NUMA node of the interface",
        "memory on a remote node costs more per packet",
        "Documentation/ABI/testing/sysfs-class-net";
    "D50" ["nic.*"], 4 0 3,
        "an interface or one of its properties",
        "packets through it cost CPU time or wait",
        "Documentation/ABI/testing/sysfs-class-net";
    "D51" ["sysctl.net.ipv4.tcp_*", "sysctl.net.mptcp.*"], 4 0 2,
        "a TCP setting",
        "some change how connections open, send, and recover",
        "Documentation/networking/ip-sysctl.rst";
    "D52" ["sysctl.net.*"], 2 0 1,
        "a network setting",
        "most do not affect a server's rate; some limit the size of tables",
        "Documentation/networking/ip-sysctl.rst; Documentation/admin-guide/sysctl/net.rst";
};
