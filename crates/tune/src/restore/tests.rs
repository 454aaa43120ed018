//! Restoring after a crash at any point: what is restored, what is left alone, what is never done.

use super::intents::{ChangeMade, put_back, read_members, restore_one};
use super::*;
use crate::apply::apply;
use crate::journal::{Intent, Member};
use crate::testing::{Dead, Host, changes};
use crate::text::one_line;
use crate::tunable::Scope;
use std::fs;

const CHANGES: [&str; 3] = ["net.core.somaxconn=8192", "net.ipv4.tcp_rmem=1 2 3", "vm.swappiness=10"];

/// A host on which somebody has begun a trial and died.
fn abandoned() -> (Host, Vec<String>) {
    let host = Host::new();
    let before = host.all().iter().map(|text| one_line(text)).collect();
    let wanted = changes(&CHANGES);
    apply(&host.order(&wanted), &mut Dead::default()).expect("applies").expect("changes something");
    (host, before)
}

fn now(host: &Host) -> Vec<String> {
    host.all().iter().map(|text| one_line(text)).collect()
}

fn outcomes(recoveries: &[Recovery]) -> Vec<UndoOutcome> {
    recoveries.iter().flat_map(|recovery| &recovery.restored).map(|restored| restored.outcome).collect()
}

#[test]
fn a_trial_is_always_undone_a_commitment_never_is_by_itself() {
    let (host, before) = abandoned();
    assert_eq!(host.state.unfinished(&host.roots).abandoned_count, 1);
    recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(now(&host), before);

    let (host, before) = abandoned();
    let guardian = host.journal();
    guardian.lock().expect("locks");
    let id = commit(&host.state, &host.roots, None).expect("commits");
    assert!(recover(&host.state, &host.roots).expect("recovers").is_empty());
    assert_eq!(host.get("vm.swappiness"), "10\n");
    let recovery = undo(&host.state, &host.roots, Some(&id)).expect("undoes by name");
    assert!(recovery.is_clean());
    assert_eq!(now(&host), before);
    let again = undo(&host.state, &host.roots, Some(&id)).expect_err("is over").to_string();
    assert!(again.contains("was already undone"), "{again}");
}

#[test]
fn a_commit_that_died_half_way_is_completed_and_can_be_undone() {
    for is_undone in [false, true] {
        let (host, before) = abandoned();
        let mut journal = host.journal();
        journal.lock().expect("locks, as its guardian does");
        journal.append_durably(&JournalRecord::Keep {}).expect("appends");
        if is_undone {
            assert!(undo(&host.state, &host.roots, None).expect("undoes").is_clean());
            assert_eq!(now(&host), before);
        } else {
            commit(&host.state, &host.roots, None).expect("commits");
            assert_eq!(host.get("vm.swappiness"), "10\n");
        }
        assert!(host.journals("open").is_empty());
    }
}

#[test]
fn a_trial_whose_guardian_is_dead_cannot_be_kept() {
    let (host, before) = abandoned();
    assert!(matches!(commit(&host.state, &host.roots, None), Err(TuneError::NoTrial { .. })));
    assert_eq!(now(&host), before);
}

#[test]
fn a_setting_that_somebody_else_has_changed_since_is_left_as_it_is() {
    let (host, before) = abandoned();
    host.set("net.ipv4.tcp_rmem", "7 8 9\n");
    let recoveries = recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(outcomes(&recoveries), [UndoOutcome::Restored, UndoOutcome::Conflict, UndoOutcome::Restored]);
    assert_eq!(recoveries[0].restored[1].found.as_deref(), Some("7 8 9"));
    assert!(!recoveries[0].is_clean());
    assert_eq!(now(&host), [before[0].as_str(), "7 8 9", before[2].as_str()]);
    assert!(host.journals("open").is_empty(), "the conflict is settled: it is theirs");
}

