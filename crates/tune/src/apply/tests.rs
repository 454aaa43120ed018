//! Trials: from the journal to the writes, and back when something goes wrong.

use super::*;
use crate::journal::{self, Phase};
use crate::testing::{Dead, Host, changes};
use std::cell::Cell;
use std::rc::Rc;

const CHANGES: [&str; 3] = ["net.core.somaxconn=8192", "net.ipv4.tcp_rmem=1 2 3", "vm.swappiness=10"];

#[test]
fn a_trial_is_written_down_made_and_undone() {
    let host = Host::new();
    let before = host.all();
    let wanted = changes(&CHANGES);
    let trial =
        apply(&host.order(&wanted), &mut Dead::default()).expect("applies").expect("changes something");
    assert_eq!(host.all(), ["8192\n", "1 2 3\n", "10\n"]);
    let sum = journal::read(&host.journals("open")[0]).expect("reads").expect("has a begin");
    assert_eq!((sum.phase, sum.intents.len(), sum.applied.len()), (Phase::Held, 3, 3));
    let recovery = crate::undo(&host.state, &host.roots, Some(&trial.id)).expect("undoes");
    assert!(recovery.is_clean() && recovery.notes.is_empty(), "{recovery:?}");
    let restored: Vec<String> = host.all().iter().map(|text| one_line(text)).collect();
    assert_eq!(restored, before.iter().map(|text| one_line(text)).collect::<Vec<_>>());
    assert!(host.journals("open").is_empty());
    assert_eq!(host.journals("done").len(), 1);
}

#[test]
fn for_every_write_there_is_an_earlier_durable_intent_that_holds_the_value_it_replaced() {
    struct Witness<'a>(&'a Host, Vec<String>);
    impl ArmGuardian for Witness<'_> {
        fn arm(&mut self, order: &GuardOrder) -> io::Result<Box<dyn Armed>> {
            assert_eq!(self.0.all(), self.1, "nothing is written before the guardian is armed");
            let path = order.state.join("open").join(format!("{}.wal", order.id));
            let sum = journal::read(&path)?.expect("has a begin");
            assert!(sum.is_whole());
            let olds: Vec<String> = sum.intents.iter().map(|intent| intent.members[0].old.clone()).collect();
            assert_eq!(olds, self.1);
            Dead::default().arm(order)
        }
    }
    let host = Host::new();
    let wanted = changes(&CHANGES);
    let before = host.all();
    apply(&host.order(&wanted), &mut Witness(&host, before)).expect("applies");
}

#[test]
fn there_is_one_trial_at_a_time() {
    let host = Host::new();
    struct Second<'a>(&'a Host, Rc<Cell<bool>>);
    impl ArmGuardian for Second<'_> {
        fn arm(&mut self, order: &GuardOrder) -> io::Result<Box<dyn Armed>> {
            let wanted = changes(&["vm.swappiness=11"]);
            let refused = apply(&self.0.order(&wanted), &mut Dead::default()).err();
            assert!(
                matches!(refused, Some(TuneError::Busy { .. })),
                "while settings are written: {refused:?}"
            );
            self.1.set(true);
            Dead::default().arm(order)
        }
    }
    let wanted = changes(&["vm.swappiness=10"]);
    let asked = Rc::new(Cell::new(false));
    apply(&host.order(&wanted), &mut Second(&host, Rc::clone(&asked))).expect("applies");
    assert!(asked.get());
    // A guardian holds the journal.
    let guarded = host.journal();
    guarded.lock().expect("locks");
    let refused = apply(&host.order(&wanted), &mut Dead::default()).err();
    assert!(matches!(refused, Some(TuneError::Busy { .. })), "while a trial is held: {refused:?}");
}

#[test]
fn without_a_guardian_nothing_is_written() {
    let host = Host::new();
    let before = host.all();
    let wanted = changes(&CHANGES);
    let failed = apply(&host.order(&wanted), &mut Dead { refuses: true, ..Dead::default() }).err();
    assert!(matches!(failed, Some(TuneError::Guardian { .. })), "{failed:?}");
    assert_eq!(host.all(), before);
    assert!(host.journals("open").is_empty());
}

#[test]
fn a_trial_whose_guardian_dies_before_it_is_let_go_is_undone() {
    let host = Host::new();
    let wanted = changes(&["vm.swappiness=10"]);
    let trial = apply(&host.order(&wanted), &mut Dead { dies: true, ..Dead::default() });
    let failed = trial.expect("applies").expect("changes something").detach();
    assert!(matches!(failed, Err(TuneError::GuardianDied { is_restored: true, .. })), "{failed:?}");
    assert_eq!(host.get("vm.swappiness"), "60\n");
}

