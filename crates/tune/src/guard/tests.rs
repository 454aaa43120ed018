//! Guardians in this process, on a tree: what makes them undo a trial, and by which means.

use super::*;
use crate::apply::{TrialOrder, apply};
use crate::testing::{Dead, Host, changes};
use crate::text::one_line;
use std::fs;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

const CHANGES: [&str; 3] = ["net.core.somaxconn=8192", "net.ipv4.tcp_rmem=1 2 3", "vm.swappiness=10"];

fn now(host: &Host) -> Vec<String> {
    host.all().iter().map(|text| one_line(text)).collect()
}

/// A trial that is held, and its guardian, who never heard of another deadline than one that is far away.
fn guarded() -> (Host, TrialGuard, Vec<String>) {
    let host = Host::new();
    let before = now(&host);
    let wanted = changes(&CHANGES);
    let order = host.order(&wanted);
    let far = crate::Now { boot_ns: u64::MAX / 4, ..order.now };
    let trial = apply(&TrialOrder { now: far, ..order }, &mut Dead::default()).expect("applies");
    let id = trial.expect("changes something").id;
    let order = GuardOrder { state: host.state.path().into(), root: host.roots.path().into(), id };
    let guard = TrialGuard::arm(&order, host.roots.clone()).expect("is armed");
    (host, guard, before)
}

/// Has a guardian watch while something happens.
fn watched(guard: TrialGuard, happens: impl FnOnce()) -> GuardEnd {
    let (parent, _held) = UnixStream::pair().expect("a pair");
    let (stop, _told) = UnixStream::pair().expect("a pair");
    thread::scope(|scope| {
        let watch = scope.spawn(|| guard.watch(parent.as_fd(), stop.as_fd()));
        happens();
        watch.join().expect("ends")
    })
}

fn undone(end: GuardEnd) -> Recovery {
    match end {
        GuardEnd::Undone(recovery) => recovery,
        GuardEnd::Over => panic!("it did not undo the trial"),
    }
}

/// What may happen to a state folder, which has a folder of its own above it.
const LOSSES: [fn(&Path); 8] = [
    |state| fs::remove_dir_all(state).expect("removes"),
    |state| fs::remove_dir_all(state.parent().expect("has one")).expect("removes"),
    |state| fs::rename(state, state.with_extension("moved")).expect("moves"),
    |state| {
        let above = state.parent().expect("has one");
        fs::rename(above, above.with_extension("moved")).expect("moves");
    },
    |state| {
        fs::rename(state, state.with_extension("moved")).expect("moves");
        fs::create_dir_all(state.join("open")).expect("makes");
    },
    |state| fs::remove_dir_all(state.join("open")).expect("removes"),
    |state| {
        let journal = fs::read_dir(state.join("open")).expect("lists").flatten().next().expect("one").path();
        fs::remove_file(journal).expect("removes");
    },
    |state| {
        // Whoever thinks that this ends a trial is mistaken: what the journal says does.
        let journal = fs::read_dir(state.join("open")).expect("lists").flatten().next().expect("one").path();
        let name = journal.file_name().expect("has one").to_owned();
        fs::rename(journal, state.join("done").join(name)).expect("moves");
    },
];

#[test]
fn a_guardian_whose_journal_is_not_in_its_place_undoes_the_trial_at_once_and_says_so() {
    for (index, lose) in LOSSES.into_iter().enumerate() {
        let (host, guard, before) = guarded();
        let recovery = undone(watched(guard, || lose(host.state.path())));
        assert!(recovery.is_clean(), "loss {index}: {recovery:?}");
        assert!(recovery.cause.is_some(), "loss {index}");
        assert_eq!(now(&host), before, "loss {index}");
        assert_eq!((host.copies("open").len(), host.copies("done").len()), (0, 1), "loss {index}");
        let told = crate::status(&host.state, &host.roots).expect("lists");
        assert!(told.iter().any(|trial| trial.cause == recovery.cause), "loss {index}: {told:?}");
    }
}

#[test]
fn a_guardian_needs_neither_journal() {
    let (host, guard, before) = guarded();
    let recovery = undone(watched(guard, || {
        host.lose_copies();
        fs::remove_dir_all(host.state.path()).expect("removes");
    }));
    assert!(recovery.is_clean());
    assert_eq!(now(&host), before);
}

#[test]
fn a_journal_that_was_damaged_is_not_needed_by_its_guardian() {
    let (host, guard, before) = guarded();
    host.lose_copies();
    fs::write(host.journals("open").remove(0), "damaged").expect("writes");
    let (parent, held) = UnixStream::pair().expect("a pair");
    let (stop, _told) = UnixStream::pair().expect("a pair");
    drop(held);
    let recovery = undone(guard.watch(parent.as_fd(), stop.as_fd()));
    assert!(recovery.is_clean() && recovery.cause.is_none(), "{recovery:?}");
    assert_eq!(now(&host), before);
}

#[test]
fn a_guardian_ends_without_a_word_when_somebody_else_has_ended_the_trial() {
    for is_kept in [false, true] {
        let (host, guard, before) = guarded();
        let end = watched(guard, || match is_kept {
            true => drop(crate::commit(&host.state, &host.roots, None).expect("commits")),
            false => drop(crate::undo(&host.state, &host.roots, None).expect("undoes")),
        });
        assert_eq!(end, GuardEnd::Over);
        assert_eq!(now(&host) == before, !is_kept);
        assert_eq!((host.copies("open").len(), host.copies("done").len()), (0, 0));
    }
}

#[test]
fn only_the_very_process_that_made_a_trial_is_ended() {
    let mut maker = Command::new("sleep").arg("600").spawn().expect("starts");
    let (_host, guard, _) = guarded();
    let pid = maker.id();
    let ticks = start_ticks(pid).expect("is there");
    let begin = |start_ticks| TrialStart { pid, start_ticks, ..guard.known.begin.clone() };
    for other in [0, ticks + 1] {
        assert!(end_maker(&begin(other)).is_err());
    }
    assert_eq!(maker.try_wait().expect("can be asked"), None);
    end_maker(&begin(ticks)).expect("is ended");
    assert!(!maker.wait().expect("has ended").success());
}
