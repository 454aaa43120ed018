//! Second copies: found when the state folder is lost, ignored otherwise.

use super::*;
use crate::apply::{TrialOrder, apply};
use crate::journal::frame;
use crate::testing::{Dead, Host, changes};
use crate::text::one_line;
use std::fs;
use std::path::Path;

const CHANGES: [&str; 3] = ["net.core.somaxconn=8192", "net.ipv4.tcp_rmem=1 2 3", "vm.swappiness=10"];

/// A host on which somebody has begun a trial and died, and what it was before.
fn abandoned() -> (Host, Vec<String>) {
    let host = Host::new();
    let before = now(&host);
    let wanted = changes(&CHANGES);
    apply(&host.order(&wanted), &mut Dead::default()).expect("applies").expect("changes something");
    (host, before)
}

fn now(host: &Host) -> Vec<String> {
    host.all().iter().map(|text| one_line(text)).collect()
}

fn elsewhere(host: &Host) -> StateFolder {
    StateFolder::below(Some(&host.roots.place("/var/elsewhere")))
}

/// Ways to lose a state folder, or what is in it.
const LOSSES: [fn(&Path); 6] = [
    |state| fs::remove_dir_all(state).expect("removes"),
    |state| fs::rename(state, state.with_extension("moved")).expect("moves"),
    |state| {
        fs::rename(state, state.with_extension("moved")).expect("moves");
        fs::create_dir(state).expect("makes");
    },
    |state| fs::remove_dir_all(state.join("open")).expect("removes"),
    |state| {
        fs::remove_dir_all(state).expect("removes");
        fs::write(state, "a file").expect("writes");
    },
    |state| {
        fs::set_permissions(state, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("sets");
    },
];

#[test]
fn a_trial_whose_state_folder_is_lost_is_undone_from_its_second_copy() {
    for (index, lose) in LOSSES.into_iter().enumerate() {
        let (host, before) = abandoned();
        lose(host.state.path());
        assert_eq!(host.state.unfinished(&host.roots).abandoned_count, 1, "loss {index}");
        let recovered = recover(&elsewhere(&host), &host.roots).expect("recovers");
        assert!(recovered.len() == 1 && recovered[0].is_clean(), "loss {index}: {recovered:?}");
        assert!(
            recovered[0].cause.as_deref().is_some_and(|cause| cause.contains("moved, removed, or replaced"))
        );
        assert_eq!(now(&host), before, "loss {index}");
        assert_eq!((host.copies("open").len(), host.copies("done").len()), (0, 1), "loss {index}");
        let told = crate::history(&elsewhere(&host), &host.roots).expect("lists");
        assert!(told.len() == 1 && told[0].cause.is_some() && told[0].lost_state.is_some(), "{told:?}");
        assert_eq!(crate::status(&elsewhere(&host), &host.roots).expect("lists").len(), 1);
        assert!(recover(&elsewhere(&host), &host.roots).expect("recovers").is_empty());
    }
}

#[test]
fn a_lost_trial_is_undone_by_undo_and_before_the_next_trial() {
    for is_undo in [true, false] {
        let (host, before) = abandoned();
        fs::remove_dir_all(host.state.path()).expect("removes");
        if is_undo {
            assert!(undo(&host.state, &host.roots, None).expect("undoes").is_clean());
            assert_eq!(now(&host), before);
        } else {
            let wanted = changes(&["vm.swappiness=20"]);
            let trial = apply(&host.order(&wanted), &mut Dead::default()).expect("applies");
            assert_eq!(trial.expect("changes something").plan.changes[0].old, "60");
            assert_eq!(now(&host)[..2], before[..2]);
        }
    }
}

#[test]
fn a_lost_trial_is_left_to_its_guardian() {
    let (host, _) = abandoned();
    let (store, tried) =
        (Arc::new(spool::hold_if_there(&host.roots).expect("is ours").expect("is there")), now(&host));
    let name = store.journals(StoreSection::Open).expect("lists").remove(0);
    let (guardian, _) = JournalFile::open(&store, StoreSection::Open, &name).expect("opens");
    guardian.lock().expect("locks");
    fs::remove_dir_all(host.state.path()).expect("removes");
    assert!(recover(&elsewhere(&host), &host.roots).expect("looks").is_empty());
    let wanted = changes(&["vm.swappiness=20"]);
    let refused = apply(&host.order(&wanted), &mut Dead::default()).err().expect("is refused").to_string();
    assert!(refused.contains("is still open: its state folder"), "{refused}");
    assert_eq!(now(&host), tried);
}

#[test]
fn a_trial_that_was_undone_without_its_state_folder_is_not_undone_again_when_that_is_found() {
    let (host, _) = abandoned();
    let moved = host.state.path().with_file_name("moved").join("tune");
    fs::create_dir(moved.parent().expect("has one")).expect("makes");
    fs::rename(host.state.path(), &moved).expect("moves");
    recover(&host.state, &host.roots).expect("recovers");
    // Somebody wants what the trial had tried.
    host.set("vm.swappiness", "10\n");
    let found = StateFolder::at(&moved);
    assert!(
        recover(&found, &host.roots).expect("recovers").iter().all(|recovery| recovery.restored.is_empty())
    );
    assert_eq!(host.get("vm.swappiness"), "10\n");
    let path = found.journals(StoreSection::Done).expect("lists").remove(0);
    let told = crate::journal::read(&path).expect("reads").expect("has a begin");
    assert!(told.is_over() && told.cause.is_some(), "{told:?}");
    assert!(host.copies("done").is_empty(), "the journal says it now");
}

#[test]
fn of_a_damaged_journal_and_a_whole_copy_the_copy_counts() {
    for damage in [|text: &str| text[..9].to_owned(), |text: &str| text.replace("swappiness", "swappinesz")] {
        let (host, before) = abandoned();
        let path = host.journals("open").remove(0);
        fs::write(&path, damage(&fs::read_to_string(&path).expect("reads"))).expect("writes");
        let recovered = recover(&host.state, &host.roots).expect("recovers");
        assert!(recovered.len() == 1 && recovered[0].is_clean(), "{recovered:?}");
        assert_eq!(now(&host), before);
        assert_eq!((host.journals("damaged").len(), host.copies("done").len()), (1, 1));
    }
}

#[test]
fn of_a_whole_journal_and_a_damaged_or_missing_copy_the_journal_counts() {
    for is_missing in [false, true] {
        let (host, before) = abandoned();
        let path = host.copies("open").remove(0);
        if is_missing {
            fs::remove_file(path).expect("removes");
        } else {
            fs::write(path, "SDJ1 0 ").expect("writes");
        }
        let recovered = recover(&host.state, &host.roots).expect("recovers");
        assert!(recovered[0].is_clean(), "{recovered:?}");
        assert_eq!((now(&host), host.journals("done").len()), (before, 1));
    }
}

#[test]
fn a_torn_or_corrupt_copy_never_causes_a_write_but_of_what_was_recorded() {
    let (host, before) = abandoned();
    let path = host.copies("open").remove(0);
    let whole = fs::read(&path).expect("reads");
    let tried = now(&host);
    let first_end = whole.iter().position(|byte| *byte == b'\n').expect("has lines") + 1;
    fs::remove_dir_all(host.state.path()).expect("removes");
    host.set("vm.swappiness", "33\n");
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        for bytes in [whole[..at].to_vec(), flipped] {
            for section in ["open", "done", "damaged"] {
                host.copies(section).iter().for_each(|path| fs::remove_file(path).expect("removes"));
            }
            fs::write(&path, bytes).expect("writes");
            host.set("net.core.somaxconn", "8192\n");
            let _ = recover(&host.state, &host.roots);
            let value = one_line(&host.get("net.core.somaxconn"));
            assert!([&before[0], &tried[0]].contains(&&value), "byte {at}: {value}");
            if at < first_end {
                assert_eq!(value, tried[0], "byte {at}: without a begin nothing is written");
            }
            assert_eq!(host.get("vm.swappiness"), "33\n", "byte {at}");
        }
    }
}

