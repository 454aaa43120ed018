//! `sysdyno fleet top`: the agents as they are now, second by second, with those that have gone silent.

use super::access::FleetAccess;
use super::list::{document, state, table};
use crate::args::FleetTopArgs;
use crate::exit::Exit;
use crate::ui::{FullScreen, Key, Signals, Ui};
use anyhow::{Context, ensure};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;
use sysdyno_fleet::AgentCard;
use sysdyno_record::units::{MonoNs, SpanNs};
use sysdyno_report::number;
use sysdyno_run::clock;

/// Between two tables, at least and at most.
const INTERVALS: [SpanNs; 2] = [SpanNs::from_millis(500), SpanNs::from_secs(3600)];

/// An agent that was there.
struct SeenAgent {
    card: AgentCard,
    answered: MonoNs,
}

/// Shows the agents until somebody has seen enough.
pub(super) fn top(folder: &Path, args: &FleetTopArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let interval = args.interval.map_or(SpanNs::from_secs(1), |interval| interval.0);
    let [least, most] = INTERVALS;
    ensure!(
        least <= interval && interval <= most,
        "cannot update every {interval}: --interval takes {least} to {most}"
    );
    let access = FleetAccess::connect_below(folder, &args.broker, None)?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let is_screen = !args.json && args.count.is_none() && std::io::stdout().is_terminal();
    let mut screen = (is_screen && std::io::stdin().is_terminal()).then(FullScreen::open).transpose()?;
    let mut seen: BTreeMap<String, SeenAgent> = BTreeMap::new();
    let mut left = args.count;
    while left != Some(0) && !signals.is_interrupted() {
        for card in access.roster_for(interval.duration()) {
            seen.insert(card.name.clone(), SeenAgent { card, answered: clock::monotonic() });
        }
        let silent_since = MonoNs(clock::monotonic().0.saturating_sub(2 * interval.0));
        match &mut screen {
            Some(screen) => {
                screen.draw(&lines(&seen, silent_since));
                if matches!(screen.key(Duration::ZERO)?, Some(Key::Char('q' | '\u{3}'))) {
                    break;
                }
            }
            None if args.json => ui.print(&line(&seen, silent_since).to_string()),
            None => ui.print(&shown(&seen, silent_since)),
        }
        left = left.map(|count| count - 1);
    }
    Ok(Exit::Done)
}

fn lines(seen: &BTreeMap<String, SeenAgent>, silent_since: MonoNs) -> Vec<String> {
    let count =
        |is: fn(&SeenAgent, MonoNs) -> bool| seen.values().filter(|agent| is(agent, silent_since)).count();
    let (silent, used) = (count(is_silent), count(|agent, _| agent.card.leased_to.is_some()));
    let head = format!("agents: {} · used: {used} · silent: {silent} · q quits", seen.len());
    [head, String::new()].into_iter().chain(shown(seen, silent_since).lines().map(str::to_owned)).collect()
}

fn is_silent(agent: &SeenAgent, since: MonoNs) -> bool {
    agent.answered < since
}

fn shown(seen: &BTreeMap<String, SeenAgent>, silent_since: MonoNs) -> String {
    if seen.is_empty() {
        return "no agent answers".to_owned();
    }
    // Labels may be long, and a narrow terminal cuts off what is last.
    let head = ["NAME", "BUSY", "CPUS", "STATE", "LABELS"].map(str::to_owned);
    let rows = seen.values().map(|agent| {
        let card = &agent.card;
        let is_silent = is_silent(agent, silent_since);
        let labels = card.labels.to_string();
        [
            card.name.clone(),
            card.busy_ratio.filter(|_| !is_silent).map_or("–".to_owned(), number::percent),
            card.cpus_count.map_or("–".to_owned(), |count| count.to_string()),
            if is_silent { "silent".to_owned() } else { state(card) },
            if labels.is_empty() { "–".to_owned() } else { labels },
        ]
    });
    table(std::iter::once(head).chain(rows).collect(), &[1, 2])
}

/// The same for programs: one document per line.
fn line(seen: &BTreeMap<String, SeenAgent>, silent_since: MonoNs) -> serde_json::Value {
    let agents = seen.values().map(|agent| {
        let mut document = document(&agent.card);
        document["is_silent"] = is_silent(agent, silent_since).into();
        document
    });
    json!({ "schema": "sysdyno-fleet-1", "agents": agents.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::super::list::tests::agent as card;
    use super::*;

    #[test]
    fn who_has_not_answered_lately_is_silent() {
        let agent = |name: &str, second: u64| {
            let card = AgentCard { busy_ratio: Some(0.25), ..card(name, "", None) };
            (name.to_owned(), SeenAgent { card, answered: MonoNs(second * 1_000_000_000) })
        };
        let seen = BTreeMap::from([agent("web1", 10), agent("w2", 7)]);
        let expected = "\
NAME   BUSY  CPUS  STATE   LABELS
w2        –     8  silent  –
web1  25.0%     8  free    –
";
        let since = MonoNs(8_000_000_000);
        assert_eq!(shown(&seen, since), expected);
        assert!(lines(&seen, since)[0].contains("agents: 2 · used: 0 · silent: 1"));
        assert_eq!(line(&seen, since)["agents"][0]["is_silent"], true);
    }
}