#[test]
fn a_restore_can_be_repeated_at_any_point() {
    // Killed after each number of records: whatever prefix there is, the rest is done.
    let (host, before) = abandoned();
    let path = host.journals("open")[0].clone();
    let held = fs::read(&path).expect("reads");
    recover(&host.state, &host.roots).expect("recovers");
    let done = fs::read(&host.journals("done")[0]).expect("reads");
    let ends = done.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    for end in ends.filter(|end| *end >= held.len()) {
        fs::remove_file(&host.journals("done")[0]).expect("removes");
        fs::write(&path, &done[..end]).expect("writes");
        host.set("net.core.somaxconn", "8192\n");
        let is_over = end == done.len();
        recover(&host.state, &host.roots).expect("recovers");
        let expected = if is_over { "8192" } else { &before[0] };
        assert_eq!(now(&host)[0], expected, "cut at {end}");
    }
}

#[test]
fn a_torn_or_corrupt_journal_never_causes_a_write() {
    let (host, before) = abandoned();
    host.lose_copies();
    let path = host.journals("open")[0].clone();
    let whole = fs::read(&path).expect("reads");
    let tried = now(&host);
    let first_end = whole.iter().position(|byte| *byte == b'\n').expect("has lines") + 1;
    // What is foreign to the journal must be what stays.
    host.set("vm.swappiness", "33\n");
    for at in 0..whole.len() {
        for bytes in [whole[..at].to_vec(), flipped(&whole, at)] {
            for folder in ["open", "done", "damaged"] {
                host.journals(folder).iter().for_each(|path| fs::remove_file(path).expect("removes"));
            }
            fs::write(&path, bytes).expect("writes");
            host.set("net.core.somaxconn", "8192\n");
            let recovered = recover(&host.state, &host.roots);
            let value = one_line(&host.get("net.core.somaxconn"));
            assert!([&before[0], &tried[0]].contains(&&value), "byte {at}: {value}");
            if at < first_end {
                assert_eq!(value, tried[0], "byte {at}: without a begin nothing is written");
            }
            assert_eq!(host.get("vm.swappiness"), "33\n", "byte {at}");
            assert!(recovered.is_ok() || at <= 4, "byte {at}: {recovered:?}");
        }
    }
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x10;
    bytes
}

#[test]
fn a_damaged_journal_restores_what_it_still_says_and_is_set_aside() {
    let (host, before) = abandoned();
    host.lose_copies();
    let path = host.journals("open")[0].clone();
    let text = fs::read_to_string(&path).expect("reads");
    let kept: Vec<&str> = text.split_inclusive('\n').take(2).collect();
    fs::write(&path, kept.concat()).expect("writes");
    let recoveries = recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(outcomes(&recoveries), [UndoOutcome::Restored]);
    assert!(recoveries[0].is_damaged && !recoveries[0].is_clean());
    assert_eq!(now(&host), [before[0].as_str(), "1 2 3", "10"]);
    assert_eq!(host.journals("damaged").len(), 1);
}

#[test]
fn after_a_reboot_nothing_is_written() {
    let (host, _) = abandoned();
    host.boot("second");
    let tried = now(&host);
    let recoveries = recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(outcomes(&recoveries), [UndoOutcome::Void; 3]);
    assert!(recoveries[0].is_clean());
    assert_eq!(now(&host), tried);
}

#[test]
fn without_a_boot_to_compare_with_a_trial_stays_open() {
    let (host, before) = abandoned();
    fs::remove_file(host.path("kernel.random.boot_id")).expect("removes");
    let recoveries = recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(outcomes(&recoveries), [UndoOutcome::Failed; 3]);
    assert_eq!(host.journals("open").len(), 1);
    host.boot("first");
    assert_eq!(outcomes(&recover(&host.state, &host.roots).expect("recovers")), [UndoOutcome::Restored; 3]);
    assert_eq!(now(&host), before);
}

#[test]
fn a_setting_that_is_no_more_is_gone_and_the_rest_is_restored() {
    let (host, before) = abandoned();
    fs::remove_file(host.path("net.ipv4.tcp_rmem")).expect("removes");
    let recoveries = recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(outcomes(&recoveries), [UndoOutcome::Restored, UndoOutcome::Gone, UndoOutcome::Restored]);
    assert_eq!(one_line(&host.get("net.core.somaxconn")), before[0]);
}

