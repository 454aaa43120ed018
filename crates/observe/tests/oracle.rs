//! Our parsers against those of the crate `procfs`, on the same bytes of the live `/proc`.

use procfs::net::{InterfaceDeviceStatus, Snmp, TcpNetEntries, TcpState};
use procfs::prelude::*;
use procfs::process::{LimitValue, Limits, Schedstat, Stat, Status};
use procfs::{CpuPressure, DiskStats, KernelStats, Meminfo, VmStat};
use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::net::SocketAddr;
use sysdyno_observe::source::limits::Limit;
use sysdyno_observe::source::named::Picker;
use sysdyno_observe::source::{
    diskstats, limits, net_dev, net_tcp, pid_stat, pid_status, pressure, schedstat, snmp, stat,
};

fn read(path: &str) -> Vec<u8> {
    std::fs::read(format!("/proc/{path}")).expect("this kernel has it")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn cpus_agree() {
    let bytes = read("stat");
    let theirs = KernelStats::from_read(Cursor::new(&bytes), procfs::current_system_info()).expect("parses");
    let mut ours = stat::Stat::default();
    stat::parse(&bytes, &mut ours).expect("parses");
    let of_theirs = theirs.cpu_time.iter().map(|cpu| {
        let later = [cpu.iowait, cpu.irq, cpu.softirq, cpu.steal].map(|ticks| ticks.unwrap_or(0));
        [[cpu.user, cpu.nice, cpu.system, cpu.idle], later].concat()
    });
    assert!(ours.cpus.iter().map(|cpu| cpu.ticks.to_vec()).eq(of_theirs));
    assert_eq!(ours.context_switches_count, Some(theirs.ctxt));
    assert_eq!(ours.forks_count, Some(theirs.processes));
    assert_eq!(ours.running_count, theirs.procs_running.map(u64::from));
    assert_eq!(ours.boot_unix_s, Some(theirs.btime));
}

#[test]
fn disks_agree() {
    let bytes = read("diskstats");
    let theirs = DiskStats::from_buf_read(Cursor::new(&bytes)).expect("parses").0;
    let mut theirs = theirs.iter();
    diskstats::parse(&bytes, |ours| {
        let their = theirs.next().expect("as many devices");
        assert_eq!(text(ours.name), their.name);
        let of_ours = [
            ours.reads_count,
            ours.read_sectors,
            ours.writes_count,
            ours.written_sectors,
            ours.in_flight_count,
        ];
        let of_theirs =
            [their.reads, their.sectors_read, their.writes, their.sectors_written, their.in_progress];
        assert_eq!(of_ours, of_theirs);
        assert_eq!([ours.io_ms, ours.queue_ms], [their.time_in_progress, their.weighted_time_in_progress]);
        assert_eq!(ours.read_ms, their.time_reading);
        assert_eq!([ours.flushes_count, ours.flush_ms], [their.flushes, their.time_flushing]);
    })
    .expect("parses");
    assert!(theirs.next().is_none());
}

#[test]
fn interfaces_agree() {
    let bytes = read("net/dev");
    let theirs = InterfaceDeviceStatus::from_buf_read(Cursor::new(&bytes)).expect("parses").0;
    let mut count = 0;
    net_dev::parse(&bytes, |ours| {
        count += 1;
        let their = &theirs[&text(ours.name)];
        let received = [
            ours.rx_bytes,
            ours.rx_packets_count,
            ours.rx_errors_count,
            ours.rx_dropped_count,
            ours.rx_fifo_count,
        ];
        let sent = [ours.tx_bytes, ours.tx_packets_count, ours.tx_errors_count, ours.tx_dropped_count];
        assert_eq!(
            received,
            [their.recv_bytes, their.recv_packets, their.recv_errs, their.recv_drop, their.recv_fifo]
        );
        assert_eq!(sent, [their.sent_bytes, their.sent_packets, their.sent_errs, their.sent_drop]);
    })
    .expect("parses");
    assert_eq!(count, theirs.len());
}

#[test]
fn protocol_counters_agree() {
    let bytes = read("net/snmp");
    let theirs = Snmp::from_read(Cursor::new(&bytes)).expect("parses");
    let mut ours = HashMap::new();
    snmp::parse(&bytes, &mut Vec::new(), |section| {
        for (name, value) in section.names().zip(section.values) {
            ours.insert(format!("{}.{}", text(section.protocol), text(name)), *value);
        }
    })
    .expect("parses");
    let check = |name: &str, their: u64| assert_eq!(ours[name], Some(their), "{name}");
    check("Ip.InReceives", theirs.ip_in_receives);
    check("Tcp.PassiveOpens", theirs.tcp_passive_opens);
    check("Tcp.CurrEstab", theirs.tcp_curr_estab);
    check("Tcp.RetransSegs", theirs.tcp_retrans_segs);
    check("Tcp.OutRsts", theirs.tcp_out_rsts);
    check("Udp.RcvbufErrors", theirs.udp_rcvbuf_errors);
}

#[test]
fn memory_agrees() {
    let bytes = read("meminfo");
    let theirs = Meminfo::from_read(Cursor::new(&bytes)).expect("parses");
    let mut picker = Picker::new(&["MemTotal", "MemAvailable", "Dirty", "Slab", "SwapFree"]);
    picker.parse(&bytes).expect("parses");
    let of_theirs = [
        Some(theirs.mem_total),
        theirs.mem_available,
        Some(theirs.dirty),
        Some(theirs.slab),
        Some(theirs.swap_free),
    ];
    let of_ours: Vec<Option<u64>> =
        picker.values().iter().map(|value| value.map(|kibibytes| kibibytes * 1024)).collect();
    assert_eq!(of_ours, of_theirs);

    let bytes = read("vmstat");
    let theirs = VmStat::from_read(Cursor::new(&bytes)).expect("parses").0;
    let mut picker = Picker::new(&["pgfault", "pgmajfault", "pswpout", "oom_kill", "nr_dirtied"]);
    picker.parse(&bytes).expect("parses");
    for (name, ours) in picker.names().iter().zip(picker.values()) {
        assert_eq!(ours.map(|value| value as i64), theirs.get(*name).copied(), "{name}");
    }
}

#[test]
fn pressure_agrees_where_there_is_any() {
    let Ok(bytes) = std::fs::read("/proc/pressure/cpu") else { return };
    let theirs = CpuPressure::from_read(Cursor::new(&bytes)).expect("parses");
    assert_eq!(pressure::parse(&bytes).expect("parses").some_us, Some(theirs.some.total));
}

#[test]
fn every_process_agrees() {
    let mut compared = 0;
    for entry in std::fs::read_dir("/proc").expect("lists").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.parse::<u32>().is_ok() && compare_process(&name).is_some() {
            compared += 1;
        }
    }
    assert!(compared > 0, "this process is one of them");
}

