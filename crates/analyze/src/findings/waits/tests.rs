//! Waits of threads in paths that are known.

use super::super::tests::{conclude, slow};
use crate::corpus::{Specimen, TARGET, spread, with_tier};
use sysdyno_record::analysis::{Confidence, Finding};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::LatencyKind;

const PHP: &str = "tier:127.0.0.1:9000";
const DATABASE: &str = "tier:127.0.0.1:3306";

fn find(id: &str, case: Specimen) -> Option<Finding> {
    conclude(case).into_iter().find(|finding| finding.id == id)
}

/// php-fpm has 40 workers, all of which ask the database; 160 requests wait for one.
fn behind(case: Specimen) -> Specimen {
    let case = with_tier(case, "php-fpm", "127.0.0.1:9000", 1, TARGET);
    with_tier(case, "mariadbd", "127.0.0.1:3306", 2, TARGET + 100)
        .gauge("waits.threads_count", PHP, 40.0)
        .gauge("waits.asking_count", &format!("{PHP}>127.0.0.1:3306"), 40.0)
        .gauge("listener.queue_count", "listener:127.0.0.1:9000", 160.0)
        .gauge("connections.established_count", "listener:127.0.0.1:3306", 40.0)
        .gauge("waits.threads_count", DATABASE, 40.0)
}

fn idle(case: Specimen) -> Specimen {
    case.cpu(0.05, 0.05, 0.01).server(0.05)
}

#[test]
fn the_last_tier_has_the_cause_and_the_queues_before_it_belong_to_it() {
    let locked = || behind(idle(slow())).gauge("waits.lock_count", DATABASE, 40.0);
    let finding = find("F07", locked()).expect("a finding");
    assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
    assert!(finding.title.starts_with("Requests wait for a lock: mariadbd waits for a lock"), "{finding:?}");
    assert!(finding.explained_ratio.is_some_and(|part| part > 0.5), "the queue of php-fpm comes of it");
    assert!(finding.title.contains(", and requests queue behind that for "), "{finding:?}");
    let column = finding.evidence[0].column.as_deref();
    assert_eq!(column, Some("waits.lock_count@tier:127.0.0.1:3306"));
    let half = behind(idle(slow())).gauge("waits.lock_count", DATABASE, 1.0);
    assert_eq!(find("F07", half).map(|finding| finding.confidence), Some(Confidence::Excluded));
    let busy = find("F07", locked().cpu(0.6, 0.3, 0.05).server(1.8)).expect("a finding");
    assert_eq!(busy.confidence, Confidence::Possible, "threads that hold a lock need a CPU");
}

#[test]
fn a_lock_whose_holder_is_at_the_disk_is_the_disks() {
    let case = |at_disk: f64| {
        let case = behind(idle(slow())).gauge("waits.lock_count", DATABASE, 30.0);
        case.gauge("waits.disk_count", DATABASE, at_disk)
    };
    let disk = find("D03", case(0.9)).expect("a finding");
    assert_eq!(disk.confidence, Confidence::Likely, "{disk:?}");
    assert!(disk.title.contains(", and for a lock whose holder waits for it "), "{disk:?}");
    let lock = find("F07", case(0.9)).expect("a finding");
    assert_eq!(lock.confidence, Confidence::Excluded, "{lock:?}");
    assert_eq!(find("F07", case(0.3)).map(|finding| finding.confidence), Some(Confidence::Likely));
    assert_eq!(find("D03", case(0.3)).map(|finding| finding.confidence), Some(Confidence::Excluded));
}

#[test]
fn who_holds_a_lock_of_a_file_and_is_no_part_of_the_server_is_named() {
    let mut case = behind(idle(slow())).gauge("waits.lock_count", PHP, 40.0);
    let holder = WatchedProcess::new(TARGET + 70, 1, "cron", ProcessRole::Foreign);
    case.watched.push(WatchedProcess { holds_lock: true, ..holder.clone() });
    let found = find("F07", case).expect("a finding");
    let end = format!(
        "; 'cron' (process {}), which is not part of the server, holds a file lock that the server waits for",
        holder.pid
    );
    assert!(found.title.ends_with(&end), "{found:?}");
    assert!(
        found.remedy.is_some_and(|remedy| remedy.starts_with("let 'cron' hold its lock for a shorter time"))
    );
    let mut case = behind(idle(slow())).gauge("waits.lock_count", PHP, 40.0);
    case.watched.push(holder);
    assert!(find("F07", case).is_some_and(|found| !found.title.contains("cron")), "it holds none");
}

