//! A frame of a host from the latest readings.

use super::now::Latest;
use crate::readings::{ratio, sum_known};
use sysdyno_record::column::{self, HOST, NETNS, Quantity, ScopeKind, asking_scope, tier_scope};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::live::*;
use sysdyno_record::plan::Endpoint;

/// Most lines of interrupts, devices, and listeners in a frame.
const LINES_MAX: usize = 64;

/// Bytes of a page of the kernels that swap is counted on. Unit: bytes.
const PAGE_BYTES: f64 = 4096.0;

/// What the scope of a kind is of.
fn object(scope: &str, kind: ScopeKind) -> String {
    scope.strip_prefix(kind.prefix()).unwrap_or(scope).to_owned()
}

/// Everything but processes and findings.
pub(super) fn frame(now: Latest<'_>, watched: &[WatchedProcess]) -> HostFrame {
    let last = now.series.windows().last().copied().unwrap_or_default();
    let cpus = cpus(now);
    HostFrame {
        mono_ns: last[1],
        seconds: now.passed_seconds(),
        cpu: mean(&cpus),
        irqs: irqs(now, &cpus),
        cpus,
        kernel: KernelFrame {
            interrupts_hz: now.sum(column::IRQ),
            switches_hz: now.rate(column::KERNEL_CONTEXT_SWITCHES, HOST),
            forks_hz: now.rate(column::KERNEL_FORKS, HOST),
            running_count: now.level(column::KERNEL_RUNNING, HOST),
            tasks_count: now.level(column::TASKS, HOST),
        },
        netdevs: netdevs(now),
        softnet: SoftnetFrame {
            processed_hz: now.sum(column::SOFTNET_PROCESSED),
            dropped_hz: now.sum(column::SOFTNET_DROPPED),
            squeezed_hz: now.sum(column::SOFTNET_TIME_SQUEEZE),
        },
        listeners: listeners(now),
        tcp: tcp(now),
        disks: disks(now),
        memory: memory(now),
        pressure: PressureFrame {
            cpu_some_ratio: now.share(column::PSI_CPU_SOME, HOST),
            memory_some_ratio: now.share(column::PSI_MEMORY_SOME, HOST),
            memory_full_ratio: now.share(column::PSI_MEMORY_FULL, HOST),
            io_some_ratio: now.share(column::PSI_IO_SOME, HOST),
            io_full_ratio: now.share(column::PSI_IO_FULL, HOST),
        },
        tiers: tiers(now, watched),
        sampler_us: now.rate(column::SELF_CPU, HOST),
        ..HostFrame::default()
    }
}

/// Times of a CPU in the order of the fields of [`CpuShares`].
const TIMES: [Quantity; 8] = [
    column::CPU_USER,
    column::CPU_NICE,
    column::CPU_SYSTEM,
    column::CPU_SOFTIRQ,
    column::CPU_IRQ,
    column::CPU_IOWAIT,
    column::CPU_STEAL,
    column::CPU_IDLE,
];

fn cpus(now: Latest<'_>) -> Vec<CpuShares> {
    let of = |scope: &str| {
        let times = TIMES.map(|time| now.rate(time, scope));
        let total: f64 = sum_known(times.into_iter())?;
        let [user, nice, system, softirq, irq, iowait, steal, idle] =
            times.map(|time| time.and_then(|time| ratio(time, total)));
        Some(CpuShares {
            cpu: object(scope, ScopeKind::Cpu).parse().ok(),
            user_ratio: sum_known([user, nice].into_iter()),
            system_ratio: system,
            softirq_ratio: softirq,
            irq_ratio: irq,
            iowait_ratio: iowait,
            steal_ratio: steal,
            idle_ratio: idle,
        })
    };
    let mut cpus: Vec<CpuShares> = now.scopes(column::CPU_IDLE).into_iter().filter_map(of).collect();
    cpus.sort_by_key(|cpu| cpu.cpu);
    cpus
}

/// All CPUs together.
fn mean(cpus: &[CpuShares]) -> CpuShares {
    let of = |share: fn(&CpuShares) -> Option<f64>| {
        sum_known(cpus.iter().map(share)).and_then(|sum| ratio(sum, cpus.len() as f64))
    };
    CpuShares {
        cpu: None,
        user_ratio: of(|cpu| cpu.user_ratio),
        system_ratio: of(|cpu| cpu.system_ratio),
        softirq_ratio: of(|cpu| cpu.softirq_ratio),
        irq_ratio: of(|cpu| cpu.irq_ratio),
        iowait_ratio: of(|cpu| cpu.iowait_ratio),
        steal_ratio: of(|cpu| cpu.steal_ratio),
        idle_ratio: of(|cpu| cpu.idle_ratio),
    }
}

