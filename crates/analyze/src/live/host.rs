//! The server's host while a run lasts: what it did in the last second, and which limits its readings show.

use super::frame::frame;
use super::now::Latest;
use super::{HostReadings, cpu_uses};
use crate::findings::seen_now;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::live::{HostFrame, LiveFinding};
use sysdyno_record::metrics::MetricFamily;
use sysdyno_record::progress::{CpuUses, RunNow, SeenLimit};
use sysdyno_record::series::Series;
use sysdyno_record::units::{MonoNs, SpanNs, WallNs};

/// What rates are measured over, at least.
const RATE_SPAN: SpanNs = SpanNs::from_millis(1_000);

/// What findings look at: as much as they do in a host that is watched.
const FINDING_SPAN: SpanNs = SpanNs::from_millis(10_000);

/// Most tiers that have a series.
const TIERS_MAX: usize = 32;

/// Most devices, and most listeners, that have a series.
const SERIES_MAX: usize = 16;

/// The server's host now.
#[derive(Clone, Debug, PartialEq)]
pub struct HostNow {
    /// What it did in the last second. Processes and threads are not listed: listing them costs too much during a load.
    pub frame: HostFrame,
    /// What its readings of the last ten seconds show, the strongest sign first. Whether requests wait for it is judged later.
    pub seen: Vec<LiveFinding>,
    /// Who uses its CPUs, and what the generator uses.
    pub uses: CpuUses,
}

/// The host of these readings, at this time of the wall clock, and the generator by its own; `None`: the host was not read for a
/// second yet.
pub fn host_now(
    server: HostReadings<'_>,
    generator: &Series,
    watched: &[WatchedProcess],
    at: WallNs,
) -> Option<HostNow> {
    let series = server.series;
    let now = Latest { series, apart: RATE_SPAN };
    if now.passed_seconds() <= 0.0 {
        return None;
    }
    let [first, last] = [series.windows().first()?[0], series.windows().last()?[1]];
    let begin = MonoNs(last.0.saturating_sub(FINDING_SPAN.0)).max(first);
    let frame = HostFrame { unix_ns: at, ..frame(now, watched) };
    let uses = cpu_uses(server, generator, watched);
    Some(HostNow { frame, seen: seen_now(series, watched, [begin, last]), uses })
}

impl HostNow {
    /// As much of it as whoever follows the folder of the run is told.
    pub fn told(&self) -> RunNow {
        let limit = |finding: &LiveFinding| SeenLimit {
            id: finding.id.to_owned(),
            name: finding.name.to_owned(),
            title: finding.title.clone(),
        };
        let seen = self.seen.iter().map(limit).collect();
        RunNow { mono_ns: self.frame.mono_ns, uses: self.uses.clone(), seen }
    }

    /// The host as metrics.
    pub(super) fn families(&self) -> Vec<MetricFamily> {
        let frame = &self.frame;
        let mut seen = MetricFamily::gauge(
            "sysdyno_seen",
            "1 for each limit that readings of the server's host show now.",
        );
        for finding in &self.seen {
            seen = seen.with(&[("id", finding.id), ("name", finding.name)], Some(1.0));
        }
        let mut cpu = MetricFamily::gauge(
            "sysdyno_host_cpu_ratio",
            "Share of the time of all CPUs of the server's host.",
        );
        let shares = &frame.cpu;
        for (mode, share) in [
            ("user", shares.user_ratio),
            ("system", shares.system_ratio),
            ("softirq", shares.softirq_ratio),
            ("irq", shares.irq_ratio),
            ("iowait", shares.iowait_ratio),
            ("steal", shares.steal_ratio),
        ] {
            cpu = cpu.with(&[("mode", mode)], share);
        }
        let mut pressure =
            MetricFamily::gauge("sysdyno_host_pressure_ratio", "Share of the time in which a task waited.");
        for (resource, share) in [
            ("cpu", frame.pressure.cpu_some_ratio),
            ("memory", frame.pressure.memory_some_ratio),
            ("io", frame.pressure.io_some_ratio),
        ] {
            pressure = pressure.with(&[("resource", resource)], share);
        }
        let available = frame.memory.available_bytes;
        let memory = MetricFamily::gauge(
            "sysdyno_host_memory_available_bytes",
            "Memory that programs could still get.",
        );
        let mut families = vec![seen, cpu, pressure, memory.with(&[], available)];
        families.extend(self.cpus());
        families.extend(self.network());
        families.extend(self.disks());
        families
    }

    fn cpus(&self) -> Vec<MetricFamily> {
        let mut tiers = MetricFamily::gauge("sysdyno_server_cpus", "CPUs that a tier of the server uses.");
        for (position, tier) in self.uses.tiers.iter().take(TIERS_MAX).enumerate() {
            let position = position.to_string();
            tiers = tiers.with(&[("tier", &tier.name), ("position", &position)], Some(tier.cpus));
        }
        let host = self.uses.host_cpus_count.map(f64::from);
        vec![
            tiers,
            MetricFamily::gauge("sysdyno_other_cpus", "CPUs that everything else on the server's host uses.")
                .with(&[], self.uses.other_cpus),
            MetricFamily::gauge("sysdyno_generator_cpus", "CPUs that sysdyno uses.")
                .with(&[], self.uses.generator_cpus),
            MetricFamily::gauge("sysdyno_host_cpus", "CPUs of the server's host.").with(&[], host),
        ]
    }