#[test]
fn a_copy_that_was_left_behind_by_a_trial_that_is_over_is_removed_and_nothing_is_written() {
    for is_kept in [false, true] {
        let (host, before) = abandoned();
        let path = host.copies("open").remove(0);
        let copy = fs::read(&path).expect("reads");
        if is_kept {
            let guardian = host.journal();
            guardian.lock().expect("locks");
            commit(&host.state, &host.roots, None).expect("commits");
        } else {
            recover(&host.state, &host.roots).expect("recovers");
        }
        assert!(host.copies("open").is_empty());
        let after = now(&host);
        assert_eq!(after == before, !is_kept);
        // As if it could not have been removed.
        fs::write(&path, copy).expect("writes");
        host.set("vm.swappiness", "10\n");
        let expected = now(&host);
        assert!(recover(&elsewhere(&host), &host.roots).expect("recovers").is_empty());
        assert_eq!((now(&host), host.copies("open").len(), host.copies("done").len()), (expected, 0, 0));
    }
}

#[test]
fn a_commitment_stays_whatever_becomes_of_its_state_folder() {
    let (host, _) = abandoned();
    let tried = now(&host);
    let guardian = host.journal();
    guardian.lock().expect("locks");
    commit(&host.state, &host.roots, None).expect("commits");
    drop(guardian);
    fs::remove_dir_all(host.state.path()).expect("removes");
    assert!(recover(&host.state, &host.roots).expect("recovers").is_empty());
    assert_eq!(now(&host), tried);
}

