//! Settings that something else changed while a variant was applied: which, to what value, and, where known, by whom.
//!
//! The kernel does not say who wrote a setting. The suspects are trials of other sysdyno processes that include it and are
//! not over, tuning programs that are running now, and files that contain exactly the value found. The same key in another
//! network namespace is another setting, which cannot be read from here.

use crate::execute::change::Tuning;
use crate::execute::steps::Bench;
use sysdyno_tune::{PlannedChange, SettingNow, SettingsTrial};

/// A setting whose value is not the variant's.
pub(super) struct Stranger<'a> {
    /// As it was read.
    pub(super) now: &'a PlannedChange,
    /// The variant's value.
    pub(super) expected: &'a str,
}

/// A sentence for each of them; `own` is the trial of this tryout that is on.
pub(super) fn told(
    strangers: &[Stranger<'_>],
    own: Option<&str>,
    tuning: &Tuning,
    bench: &mut Bench<'_, '_>,
) -> Vec<String> {
    if strangers.is_empty() {
        return Vec::new();
    }
    // Who cannot list trials is told of the rest.
    let mut trials = tuning.open_trials(bench).unwrap_or_default();
    trials.retain(|trial| own != Some(trial.id.as_str()) && !trial.phase.is_undone());
    strangers.iter().map(|stranger| sentence(stranger, &trials)).collect()
}

fn sentence(stranger: &Stranger<'_>, trials: &[SettingsTrial]) -> String {
    let Stranger { now, expected } = stranger;
    let by = suspects(now, trials);
    let by = if by.is_empty() {
        "no other sysdyno trial and no known tuning program set it".to_owned()
    } else {
        by.join("; ")
    };
    format!("'{}' is {} instead of {expected}: something else changed it ({by})", now.key, now.old)
}

/// Who may have changed it, the likeliest first.
fn suspects(now: &PlannedChange, trials: &[SettingsTrial]) -> Vec<String> {
    let trial = |trial: &SettingsTrial| {
        let is_it = |setting: &&SettingNow| setting.key == now.key && setting.now.is_some();
        let setting = trial.settings.iter().find(is_it)?;
        Some(format!("trial {} of process {} sets it to {}", trial.id, trial.pid, setting.new))
    };
    // Files are read by somebody: that one was shows in the value alone.
    let is_file = |who: &str| who.starts_with('/');
    let rivals = now.rivals.iter().filter(|rival| !is_file(&rival.who) || rival.sets == now.old);
    let rival = |rival: &sysdyno_tune::Rival| match is_file(&rival.who) {
        true => format!("set by {}", rival.who),
        false => format!("{} {}", rival.who, rival.sets),
    };
    trials.iter().filter_map(trial).chain(rivals.map(rival)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use sysdyno_record::change::SettingChange;
    use sysdyno_record::units::WallNs;
    use sysdyno_tune::{Phase, TuneRoots};

    #[test]
    fn a_trial_of_another_process_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(root.path().join("proc/sys/vm")).expect("makes");
        fs::write(root.path().join("proc/sys/vm/swappiness"), "47\n").expect("writes");
        let change = SettingChange { key: "vm.swappiness".into(), value: "59".into() };
        let plan = sysdyno_tune::plan(&[change], &TuneRoots::at(root.path())).expect("can be planned");
        let setting = |key: &str, now: Option<&str>| SettingNow {
            key: key.into(),
            old: "60".into(),
            new: "47".into(),
            now: now.map(str::to_owned),
            is_foreign: false,
            outcome: None,
        };
        let trial = |id: &str, key: &str, now: Option<&str>| SettingsTrial {
            id: id.into(),
            phase: Phase::Held,
            started_unix_ns: WallNs(0),
            deadline_boot_ns: 0,
            pid: 4711,
            is_guarded: true,
            is_of_earlier_boot: false,
            cause: None,
            lost_state: None,
            settings: vec![setting(key, now)],
        };
        // The second one is of another network namespace.
        let trials = [
            trial("one", "vm.overcommit_memory", Some("47")),
            trial("elsewhere", "vm.swappiness", None),
            trial("two", "vm.swappiness", Some("47")),
        ];
        let said = sentence(&Stranger { now: &plan.changes[0], expected: "59" }, &trials);
        assert!(said.ends_with("(trial two of process 4711 sets it to 47)"), "{said}");
    }

    #[test]
    fn a_file_is_named_for_the_value_that_it_has_and_a_program_that_tunes_always() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
            fs::write(path, text).expect("writes");
        };
        write("proc/sys/vm/swappiness", "47\n");
        write("proc/77/comm", "sysctl\n");
        write("etc/sysctl.d/10-other.conf", "vm.swappiness = 1\n");
        write("etc/sysctl.d/20-own.conf", "vm.swappiness = 47\n");
        let change = SettingChange { key: "vm.swappiness".into(), value: "59".into() };
        let plan = sysdyno_tune::plan(&[change], &TuneRoots::at(root.path())).expect("can be planned");
        let said = sentence(&Stranger { now: &plan.changes[0], expected: "59" }, &[]);
        let expected = "'vm.swappiness' is 47 instead of 59: something else changed it (set by \
                        /etc/sysctl.d/20-own.conf:1; sysctl (process 77) sets configured values)";
        assert_eq!(said, expected);
        fs::remove_dir_all(root.path().join("etc")).expect("removes");
        fs::remove_dir_all(root.path().join("proc/77")).expect("removes");
        let change = SettingChange { key: "vm.swappiness".into(), value: "59".into() };
        let plan = sysdyno_tune::plan(&[change], &TuneRoots::at(root.path())).expect("can be planned");
        let said = sentence(&Stranger { now: &plan.changes[0], expected: "59" }, &[]);
        assert!(said.ends_with("(no other sysdyno trial and no known tuning program set it)"), "{said}");
    }
}