#[test]
fn a_restore_writes_recorded_old_values_to_recorded_settings_and_nothing_else() {
    let (host, _) = abandoned();
    let path = host.journals("open")[0].clone();
    let outside = host.roots.place("/etc/passwd");
    fs::create_dir_all(outside.parent().expect("is in a folder")).expect("makes");
    fs::write(&outside, "8192\n").expect("writes");
    let mut transaction = crate::journal::read(&path).expect("reads").expect("has a begin");
    for wrong in ["/etc/passwd", "/proc/sys/../../etc/passwd"] {
        transaction.intents[0].members[0].place = wrong.to_owned().into();
        let restored = restore_one(&transaction.intents[0], &transaction, &host.roots);
        assert_eq!(restored.outcome, UndoOutcome::Failed, "{wrong}");
        assert_eq!(fs::read_to_string(&outside).expect("reads"), "8192\n");
    }
}

#[test]
fn a_journal_of_a_newer_version_or_another_tree_is_left_alone() {
    let (host, _) = abandoned();
    host.lose_copies();
    let tried = now(&host);
    let path = host.journals("open")[0].clone();
    let text = fs::read_to_string(&path).expect("reads");
    fs::write(&path, text.replace("SDJ1", "SDJ2")).expect("writes");
    let refused = recover(&host.state, &host.roots).expect_err("is refused").to_string();
    assert!(refused.contains("newer version"), "{refused}");
    assert_eq!(now(&host), tried);
    assert_eq!(host.journals("open").len(), 1);
    fs::write(&path, text).expect("writes");
    let other = Host::new();
    let recoveries = recover(&host.state, &other.roots).expect("looks");
    assert!(recoveries[0].notes[0].contains("another tree"), "{recoveries:?}");
    assert_eq!(now(&host), tried);
}

#[test]
fn what_follows_a_setting_is_put_back_with_it_unless_somebody_has_set_it_since() {
    use crate::journal::Write;
    const LEADER: &str = "/sys/block/sda/queue/scheduler";
    const FOLLOWER: &str = "/sys/block/sda/queue/nr_requests";
    let member = |path: &str, old: &str, expected: &str| Member {
        place: path.to_owned().into(),
        old: old.into(),
        expected: expected.into(),
        is_open: expected.is_empty(),
    };
    let write = |member, text: &str| Write { member, text: text.into() };
    let intent = Intent {
        number: 0,
        key: "block.sda.scheduler".into(),
        scope: Scope::Device,
        members: vec![member(LEADER, "none", "bfq"), member(FOLLOWER, "256", "")],
        witnesses: Vec::new(),
        apply: vec![write(0, "bfq")],
        restore: vec![write(0, "none"), write(1, "256")],
    };
    let applied = ["bfq".to_owned(), "64".to_owned()];
    let check = |made: ChangeMade<'_>, (scheduler, requests): (&str, &str), expected: UndoOutcome| {
        let host = Host::new();
        host.put(LEADER, scheduler);
        host.put(FOLLOWER, requests);
        let texts = read_members(&intent, &host.roots).expect("reads");
        let (outcome, cause) = put_back(&intent, &texts, &made, &host.roots);
        assert_eq!(outcome, expected, "{scheduler} {requests}: {cause:?}");
        let now = read_members(&intent, &host.roots).expect("reads");
        let is_old = intent.members.iter().zip(&now).all(|(member, text)| member.is_old(text));
        assert_eq!(is_old, outcome.is_clean(), "{now:?}");
        assert!(outcome.is_clean() || now == texts, "a conflict writes nothing");
    };
    check(ChangeMade::As(&applied), ("bfq", "64"), UndoOutcome::Restored);
    check(ChangeMade::As(&applied), ("none", "256"), UndoOutcome::Already);
    check(ChangeMade::As(&applied), ("none", "128"), UndoOutcome::Restored);
    check(ChangeMade::As(&applied), ("bfq", "65"), UndoOutcome::Conflict);
    check(ChangeMade::As(&applied), ("kyber", "64"), UndoOutcome::Conflict);
    check(ChangeMade::Perhaps, ("bfq", "65"), UndoOutcome::Restored);
    check(ChangeMade::Perhaps, ("kyber", "65"), UndoOutcome::Conflict);
    check(ChangeMade::Unknown, ("none", "65"), UndoOutcome::Conflict);
    check(ChangeMade::Unknown, ("bfq", "65"), UndoOutcome::Restored);
}
