//! A host while it is watched: columns, CSV, and the full screen at two sizes, compared with files in `tests/golden`.

use crate::golden;
use sysdyno_record::live::*;
use sysdyno_record::units::{MonoNs, WallNs};
use sysdyno_report::escape;
use sysdyno_report::terminal::Style;
use sysdyno_report::watch::{
    LEAST_COLUMNS, LEAST_ROWS, WatchColumns, WatchGroup, WatchOverlay, WatchScreen, WatchSelection,
    WatchedSample, screen,
};

fn cpu(cpu: Option<u32>, [user, system, softirq, idle]: [f64; 4]) -> CpuShares {
    CpuShares {
        cpu,
        user_ratio: Some(user),
        system_ratio: Some(system),
        softirq_ratio: Some(softirq),
        irq_ratio: Some(0.0),
        iowait_ratio: Some(0.0),
        steal_ratio: Some(0.0),
        idle_ratio: Some(idle),
    }
}

fn netdevs() -> Vec<NetdevFrame> {
    let netdev = |name: &str, received: f64, lost: f64| NetdevFrame {
        name: name.into(),
        received_bytes_hz: Some(received),
        sent_bytes_hz: Some(4.0 * received),
        received_hz: Some(received / 900.0),
        sent_hz: Some(received / 300.0),
        lost_hz: Some(lost),
        backlog_bytes: Some(0.0),
        speed_mbps: Some(1_000.0),
    };
    vec![netdev("eth0", 21_500_000.0, 12.0), netdev("lo", 1_200.0, 0.0)]
}

fn listeners() -> Vec<ListenerFrame> {
    let listener = |address: &str, owner: &str, queue: f64, limit: f64| ListenerFrame {
        address: address.into(),
        owner: Some(owner.into()),
        queue_count: Some(queue),
        limit_count: Some(limit),
        established_count: None,
    };
    vec![
        listener("0.0.0.0:80", "nginx", 512.0, 511.0),
        listener("127.0.0.1:3306", "mariadbd", 0.0, 80.0),
        listener("[::]:22", "sshd", 0.0, 128.0),
    ]
}

fn tiers() -> Vec<TierFrame> {
    let wait = |what, threads_count| WaitFrame { what, on: None, threads_count };
    let tier = |name: &str, depth, cpus, waits| TierFrame {
        name: name.into(),
        depth,
        processes_count: 4,
        cpus: Some(cpus),
        connections_count: Some(32.0),
        queue_count: Some(28.0),
        waits,
    };
    vec![
        tier("nginx", 0, 0.4, vec![]),
        tier("php-fpm8.2", 1, 0.61, vec![wait("asking", 2.0), wait("running", 1.4)]),
    ]
}

fn tcp() -> TcpFrame {
    TcpFrame {
        established_count: Some(164.0),
        in_use_count: Some(190.0),
        time_wait_count: Some(21_033.0),
        orphan_count: Some(0.0),
        accepted_hz: Some(4_100.0),
        sent_hz: Some(51_000.0),
        retransmitted_hz: Some(41.0),
        listen_overflows_hz: Some(7.0),
        listen_drops_hz: Some(7.0),
    }
}

fn disks() -> Vec<DiskFrame> {
    let busy = DiskFrame {
        name: "nvme0n1".into(),
        reads_hz: Some(0.0),
        writes_hz: Some(140.0),
        flushes_hz: Some(35.0),
        read_bytes_hz: Some(0.0),
        written_bytes_hz: Some(5_400_000.0),
        busy_ratio: Some(0.22),
        queue_count: Some(0.3),
    };
    let idle = DiskFrame { name: "loop0".into(), busy_ratio: Some(0.0), ..DiskFrame::default() };
    vec![busy, idle]
}

fn memory() -> MemoryFrame {
    MemoryFrame {
        total_bytes: Some(16.0 * 1024f64.powi(3)),
        available_bytes: Some(9.3 * 1024f64.powi(3)),
        free_bytes: Some(1.1 * 1024f64.powi(3)),
        cached_bytes: Some(7.6 * 1024f64.powi(3)),
        dirty_bytes: Some(33.0 * 1024f64.powi(2)),
        swap_used_bytes: Some(0.0),
        swapped_in_bytes_hz: Some(0.0),
        swapped_out_bytes_hz: None,
    }
}

