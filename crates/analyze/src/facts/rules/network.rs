//! Rules of sockets, protocols and interfaces.

use super::{FactRule, rules};

/// The rules.
pub(super) const RULES: &[FactRule] = rules! {
    "D30" ["sysctl.net.core.somaxconn"], 10 1 7,
        "upper bound of every accept queue",
        "listen() is cut to it; connections that come when the queue is full are dropped and try again after a second",
        "Documentation/admin-guide/sysctl/net.rst; listen(2)";
    "D31" ["sysctl.net.ipv4.tcp_max_syn_backlog", "sysctl.net.ipv4.tcp_syncookies"], 9 0 5,
        "how many half-open connections are kept, and what happens beyond",
        "beyond it a SYN is dropped or answered with a cookie, which loses options of the connection",
        "Documentation/networking/ip-sysctl.rst";
    "D32" ["nic.*.speed_mbps", "nic.*.duplex"], 9 1 8,
        "speed of the link",
        "it bounds what can be sent and received",
        "Documentation/ABI/testing/sysfs-class-net";
    "D33" ["nic.*.driver"], 9 1 8,
        "driver of the interface",
        "drivers differ in queues, offloads, interrupts and cost per packet",
        "Documentation/networking/device_drivers/";
    "D34" ["nic.*.rx_queues_count", "nic.*.tx_queues_count", "nic.*.channels_*"], 9 1 8,
        "queues of the interface",
        "each queue is served by one CPU at a time: with one queue, one CPU does all receive work",
        "Documentation/networking/scaling.rst";
    "D35" ["irq.*"], 8 2 7,
        "CPUs that take an interrupt",
        "interrupts of all queues on one CPU make that CPU the limit while others idle",
        "Documentation/core-api/irq/irq-affinity.rst";
    "D36" ["nic.*.rps_cpus", "nic.*.rps_flows", "nic.*.xps_cpus", "sysctl.net.core.rps_sock_flow_entries"], 8 1 7,
        "how receive and transmit work is spread over CPUs",
        "without it the CPU that takes the interrupt does the protocol work as well",
        "Documentation/networking/scaling.rst";
    "D37" ["nic.*.offloads"], 8 1 6,
        "work that the interface takes off the CPU",
        "without segmentation and receive offloads each packet passes the whole stack by itself",
        "Documentation/networking/segmentation-offloads.rst; ethtool(8)";
    "D38" ["nic.*.ring_*"], 7 1 6,
        "length of the interface's rings",
        "a short receive ring overflows in a burst, and packets are lost before the kernel sees them",
        "Documentation/networking/ethtool-netlink.rst, RINGS_GET; ethtool(8), -g";
    "D39" ["nic.*.coalesce_*", "nic.*.gro_flush_ns", "nic.*.deferred_irqs_count", "nic.*.is_threaded"], 7 1 7,
        "how long interrupts wait to be one",
        "longer saves CPU per packet and adds to every response",
        "Documentation/networking/napi.rst; ethtool(8), -c";
    "D40" ["sysctl.net.core.netdev_max_backlog", "sysctl.net.core.netdev_budget*", "sysctl.net.core.dev_weight*"], 7 1 6,
        "how much receive work is queued and done at once",
        "beyond the backlog packets are dropped; a small budget leaves them waiting",
        "Documentation/admin-guide/sysctl/net.rst";
    "D41" ["sysctl.net.ipv4.ip_local_port_range", "sysctl.net.ipv4.tcp_tw_reuse", "sysctl.net.ipv4.tcp_max_tw_buckets", "sysctl.net.ipv4.tcp_fin_timeout", "sysctl.net.ipv4.ip_local_reserved_ports"], 7 0 3,
        "how many ports there are for outgoing connections, and how soon they are free again",
        "a proxy that connects for each request runs out of them",
        "Documentation/networking/ip-sysctl.rst";
    "D42" ["sysctl.net.netfilter.nf_conntrack_*", "sysctl.net.nf_conntrack_max"], 7 0 4,
        "table of tracked connections",
        "when it is full packets of new connections are dropped; a short hash makes each look-up longer",
        "Documentation/networking/nf_conntrack-sysctl.rst";
    "D43" ["sysctl.net.ipv4.tcp_congestion_control", "sysctl.net.ipv4.tcp_available_congestion_control", "sysctl.net.core.default_qdisc"], 6 0 4,
        "congestion control and queueing",
        "they decide how quickly a connection fills a path with loss or delay",
        "Documentation/networking/ip-sysctl.rst";
    "D44" ["sysctl.net.ipv4.tcp_*mem", "sysctl.net.core.rmem_*", "sysctl.net.core.wmem_*", "sysctl.net.core.optmem_max", "sysctl.net.ipv4.udp_*"], 6 1 5,
        "buffers of sockets",
        "small ones bound the rate on a path with delay; the sum of all bounds the connections",
        "Documentation/networking/ip-sysctl.rst; socket(7)";
    "D45" ["sysctl.net.ipv4.tcp_abort_on_overflow", "sysctl.net.ipv4.tcp_syn*_retries", "sysctl.net.ipv4.tcp_fastopen", "sysctl.net.ipv4.tcp_slow_start_after_idle", "sysctl.net.ipv4.tcp_notsent_lowat", "sysctl.net.ipv4.tcp_autocorking", "sysctl.net.ipv4.tcp_limit_output_bytes", "sysctl.net.ipv4.tcp_max_orphans"], 6 0 3,
        "how TCP begins, resumes and refuses",
        "it changes round trips per connection, or what a client sees of an overload",
        "Documentation/networking/ip-sysctl.rst";
    "D46" ["sysctl.net.core.busy_*"], 5 0 6,
        "whether sockets are polled",
        "polling takes CPU and saves the wait for the interrupt",
        "Documentation/networking/napi.rst";
    "D47" ["nic.*.mtu_bytes", "nic.*.tx_queue_packets"], 5 1 4,
        "length of packets and of the transmit queue",
        "shorter packets cost more CPU per byte",
        "Documentation/ABI/testing/sysfs-class-net";
    "D48" ["nic.*.bond_*"], 7 0 5,
        "how links are joined to one",
        "the hash policy decides whether few addresses use more than one link",
        "Documentation/networking/bonding.rst";
    "D49" ["nic.*.state", "nic.*.numa_node"], 5 0 4,
        "state of the interface and the node that it is at",
        "memory of a far node costs more per packet",
        "Documentation/ABI/testing/sysfs-class-net";
    "D50" ["nic.*"], 4 0 3,
        "an interface or a property of one",
        "packets that pass it cost CPU time, or wait",
        "Documentation/ABI/testing/sysfs-class-net";
    "D51" ["sysctl.net.ipv4.tcp_*", "sysctl.net.mptcp.*"], 4 0 2,
        "a setting of TCP",
        "some change how connections begin, send and recover",
        "Documentation/networking/ip-sysctl.rst";
    "D52" ["sysctl.net.*"], 2 0 1,
        "a setting of the network",
        "most have no effect on the rate of a server; some bound tables",
        "Documentation/networking/ip-sysctl.rst; Documentation/admin-guide/sysctl/net.rst";
};