#[test]
fn a_journal_that_cannot_be_made_durable_means_that_nothing_is_changed() {
    let host = Host::new();
    let before = host.all();
    std::fs::create_dir_all(host.state.path().parent().expect("is in a folder")).expect("makes");
    std::fs::write(host.state.path(), "in the way").expect("writes");
    let wanted = changes(&CHANGES);
    let armed = Rc::new(Cell::new(0));
    let failed = apply(&host.order(&wanted), &mut Dead { armed: Rc::clone(&armed), ..Dead::default() }).err();
    assert!(matches!(failed, Some(TuneError::NotDurable { .. })), "{failed:?}");
    assert_eq!((host.all(), armed.get()), (before, 0));
}

#[test]
fn a_state_folder_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let host = Host::new();
    host.state.hold().expect("is made");
    std::fs::set_permissions(host.state.path().join("open"), std::fs::Permissions::from_mode(0o777))
        .expect("sets");
    let wanted = changes(&CHANGES);
    let failed = apply(&host.order(&wanted), &mut Dead::default()).err().expect("is refused").to_string();
    assert!(failed.contains("other users can write to it"), "{failed}");
}

#[test]
fn what_is_there_already_makes_no_trial() {
    let host = Host::new();
    let wanted = changes(&["vm.swappiness=60"]);
    assert!(apply(&host.order(&wanted), &mut Dead::default()).expect("applies").is_none());
    assert!(host.journals("open").is_empty());
}

#[test]
fn a_trial_whose_guardian_dies_is_undone_also_if_its_state_folder_is_gone() {
    let host = Host::new();
    let wanted = changes(&["vm.swappiness=10"]);
    let trial = apply(&host.order(&wanted), &mut Dead { dies: true, ..Dead::default() });
    std::fs::remove_dir_all(host.state.path()).expect("removes");
    host.lose_copies();
    let failed = trial.expect("applies").expect("changes something").detach();
    assert!(matches!(failed, Err(TuneError::GuardianDied { is_restored: true, .. })), "{failed:?}");
    assert_eq!(host.get("vm.swappiness"), "60\n");
}

#[test]
fn a_second_copy_that_cannot_be_made_durable_means_that_nothing_is_changed() {
    let host = Host::new();
    let before = host.all();
    host.put("/var/spool", "in the way");
    let wanted = changes(&CHANGES);
    let failed = apply(&host.order(&wanted), &mut Dead::default()).err();
    assert!(matches!(failed, Some(TuneError::NotDurable { .. })), "{failed:?}");
    assert_eq!((host.all(), host.journals("open").len()), (before, 0));
}

#[test]
fn a_state_folder_that_is_where_the_second_copies_are_is_refused() {
    let host = Host::new();
    for (state, spool) in [("spool/sysdyno", "spool/sysdyno/tune"), ("spool", "spool/sysdyno/tune")] {
        let state = StateFolder::below(Some(&host.roots.place("/var").join(state)));
        let wanted = changes(&CHANGES);
        let order = TrialOrder { state: &state, ..host.order(&wanted) };
        let refused = apply(&order, &mut Dead::default()).err().map(|error| error.to_string());
        let is_within = state.path().ends_with(spool);
        assert_eq!(refused.is_some_and(|text| text.contains("second copies of its journals")), is_within);
        crate::undo(&state, &host.roots, None).map(drop).unwrap_or_default();
    }
}

#[test]
fn a_trial_whose_state_folder_goes_while_it_is_written_is_rolled_back() {
    struct Thief<'a>(&'a Host);
    impl ArmGuardian for Thief<'_> {
        fn arm(&mut self, order: &GuardOrder) -> io::Result<Box<dyn Armed>> {
            std::fs::rename(self.0.state.path(), self.0.state.path().with_extension("moved"))?;
            Dead::default().arm(order)
        }
    }
    let host = Host::new();
    let before = host.all();
    let wanted = changes(&CHANGES);
    let failed = apply(&host.order(&wanted), &mut Thief(&host)).err().expect("is refused").to_string();
    assert!(
        failed.contains("moved or removed in the meantime\nall settings have their old values"),
        "{failed}"
    );
    let restored: Vec<String> = host.all().iter().map(|text| one_line(text)).collect();
    assert_eq!(restored, before.iter().map(|text| one_line(text)).collect::<Vec<_>>());
    assert_eq!((host.copies("open").len(), host.copies("done").len()), (0, 1));
}

#[test]
fn trials_of_the_same_second_have_names_of_their_own() {
    let host = Host::new();
    for value in ["10", "11", "12"] {
        let wanted = changes(&[&format!("vm.swappiness={value}")]);
        apply(&host.order(&wanted), &mut Dead::default()).expect("applies").expect("changes something");
        crate::undo(&host.state, &host.roots, None).expect("undoes");
    }
    let ids: Vec<_> =
        crate::history(&host.state, &host.roots).expect("lists").into_iter().map(|trial| trial.id).collect();
    assert!(ids.len() == 3 && ids[1] == format!("{}-2", ids[0]) && ids[2].ends_with("-3"), "{ids:?}");
}