fn irqs() -> Vec<IrqFrame> {
    let irq = |line: &str, by_cpu_hz: Vec<f64>| IrqFrame {
        line: line.into(),
        hz: by_cpu_hz.iter().sum(),
        by_cpu_hz,
    };
    vec![
        irq("25", vec![31_000.0, 0.0, 0.0, 0.0]),
        irq("LOC", vec![900.0, 1_000.0, 400.0, 250.0]),
        irq("RES", vec![0.0, 300.0, 700.0, 20.0]),
    ]
}

fn processes() -> Vec<ProcessFrame> {
    let wait = |what, threads_count| WaitFrame { what, on: None, threads_count };
    let asking = |on: &str, threads_count| WaitFrame { on: Some(on.into()), ..wait("asking", threads_count) };
    let process = |pid, command: &str, cpus, threads_count, waits| ProcessFrame {
        pid,
        command: command.into(),
        cpus,
        threads_count,
        waits,
    };
    vec![
        process(
            4_194_300,
            "mariadbd",
            1.21,
            40,
            vec![wait("lock", 12.0), wait("running", 1.2), wait("idle", 26.8)],
        ),
        process(812, "php-fpm8.2", 0.61, 1, vec![asking("mariadbd", 0.6), wait("running", 0.3)]),
        process(90, "nginx", 0.4, 1, vec![wait("running", 0.4), wait("runnable", 0.2), wait("idle", 0.4)]),
        process(7, "\u{1b}[2Jx", 0.1, 2, vec![asking("\u{1b}[2J 10.1.2.3:5432", 1.8)]),
        process(8, "java", 0.05, 300, vec![wait("hidden", 299.0)]),
    ]
}

fn threads() -> Vec<ThreadFrame> {
    let thread =
        |pid, command: &str, tid, name: &str, [cpu_ratio, ready_ratio]: [f64; 2], what| ThreadFrame {
            pid,
            command: command.into(),
            tid,
            name: name.into(),
            cpu_ratio,
            ready_ratio,
            waits: vec![
                WaitFrame { what: "running", on: None, threads_count: cpu_ratio },
                WaitFrame { what, on: None, threads_count: 1.0 - cpu_ratio },
            ],
        };
    vec![
        thread(4_194_300, "mariadbd", 4_194_312, "ib_log_writer", [0.71, 0.12], "disk"),
        thread(812, "php-fpm8.2", 812, "php-fpm8.2", [0.61, 0.0], "network"),
        thread(7, "x", 9, "\u{1b}[2Jy", [0.1, 0.0], "lock"),
        thread(8, "java", 11, "idle", [0.0, 0.0], "idle"),
    ]
}

/// A web server whose first CPU does all receive work, at this second.
fn frame(second: u64) -> HostFrame {
    let wave = (second * 7919 % 17) as f64 / 100.0;
    HostFrame {
        unix_ns: WallNs((1_790_000_000 + second) * 1_000_000_000),
        mono_ns: MonoNs(second * 1_000_000_000),
        seconds: 1.0,
        cpu: cpu(None, [0.25 + wave, 0.12, 0.16, 0.47 - wave]),
        cpus: vec![
            cpu(Some(0), [0.02, 0.17, 0.78, 0.03]),
            cpu(Some(1), [0.5, 0.2, 0.01, 0.29]),
            cpu(Some(2), [0.3, 0.1, 0.0, 0.6]),
            cpu(Some(3), [0.25, 0.05, 0.0, 0.7]),
        ],
        kernel: KernelFrame {
            interrupts_hz: Some(48_123.0),
            switches_hz: Some(61_000.0),
            forks_hz: Some(3.0),
            running_count: Some(5.0),
            tasks_count: Some(312.0),
        },
        irqs: irqs(),
        netdevs: netdevs(),
        softnet: SoftnetFrame {
            processed_hz: Some(24_000.0),
            dropped_hz: Some(12.0),
            squeezed_hz: Some(0.0),
        },
        listeners: listeners(),
        tcp: tcp(),
        disks: disks(),
        memory: memory(),
        pressure: PressureFrame {
            cpu_some_ratio: Some(0.31),
            memory_some_ratio: Some(0.0),
            memory_full_ratio: Some(0.0),
            io_some_ratio: Some(0.04),
            io_full_ratio: Some(0.01),
        },
        processes: processes(),
        threads: threads(),
        tiers: tiers(),
        sampler_us: Some(2_100.0),
    }
}