#[test]
fn each_kind_of_wait_has_its_diagnosis() {
    let kinds = [("D03", "waits.disk_count"), ("F13", "waits.timer_count"), ("F16", "waits.process_count")];
    for (id, gauge) in kinds {
        let finding = find(id, behind(idle(slow())).gauge(gauge, DATABASE, 40.0)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
    }
    let elsewhere = behind(idle(slow())).gauge("waits.network_count", PHP, 40.0);
    assert!(
        find("A05", elsewhere).is_some_and(|finding| finding.title.contains("php-fpm waits for a service"))
    );
}

#[test]
fn connects_that_nobody_answers_are_told_with_their_address() {
    let scope = format!("{PHP}>10.1.2.3:2003");
    let case = |connecting: f64| {
        let case = with_tier(idle(slow()), "php-fpm", "127.0.0.1:9000", 1, TARGET)
            .gauge("waits.threads_count", PHP, 200.0)
            .gauge("waits.asking_count", &scope, 200.0)
            .gauge("asked.connecting_count", &scope, connecting);
        find("A05", case).expect("a finding")
    };
    let dead = case(150.0);
    assert!(dead.confidence >= Confidence::Likely, "{dead:?}");
    let begin =
        "Requests wait for 10.1.2.3:2003, where nobody answers connects: php-fpm waits for 10.1.2.3:2003 ";
    assert!(dead.title.starts_with(begin), "{dead:?}");
    assert!(dead.remedy.is_some_and(|remedy| remedy.contains("a firewall that drops them")));
    let late = case(0.0);
    let begin = "Requests wait for 10.1.2.3:2003: php-fpm waits for 10.1.2.3:2003 ";
    assert!(late.title.starts_with(begin), "{late:?}");
    let column = late.evidence[0].column.as_deref();
    assert_eq!(column, Some("waits.asking_count@tier:127.0.0.1:9000>10.1.2.3:2003"));
}

#[test]
fn a_log_that_is_not_read_and_a_file_system_beside_idle_disks_are_told() {
    let case = with_tier(idle(slow()), "php-fpm", "127.0.0.1:9000", 1, TARGET)
        .gauge("waits.threads_count", PHP, 200.0)
        .gauge("waits.asking_count", &format!("{PHP}>unix:/dev/log"), 200.0);
    let found = find("A05", case).expect("a finding");
    let begin = "Requests wait for /dev/log, whose reader does not keep up: php-fpm waits for /dev/log ";
    assert!(found.title.starts_with(begin), "{found:?}");
    let frozen = |busy_ms| {
        let case = behind(idle(slow())).gauge("waits.disk_count", DATABASE, 40.0);
        find("D03", case.counter("disk.io_ms", "disk:vda", busy_ms)).expect("a finding")
    };
    assert!(frozen(5.0).title.starts_with("Requests wait for a file system, while no disk is busy: "));
    assert!(frozen(5.0).remedy.is_some_and(|remedy| remedy.contains("fsfreeze")));
    assert!(frozen(600.0).title.starts_with("Requests wait for a disk: "));
}

#[test]
fn a_name_server_that_is_waited_for_is_called_one() {
    let case = with_tier(idle(slow()), "php-fpm", "127.0.0.1:9000", 1, TARGET)
        .gauge("waits.threads_count", PHP, 200.0)
        .gauge("waits.asking_count", &format!("{PHP}>10.1.2.3:53"), 200.0);
    let found = find("A05", case).expect("a finding");
    let begin = "Requests wait for name server 10.1.2.3, which answers late or never: php-fpm waits for name server \
                 10.1.2.3 ";
    assert!(found.title.starts_with(begin), "{found:?}");
    assert!(found.remedy.is_some_and(|remedy| remedy.contains("/etc/resolv.conf")));
}

#[test]
fn a_server_that_is_fast_enough_waits_as_it_likes() {
    let case = || idle(Specimen::open(2000.0, 10.0));
    let waiting = with_tier(case(), "php-fpm", "127.0.0.1:9000", 1, TARGET)
        .gauge("waits.threads_count", PHP, 2.0)
        .gauge("waits.timer_count", PHP, 2.0);
    assert_eq!(find("F13", waiting).map(|finding| finding.confidence), Some(Confidence::Excluded));
    assert!(find("F13", case()).is_none(), "nobody looked");
}

#[test]
fn what_is_told_of_a_lock_depends_on_who_waits_for_it() {
    let asked = "tier:target>127.0.0.1:3306";
    let case = |at_a_time: f64| {
        let waiting_ns = at_a_time / 2000.0 * 1e9;
        let case = with_tier(idle(slow()), "mariadbd", "127.0.0.1:3306", 1, TARGET)
            .edit(|case| case.fill(LatencyKind::Service, spread(20_000, 100e6)))
            .gauge("waits.threads_count", "tier:target", 300.0)
            .gauge("waits.lock_count", "tier:target", 300.0)
            .requests("tier:target", [1e3, 110e6])
            .per_request(asked, &[("asked.sent_count", 1.0), ("asked.merged_count", 0.0)])
            .per_request(asked, &[("asked.waiting_ns", waiting_ns), ("asked.trailing_ns", 0.0)])
            .per_request(asked, &[("asked.unread_ns", 0.0)]);
        find("F07", case).expect("a finding")
    };
    let pool = case(2.0);
    assert!(pool.title.ends_with(", while 2.0 at a time are at mariadbd"), "{pool:?}");
    assert!(pool.remedy.is_some_and(|remedy| remedy.contains("a pool of that many connections to mariadbd")));
    let lock = case(0.1);
    assert!(!lock.title.contains("at a time"), "{lock:?}");
    assert_eq!(lock.remedy.as_deref(), Some(super::LOCK.remedy));
    assert!(super::lock_remedy("php-fpm8.2").contains("session_write_close"));
}