fn irqs(now: Latest<'_>, cpus: &[CpuShares]) -> Vec<IrqFrame> {
    let mut irqs: Vec<IrqFrame> = Vec::new();
    for scope in now.scopes(column::IRQ) {
        let cell = object(scope, ScopeKind::Irq);
        let Some((line, cpu)) = cell.split_once("/cpu:") else { continue };
        let Some(hz) = now.rate(column::IRQ, scope) else { continue };
        let cpu = cpu.parse().ok();
        let Some(place) = cpus.iter().position(|known| known.cpu == cpu) else { continue };
        let found = irqs.iter().rposition(|irq| irq.line == line).unwrap_or_else(|| {
            irqs.push(IrqFrame { line: line.to_owned(), hz: 0.0, by_cpu_hz: vec![0.0; cpus.len()] });
            irqs.len() - 1
        });
        irqs[found].hz += hz;
        irqs[found].by_cpu_hz[place] += hz;
    }
    irqs.sort_by(|one, other| other.hz.total_cmp(&one.hz));
    irqs.truncate(LINES_MAX);
    irqs
}

fn netdevs(now: Latest<'_>) -> Vec<NetdevFrame> {
    const LOST: [Quantity; 6] = [
        column::NETDEV_RX_DROPPED,
        column::NETDEV_TX_DROPPED,
        column::NETDEV_RX_ERRORS,
        column::NETDEV_TX_ERRORS,
        column::NETDEV_RX_FIFO,
        column::QDISC_DROPS,
    ];
    let of = |scope: &str| NetdevFrame {
        name: object(scope, ScopeKind::Netdev),
        received_bytes_hz: now.rate(column::NETDEV_RX_BYTES, scope),
        sent_bytes_hz: now.rate(column::NETDEV_TX_BYTES, scope),
        received_hz: now.rate(column::NETDEV_RX_PACKETS, scope),
        sent_hz: now.rate(column::NETDEV_TX_PACKETS, scope),
        lost_hz: sum_known(LOST.into_iter().map(|counter| now.rate(counter, scope))),
        backlog_bytes: now.level(column::QDISC_BACKLOG, scope),
        speed_mbps: now.level(column::NETDEV_SPEED, scope),
    };
    let mut netdevs: Vec<NetdevFrame> = now.scopes(column::NETDEV_RX_BYTES).into_iter().map(of).collect();
    let traffic =
        |netdev: &NetdevFrame| netdev.received_bytes_hz.unwrap_or(0.0) + netdev.sent_bytes_hz.unwrap_or(0.0);
    netdevs.sort_by(|one, other| traffic(other).total_cmp(&traffic(one)));
    netdevs.truncate(LINES_MAX);
    netdevs
}

fn listeners(now: Latest<'_>) -> Vec<ListenerFrame> {
    let of = |scope: &str| ListenerFrame {
        address: object(scope, ScopeKind::Listener),
        owner: None,
        queue_count: now.level(column::LISTENER_QUEUE, scope),
        limit_count: now.level(column::LISTENER_LIMIT, scope),
        established_count: now.level(column::CONNECTIONS_ESTABLISHED, scope),
    };
    let mut listeners: Vec<ListenerFrame> = now.scopes(column::LISTENER_QUEUE).into_iter().map(of).collect();
    listeners.retain(|listener| listener.limit_count.is_some());
    let fill = |listener: &ListenerFrame| {
        ratio(listener.queue_count.unwrap_or(0.0), listener.limit_count.unwrap_or(0.0) + 1.0).unwrap_or(0.0)
    };
    listeners.sort_by(|one, other| {
        fill(other).total_cmp(&fill(one)).then_with(|| one.address.cmp(&other.address))
    });
    listeners.dedup_by(|one, other| one.address == other.address);
    listeners.truncate(LINES_MAX);
    listeners
}

fn tcp(now: Latest<'_>) -> TcpFrame {
    TcpFrame {
        established_count: now.level(column::TCP_CURR_ESTAB, NETNS),
        in_use_count: now.level(column::SOCKSTAT_TCP_INUSE, NETNS),
        time_wait_count: now.level(column::SOCKSTAT_TCP_TW, NETNS),
        orphan_count: now.level(column::SOCKSTAT_TCP_ORPHAN, NETNS),
        accepted_hz: now.rate(column::TCP_PASSIVE_OPENS, NETNS),
        sent_hz: now.rate(column::TCP_OUT_SEGS, NETNS),
        retransmitted_hz: now.rate(column::TCP_RETRANS_SEGS, NETNS),
        listen_overflows_hz: now.rate(column::LISTEN_OVERFLOWS, NETNS),
        listen_drops_hz: now.rate(column::LISTEN_DROPS, NETNS),
    }
}