fn finding() -> LiveFinding {
    LiveFinding {
        id: "N04",
        name: "backlog-drops",
        title: "The kernel dropped received packets: 120 packets dropped in the backlog, most on CPU 0"
            .into(),
        meaning: "A CPU's queue of received packets was full, and the kernel dropped packets.",
        remedy: "spread the receive work over more CPUs (RPS, queue interrupts), then raise net.core.netdev_max_backlog",
    }
}

fn samples() -> Vec<WatchedSample> {
    let sample = |second| WatchedSample { frame: frame(second), findings: vec![finding()] };
    (0..90).map(sample).collect()
}

fn view(samples: &[WatchedSample]) -> WatchScreen<'_> {
    WatchScreen {
        host: None,
        hosts_count: 1,
        lost: None,
        samples,
        shown: samples.len().saturating_sub(1),
        is_held: false,
        chosen: 0,
        overlay: WatchOverlay::Panels,
    }
}

fn style(width_columns: usize, rows: usize) -> Style {
    Style { width_columns, rows: Some(rows), ..Style::default() }
}

/// Draws it; every line fits.
fn drawn(view: &WatchScreen<'_>, style: &Style) -> String {
    let lines = screen(view, style);
    assert_eq!(Some(lines.len()), style.rows);
    for line in &lines {
        let plain = golden::without_escapes(line);
        assert!(escape::width(&plain) <= style.width_columns, "{plain}");
        assert!(!plain.contains('\u{1b}'), "{plain}");
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_full_screen_fits_every_terminal() {
    let samples = samples();
    for (columns, rows) in [(80, 24), (200, 50), (60, 12), (119, 31), (500, 200)] {
        let text = drawn(&view(&samples), &style(columns, rows));
        if rows == 24 || rows == 50 {
            golden::compare(&format!("watch-{columns}x{rows}.txt"), &text);
        }
        let ascii = Style { has_unicode: false, ..style(columns, rows) };
        assert!(drawn(&view(&samples), &ascii).is_ascii());
        let colored = drawn(&view(&samples), &Style { has_color: true, ..style(columns, rows) });
        let plain = golden::without_escapes(&colored);
        let without_ends = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(without_ends(&plain), without_ends(&text), "color does not change the text");
    }
    for (columns, rows) in [(LEAST_COLUMNS - 1, 24), (80, LEAST_ROWS - 1), (10, 1)] {
        assert!(drawn(&view(&samples), &style(columns, rows)).starts_with("this need"));
    }
}

#[test]
fn another_sample_says_how_far_back_it_is() {
    let samples = samples();
    let back = WatchScreen { shown: 20, is_held: true, ..view(&samples) };
    let text = drawn(&back, &style(80, 24));
    assert!(text.contains("held, 1:09 back"), "{text}");
    let nothing = WatchScreen { shown: 7, ..view(&[]) };
    assert!(drawn(&nothing, &style(80, 24)).starts_with("the first sample"));
}

#[test]
fn the_busiest_threads_are_listed_in_place_of_the_panels() {
    let samples = samples();
    let listed = WatchScreen { overlay: WatchOverlay::Threads, ..view(&samples) };
    golden::compare("watch-threads-80x24.txt", &drawn(&listed, &style(80, 24)));
    assert!(drawn(&listed, &style(60, 12)).contains("ib_log_writer"));
}

#[test]
fn a_finding_is_explained_in_place_of_the_panels() {
    let samples = samples();
    let text = drawn(&WatchScreen { overlay: WatchOverlay::Finding, ..view(&samples) }, &style(80, 24));
    for part in ["A CPU's queue of received", "netdev_max_backlog", "sysdyno explain N04", "► ▲ The kernel"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let keys = drawn(&WatchScreen { overlay: WatchOverlay::Keys, ..view(&samples) }, &style(80, 24));
    assert!(keys.contains("explain the chosen finding"), "{keys}");
    let calm = [WatchedSample { frame: frame(1), findings: vec![] }];
    assert!(drawn(&view(&calm), &style(80, 24)).contains("nothing is at its limit"));
    let none = WatchScreen { overlay: WatchOverlay::Finding, chosen: 9, ..view(&calm) };
    assert!(drawn(&none, &style(80, 24)).contains("no finding now"));
}

#[test]
fn a_host_that_tells_nothing_has_a_screen_too() {
    let nothing = [WatchedSample { frame: HostFrame::default(), findings: vec![] }];
    drawn(&view(&nothing), &style(80, 24));
}

const ALL: &[WatchGroup] = &[
    WatchGroup::Time,
    WatchGroup::Cpu,
    WatchGroup::Disk,
    WatchGroup::Net,
    WatchGroup::Paging,
    WatchGroup::System,
    WatchGroup::Irq,
    WatchGroup::Memory,
    WatchGroup::Processes,
    WatchGroup::Tcp,
    WatchGroup::Softnet,
    WatchGroup::Pressure,
    WatchGroup::Top,
];

fn columns(groups: &[WatchGroup]) -> WatchColumns {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let selection = WatchSelection {
        cpus: names(&["0", "total", "64"]),
        disks: names(&["nvme0n1"]),
        netdevs: names(&["eth0", "total"]),
        irqs: names(&["25", "LOC"]),
    };
    WatchColumns::new(groups, &selection)
}

#[test]
fn columns_stand_below_their_heads() {
    let columns = columns(ALL);
    let file = Style::default();
    let [titles, heads] = columns.header(&file);
    let lines = [
        titles,
        heads,
        columns.line(None, &frame(1), &file),
        columns.line(None, &HostFrame::default(), &file),
    ];
    let widths: Vec<usize> = lines.iter().map(|line| escape::width(line)).collect();
    assert_eq!(widths, vec![widths[0]; 4], "{lines:#?}");
    golden::compare("watch-columns.txt", &(lines.join("\n") + "\n"));
}

#[test]
fn a_terminal_shows_the_columns_that_it_has_room_for() {
    let columns = columns(ALL);
    let [titles, heads] = columns.header(&style(80, 24));
    assert!(titles.ends_with('>') && escape::width(&titles) <= 81, "{titles}");
    assert!(escape::width(&columns.line(None, &frame(1), &style(80, 24))) < escape::width(&heads));
}

#[test]
fn csv_has_a_value_below_each_name_and_nothing_for_what_is_missing() {
    let columns = columns(ALL);
    let csv = [
        columns.csv_header(),
        columns.csv_line(None, &frame(1)),
        columns.csv_line(None, &HostFrame::default()),
    ];
    let fields: Vec<usize> = csv.iter().map(|line| line.split(',').count()).collect();
    assert_eq!(fields, vec![fields[0]; 3], "{csv:#?}");
    golden::compare("watch-columns.csv", &(csv.join("\n") + "\n"));
}

#[test]
fn hosts_that_were_named_are_told_apart_and_a_lost_one_says_why() {
    let columns = WatchColumns::new(&[WatchGroup::Cpu], &WatchSelection::default());
    let columns = columns.of_hosts(&["web1".to_owned(), "x\u{1b}[2J".to_owned()]);
    let [_, heads] = columns.header(&style(80, 24));
    let line = columns.line(Some("web1"), &frame(1), &style(80, 24));
    assert!(heads.starts_with("host ") && line.starts_with("web1 "), "{heads}\n{line}");
    let hostile = columns.line(Some("x\u{1b}[2J"), &frame(1), &style(80, 24));
    assert!(!hostile.contains('\u{1b}'), "{hostile:?}");
    let csv = [columns.csv_header(), columns.csv_line(Some("web1"), &frame(1))];
    assert!(csv[0].starts_with("time,host,") && csv[1].contains(",\"web1\","), "{csv:?}");

    let samples = samples();
    let lost =
        WatchScreen { host: Some("web1"), lost: Some("cannot hear from host 'web1'"), ..view(&samples) };
    let head = &screen(&lost, &style(100, 24))[0];
    assert!(head.contains("sysdyno watch web1") && head.contains("cannot hear from host 'web1'"), "{head}");
    let two = WatchScreen { host: Some("netns:web-server-1"), hosts_count: 2, lost: None, ..lost };
    assert!(screen(&two, &style(80, 24))[0].contains("? keys  Tab: 2 hosts"));
    let none = WatchScreen { samples: &[], ..lost };
    assert!(screen(&none, &style(100, 24))[0].contains("cannot hear from"));
}