/// `None`: the process ended meanwhile.
fn compare_process(pid: &str) -> Option<()> {
    // Some files of a process that has just ended can be read and are empty.
    let file =
        |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).ok().filter(|bytes| !bytes.is_empty());
    let (stat, status, limits, schedule) =
        (file("stat")?, file("status")?, file("limits")?, file("schedstat")?);
    let theirs = Stat::from_read(Cursor::new(&stat)).expect("parses");
    let ours = pid_stat::parse(&stat).expect("parses");
    assert_eq!((ours.pid as i32, ours.parent_pid as i32), (theirs.pid, theirs.ppid));
    assert_eq!((text(ours.command), ours.state as char), (theirs.comm, theirs.state));
    assert_eq!((ours.user_ticks, ours.system_ticks), (theirs.utime, theirs.stime));
    assert_eq!((ours.threads_count as i64, ours.start_ticks), (theirs.num_threads, theirs.starttime));
    assert_eq!((ours.rss_pages, ours.major_faults_count), (theirs.rss, theirs.majflt));

    let theirs = Status::from_read(Cursor::new(&status)).expect("parses");
    let ours = pid_status::parse(&status).expect("parses");
    assert_eq!(Some(ours.voluntary_count), theirs.voluntary_ctxt_switches);
    assert_eq!(Some(ours.involuntary_count), theirs.nonvoluntary_ctxt_switches);

    let theirs = Limits::from_read(Cursor::new(&limits)).expect("parses").max_open_files;
    let ours = limits::parse_open_files(&limits).expect("parses");
    let of_theirs = |value| match value {
        LimitValue::Unlimited => Limit::Unlimited,
        LimitValue::Value(count) => Limit::At(count),
    };
    assert_eq!((ours.soft, ours.hard), (of_theirs(theirs.soft_limit), of_theirs(theirs.hard_limit)));

    let theirs = Schedstat::from_read(Cursor::new(&schedule)).expect("parses");
    let ours = schedstat::parse(&schedule).expect("parses");
    assert_eq!(
        (ours.cpu_ns, ours.run_delay_ns, ours.slices_count),
        (theirs.sum_exec_runtime, theirs.run_delay, theirs.pcount)
    );
    Some(())
}

#[test]
fn listening_sockets_agree() {
    let _one = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let bytes = read("net/tcp");
    let theirs =
        TcpNetEntries::from_read(Cursor::new(&bytes), procfs::current_system_info()).expect("parses").0;
    let listening = theirs.iter().filter(|entry| entry.state == TcpState::Listen);
    let theirs: HashSet<(SocketAddr, u64)> =
        listening.map(|entry| (entry.local_address, entry.inode)).collect();
    let ours = net_tcp::parse(&bytes).expect("parses");
    assert!(!ours.is_empty());
    assert_eq!(ours.iter().map(|socket| (socket.address, socket.inode)).collect::<HashSet<_>>(), theirs);
}