#[test]
fn a_commitment_that_is_undone_has_a_second_copy_meanwhile() {
    let (host, before) = abandoned();
    let guardian = host.journal();
    guardian.lock().expect("locks");
    let id = commit(&host.state, &host.roots, None).expect("commits");
    let stores = Stores::hold(&host.state, &host.roots).expect("holds");
    // As if it had died right after that.
    drop(reopen(&stores, &id).expect("opens it again"));
    drop(guardian);
    assert_eq!((host.copies("open").len(), host.journals("open").len()), (1, 1));
    fs::remove_dir_all(host.state.path()).expect("removes");
    recover(&host.state, &host.roots).expect("recovers");
    assert_eq!(now(&host), before);
}

#[test]
fn trials_of_another_state_folder_are_undone_by_recover_alone() {
    let (host, before) = abandoned();
    let (other, tried) = (elsewhere(&host), now(&host));
    // As if the one with the state folder at `other` were somebody else.
    let wanted = changes(&["vm.dirty_ratio=10"]);
    host.set("vm.dirty_ratio", "20\n");
    host.set("vm.dirty_bytes", "0\n");
    apply(&TrialOrder { state: &other, ..host.order(&wanted) }, &mut Dead::default()).expect("applies");
    assert_eq!(now(&host), tried);
    let recovered = recover(&other, &host.roots).expect("recovers");
    assert_eq!(recovered.len(), 2);
    assert_eq!((now(&host), host.get("vm.dirty_ratio").as_str()), (before, "20\n"));
    assert!(host.journals("open").is_empty() && host.copies("open").is_empty());
}

#[test]
fn a_copy_holds_the_same_frames_as_its_journal() {
    let (host, _) = abandoned();
    let [journal, copy] = ["open"]
        .map(|section| [host.journals(section), host.copies(section)].concat())
        .concat()
        .try_into()
        .expect("two");
    let [journal, copy]: [Vec<u8>; 2] =
        [journal, copy].map(|path: std::path::PathBuf| fs::read(path).expect("reads"));
    assert_eq!(frame::read(&journal).texts, frame::read(&copy).texts);
    assert_eq!(frame::read(&journal).texts.len(), 1 + 3 + 3 + 1);
}
