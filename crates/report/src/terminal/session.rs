//! Results of a load of users: the outcome of each operation, and the rules that were not met.

use super::scoreboard;
use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::number;
use sysdyno_record::scoreboard::ScoreboardOperation;
use sysdyno_record::session::SessionResult;

pub(super) fn draw(session: &SessionResult, screen: &mut Screen) {
    screen.gap();
    let (word, tone) = if session.passed { ("✔ PASSED", Tone::Good) } else { ("✘ FAILED", Tone::Bad) };
    let met = session.rules.iter().filter(|rule| rule.passed).count();
    let users = match session.users {
        0 => "arriving sessions".to_owned(),
        1 => "1 user".to_owned(),
        users => format!("{} users", number::count(users.into())),
    };
    let planned = session
        .planned_hz
        .map_or(String::new(), |planned_hz| format!(" of {} planned", number::significant(planned_hz, 4)));
    let text = format!(
        "{} with {users}: {} of {} rules met · {} operations/s{planned}",
        session.name,
        number::count(met as u64),
        number::count(session.rules.len() as u64),
        number::significant(session.rate_hz, 4)
    );
    screen.sentence(Rank::Needed, (tone, word), (Tone::Strong, &text));
    let broken: Vec<_> = session.rules.iter().filter(|rule| !rule.passed).collect();
    for rule in broken.iter() {
        screen.sentence(Rank::Needed, (Tone::Bad, "✘"), (Tone::Plain, &rule.sentence));
    }
    let operations = session.operations.iter().map(|one| ScoreboardOperation::of(one, session));
    scoreboard::draw(screen, "Operations", &operations.collect::<Vec<_>>());
}
