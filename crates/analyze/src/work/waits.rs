//! What commands spent their time on, by the looks that were taken at them.
//!
//! Each look saw the command at one thing, so that the shares add up to its whole time. Of few looks nothing is said.

use crate::format::{duration, percent};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::work::{CommandRun, CommandWait, WaitSummary};

/// With fewer looks a share is off by more than a tenth.
const MIN_LOOKS: u64 = 25;

/// From this share of the time on, a wait is what the command is slow for.
pub(super) const WAITED: Threshold =
    Threshold::new("share of a command's time that it waits for one thing", 0.5, "ratio", HOUSE);

/// Shares that are told beside the greatest one.
const TOLD: Threshold =
    Threshold::new("share of a command's time from which on it is mentioned", 0.05, "ratio", HOUSE);

/// The parts of the time of these rounds of commands, greatest first.
pub(super) fn waits(rounds: &[Vec<&CommandRun>]) -> Vec<WaitSummary> {
    let runs = || rounds.iter().flatten();
    let count = |wait| runs().filter_map(|run| run.waits.get(&wait)).sum::<u64>();
    let all: u64 = CommandWait::ALL.into_iter().map(count).sum();
    if all < MIN_LOOKS {
        return Vec::new();
    }
    let wall_ns = runs().map(|run| super::wall_ns(run) as f64).sum::<f64>() / rounds.len() as f64;
    let mut parts: Vec<WaitSummary> = CommandWait::ALL
        .into_iter()
        .map(|wait| (wait, count(wait)))
        .filter(|(_, count)| *count > 0)
        .map(|(wait, count)| (wait, count as f64 / all as f64))
        .map(|(wait, share_ratio)| WaitSummary { wait, share_ratio, time_ns: share_ratio * wall_ns })
        .collect();
    parts.sort_by(|one, other| other.share_ratio.total_cmp(&one.share_ratio));
    parts
}

/// What commands wait for most of their time, with the rest of it; `None`: nothing.
pub(super) fn told(waits: &[WaitSummary]) -> Option<String> {
    let first = waits.first()?;
    let is_wait = !matches!(first.wait, CommandWait::Running | CommandWait::Other);
    if !is_wait || first.share_ratio < WAITED.value {
        return None;
    }
    let rest = waits[1..].iter().filter(|part| part.share_ratio >= TOLD.value);
    let rest: Vec<String> =
        rest.map(|part| format!("{} {}", part.wait.title(), percent(part.share_ratio))).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" ({})", rest.join(", ")) };
    let (share, time) = (percent(first.share_ratio), duration(first.time_ns));
    Some(format!("It {}: {share} of its time, {time}{rest}", verb(first.wait)))
}

/// What a command does for a part of its time, as a verb with its object.
fn verb(wait: CommandWait) -> &'static str {
    match wait {
        CommandWait::Running => "runs",
        CommandWait::JournalSpace => "waits for room in the journal",
        CommandWait::JournalCommit => "waits for journal commits",
        CommandWait::Writeback => "waits for writeback",
        CommandWait::Disk => "waits for the disk",
        CommandWait::FileServer => "waits for the file server",
        CommandWait::Network => "waits for the network",
        CommandWait::Lock => "waits for a lock",
        CommandWait::Timer => "sleeps",
        CommandWait::Process => "waits for another process",
        CommandWait::Stopped => "is stopped",
        CommandWait::Other => "waits for something unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::units::MonoNs;
    use sysdyno_record::work::{Ending, Step};

    fn run(seconds: u64, waits: &[(CommandWait, u64)]) -> CommandRun {
        CommandRun {
            number: 1,
            worker: 0,
            name: None,
            step: Step::Run,
            begin_mono_ns: MonoNs(0),
            end_mono_ns: MonoNs(seconds * 1_000_000_000),
            ending: Ending::Exit(0),
            usage: None,
            served: None,
            waits: waits.iter().copied().collect(),
        }
    }

    #[test]
    fn the_parts_of_all_runs_add_up_to_the_time_of_one() {
        let runs = [
            run(10, &[(CommandWait::JournalCommit, 400), (CommandWait::Running, 100)]),
            run(30, &[(CommandWait::JournalCommit, 1400), (CommandWait::Disk, 100)]),
        ];
        let parts = waits(&runs.iter().map(|run| vec![run]).collect::<Vec<_>>());
        let shown: Vec<_> = parts.iter().map(|part| (part.wait, part.share_ratio, part.time_ns)).collect();
        let expected = [
            (CommandWait::JournalCommit, 0.9, 18e9),
            (CommandWait::Running, 0.05, 1e9),
            (CommandWait::Disk, 0.05, 1e9),
        ];
        assert_eq!(shown, expected);
        let said = told(&parts).expect("it waits");
        assert_eq!(said, "It waits for journal commits: 90% of its time, 18.0 s (CPU 5.0%, disk 5.0%)");
    }

    #[test]
    fn nothing_is_said_of_few_looks_or_of_a_command_that_computes() {
        assert!(waits(&[vec![&run(1, &[(CommandWait::Disk, 24)])]]).is_empty());
        assert!(waits(&[]).is_empty());
        let busy = run(1, &[(CommandWait::Running, 60), (CommandWait::Disk, 40)]);
        assert_eq!(told(&waits(&[vec![&busy]])), None);
    }
}