fn disks(now: Latest<'_>) -> Vec<DiskFrame> {
    let of = |scope: &str| DiskFrame {
        name: object(scope, ScopeKind::Disk),
        reads_hz: now.rate(column::DISK_READS, scope),
        writes_hz: now.rate(column::DISK_WRITES, scope),
        flushes_hz: now.rate(column::DISK_FLUSHES, scope),
        read_bytes_hz: now.rate(column::DISK_READ_BYTES, scope),
        written_bytes_hz: now.rate(column::DISK_WRITTEN_BYTES, scope),
        // The kernel counts in steps of its clock, which may be a little more than the time between two readings.
        busy_ratio: now.share(column::DISK_IO, scope).map(|share| share.min(1.0)),
        queue_count: now.share(column::DISK_QUEUE, scope),
    };
    let mut disks: Vec<DiskFrame> = now.scopes(column::DISK_IO).into_iter().map(of).collect();
    let busy = |disk: &DiskFrame| disk.busy_ratio.unwrap_or(0.0);
    disks.sort_by(|one, other| busy(other).total_cmp(&busy(one)));
    disks.truncate(LINES_MAX);
    disks
}

fn memory(now: Latest<'_>) -> MemoryFrame {
    let level = |gauge| now.level(gauge, HOST);
    let swap = [level(column::MEMORY_SWAP_TOTAL), level(column::MEMORY_SWAP_FREE)];
    let pages = |name| now.rate_of(name, HOST).map(|pages| pages * PAGE_BYTES);
    MemoryFrame {
        total_bytes: level(column::MEMORY_TOTAL),
        available_bytes: level(column::MEMORY_AVAILABLE),
        free_bytes: level(column::MEMORY_FREE),
        cached_bytes: level(column::MEMORY_CACHED),
        dirty_bytes: level(column::MEMORY_DIRTY),
        swap_used_bytes: swap[0].zip(swap[1]).map(|(total, free)| (total - free).max(0.0)),
        swapped_in_bytes_hz: pages("vmstat.pswpin"),
        swapped_out_bytes_hz: pages("vmstat.pswpout"),
    }
}

/// What threads do, by column and by the word for it.
const WAITS: [(&str, Quantity); 8] = [
    ("running", column::WAITS_RUNNING),
    ("lock", column::WAITS_LOCK),
    ("disk", column::WAITS_DISK),
    ("timer", column::WAITS_TIMER),
    ("stopped", column::WAITS_STOPPED),
    ("idle", column::WAITS_IDLE),
    ("network", column::WAITS_NETWORK),
    ("other", column::WAITS_OTHER),
];

fn tiers(now: Latest<'_>, watched: &[WatchedProcess]) -> Vec<TierFrame> {
    let mut targets: Vec<&WatchedProcess> =
        watched.iter().filter(|process| process.role == ProcessRole::Target).collect();
    let address = |process: &WatchedProcess| process.tier.as_ref().map(|tier| tier.address.clone());
    let depth = |process: &WatchedProcess| process.tier.as_ref().map_or(0, |tier| tier.depth);
    targets.sort_by_key(|process| depth(process));
    let mut groups: Vec<(Option<Endpoint>, Vec<&WatchedProcess>)> = Vec::new();
    for process in targets {
        match groups.iter_mut().find(|(at, _)| *at == address(process)) {
            Some((_, group)) => group.push(process),
            None => groups.push((address(process), vec![process])),
        }
    }
    let asked: Vec<Endpoint> = groups.iter().filter_map(|(at, _)| at.clone()).collect();
    groups.iter().map(|(at, group)| tier(now, at.as_ref(), group, &asked)).collect()
}

fn tier(now: Latest<'_>, at: Option<&Endpoint>, group: &[&WatchedProcess], asked: &[Endpoint]) -> TierFrame {
    let cpu =
        |process: &&WatchedProcess| now.share(column::PROCESS_CPU, &crate::readings::process_scope(process));
    let living: Vec<f64> = group.iter().filter_map(cpu).collect();
    let own = tier_scope(at);
    let asking = asked
        .iter()
        .filter_map(|other| now.level(column::WAITS_ASKING, &asking_scope(at, other)))
        .fold(0.0, |sum, count| sum + count);
    let known = WAITS.into_iter().filter_map(|(what, gauge)| Some((what, now.level(gauge, &own)?)));
    let mut waits: Vec<WaitFrame> = known
        .chain([("asking", asking)])
        .filter(|(_, count)| *count > 0.0)
        .map(|(what, threads_count)| WaitFrame { what, on: None, threads_count })
        .collect();
    waits.sort_by(|one, other| other.threads_count.total_cmp(&one.threads_count));
    let scopes = match at {
        Some(at) => vec![column::listener_scope(at)],
        None => now
            .scopes(column::CONNECTIONS_ESTABLISHED)
            .into_iter()
            .filter(|scope| !asked.iter().any(|other| column::listener_scope(other) == **scope))
            .map(str::to_owned)
            .collect(),
    };
    let sum = |gauge| sum_known(scopes.iter().map(|scope| now.level(gauge, scope)));
    TierFrame {
        name: group.first().map_or(String::new(), |process| process.command.clone()),
        depth: group.first().and_then(|process| process.tier.as_ref()).map_or(0, |tier| tier.depth),
        processes_count: living.len() as u32,
        cpus: (!living.is_empty()).then(|| living.iter().sum()),
        connections_count: sum(column::CONNECTIONS_ESTABLISHED),
        queue_count: sum(column::LISTENER_QUEUE),
        waits,
    }
}