    fn network(&self) -> Vec<MetricFamily> {
        let mut traffic =
            MetricFamily::gauge("sysdyno_host_network_bytes_hz", "Bytes per second of an interface.");
        let mut lost =
            MetricFamily::gauge("sysdyno_host_network_lost_hz", "Packets per second that an interface lost.");
        for device in self.frame.netdevs.iter().take(SERIES_MAX) {
            let name = ("device", device.name.as_str());
            traffic = traffic.with(&[name, ("direction", "received")], device.received_bytes_hz);
            traffic = traffic.with(&[name, ("direction", "sent")], device.sent_bytes_hz);
            lost = lost.with(&[name], device.lost_hz);
        }
        let mut queue =
            MetricFamily::gauge("sysdyno_host_listener_queue", "Connections that wait to be accepted.");
        let mut limit = MetricFamily::gauge("sysdyno_host_listener_limit", "How many of these there may be.");
        for listener in self.frame.listeners.iter().take(SERIES_MAX) {
            let address = ("address", listener.address.as_str());
            queue = queue.with(&[address], listener.queue_count);
            limit = limit.with(&[address], listener.limit_count);
        }
        let tcp = &self.frame.tcp;
        let again = MetricFamily::gauge(
            "sysdyno_host_tcp_retransmitted_hz",
            "Segments per second that were sent again.",
        );
        let drops = MetricFamily::gauge(
            "sysdyno_host_listen_drops_hz",
            "Connections per second dropped at a listener.",
        );
        let (again, drops) = (again.with(&[], tcp.retransmitted_hz), drops.with(&[], tcp.listen_drops_hz));
        vec![traffic, lost, queue, limit, again, drops]
    }

    fn disks(&self) -> Vec<MetricFamily> {
        let mut busy = MetricFamily::gauge(
            "sysdyno_host_disk_busy_ratio",
            "Share of the time in which a disk was busy.",
        );
        let mut flushes =
            MetricFamily::gauge("sysdyno_host_disk_flushes_hz", "Flushes per second of a disk.");
        for disk in self.frame.disks.iter().take(SERIES_MAX) {
            busy = busy.with(&[("device", disk.name.as_str())], disk.busy_ratio);
            flushes = flushes.with(&[("device", disk.name.as_str())], disk.flushes_hz);
        }
        vec![busy, flushes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::column;
    use sysdyno_record::progress::CpuUse;
    use sysdyno_record::series::{Row, SeriesLine};

    /// Ten rows a second, in which a CPU is half busy and drops a packet each time.
    fn read(rows: u64) -> Series {
        let columns = vec![
            column::CPU_USER.of("cpu:0"),
            column::CPU_IDLE.of("cpu:0"),
            column::SOFTNET_DROPPED.of("cpu:0"),
            column::MEMORY_AVAILABLE.of(column::HOST),
            column::NETDEV_RX_BYTES.of("netdev:lo"),
        ];
        let mut series = Series::default();
        series.push(SeriesLine::header(columns));
        for row in 0..rows {
            let at = MonoNs((row + 1) * 100_000_000);
            let grown = |each: f64| Some(row as f64 * each);
            // Memory is read once a second only.
            let memory = (row % 10 == 0).then_some(1e9);
            // On a host that is busy, what costs much is read every five seconds only.
            let received = grown(1_000.0).filter(|_| row % 50 == 0);
            let values = vec![grown(50_000.0), grown(50_000.0), grown(1.0), memory, received];
            series.push(SeriesLine::Row(Row::sample(at, at, values)));
        }
        series
    }

    #[test]
    fn rates_are_of_a_second_and_what_is_read_rarely_stays_known() {
        let now =
            |series: &Series| host_now(HostReadings { series, has_generator: true }, series, &[], WallNs(7));
        assert_eq!(now(&read(10)), None, "0.9 s is no second");
        let now = now(&read(28)).expect("was read for long enough");
        assert_eq!((now.uses.host_cpus_count, now.told().seen.len()), (Some(1), 1));
        assert!((now.frame.seconds - 1.0).abs() < 1e-9 && now.frame.unix_ns == WallNs(7));
        assert!(now.frame.cpu.user_ratio.is_some_and(|share| (share - 0.5).abs() < 1e-9));
        assert_eq!(now.frame.softnet.dropped_hz.map(f64::round), Some(10.0));
        assert_eq!(now.frame.memory.available_bytes, Some(1e9));
        assert_eq!(now.frame.netdevs[0].received_bytes_hz, None, "was read once");
        assert_eq!(now.seen.iter().map(|finding| finding.id).collect::<Vec<_>>(), ["N04"]);
        let families = now.families();
        let seen = families.iter().find(|family| family.name == "sysdyno_seen").expect("is there");
        assert_eq!(seen.points.len(), 1);
    }

    #[test]
    fn what_a_busy_host_is_asked_for_every_five_seconds_keeps_its_rate() {
        for rows in [51, 75, 100, 149] {
            let series = read(rows);
            let now =
                host_now(HostReadings { series: &series, has_generator: true }, &series, &[], WallNs(7));
            let received = now.expect("was read for long enough").frame.netdevs[0].received_bytes_hz;
            assert_eq!(received.map(f64::round), Some(10_000.0), "after {rows} rows");
        }
    }

    #[test]
    fn tiers_with_one_name_are_different_series() {
        let tier = CpuUse { name: "java".into(), cpus: 0.5 };
        let uses = CpuUses { tiers: vec![tier.clone(), tier], ..CpuUses::default() };
        let families = HostNow { frame: HostFrame::default(), seen: Vec::new(), uses }.families();
        let tiers = families.iter().find(|family| family.name == "sysdyno_server_cpus").expect("is there");
        let points = &tiers.points;
        assert_ne!(points[0].labels, points[1].labels);
    }
}
