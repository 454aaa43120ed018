//! How the server's traffic was divided over its links, and whether that was predicted.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use crate::number;
use sysdyno_record::links::{LinkShare, LinkSplit};

/// Longest name of a link or an aggregate. Unit: columns.
const NAME_COLUMNS_MAX: usize = 40;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    for (place, split) in input.analysis.links.iter().enumerate() {
        if place == 0 {
            screen.gap();
        }
        screen.sentence(Rank::Useful, (Tone::Quiet, "Links"), (Tone::Plain, &sentence(split)));
    }
}

/// Each link's share, the predicted one where it is another, and the rule.
fn sentence(split: &LinkSplit) -> String {
    let is_as_predicted = split.is_as_predicted == Some(true);
    let share = |link: &LinkShare| {
        let name = escape::terminal(&link.name, NAME_COLUMNS_MAX);
        let sent = link.sent_ratio.map_or_else(|| number::MISSING.to_owned(), number::percent);
        match link.predicted_ratio.filter(|_| !is_as_predicted) {
            Some(predicted) => format!("{name} {sent} (predicted {})", number::percent(predicted)),
            None => format!("{name} {sent}"),
        }
    };
    let shares: Vec<String> = split.links.iter().map(share).collect();
    let words = if is_as_predicted { ", as predicted" } else { "" };
    let (mode, aggregate) =
        (escape::terminal(&split.mode, NAME_COLUMNS_MAX), escape::terminal(&split.name, NAME_COLUMNS_MAX));
    format!("{}{words} · {aggregate}, {mode}", shares.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::links::AggregateKind;

    #[test]
    fn the_prediction_is_shown_where_it_was_wrong() {
        let share = |name: &str, sent_ratio: f64, predicted_ratio: f64| LinkShare {
            name: name.into(),
            sent_bytes: Some(1),
            sent_ratio: Some(sent_ratio),
            predicted_ratio: Some(predicted_ratio),
        };
        let mut split = LinkSplit {
            name: "10.9.0.0/24".into(),
            kind: AggregateKind::Route,
            mode: "ECMP by addresses".into(),
            peers_count: 2,
            links: vec![share("eth0\u{1b}[2J", 0.5, 1.0), share("eth1", 0.5, 0.0)],
            is_as_predicted: Some(false),
            chance: None,
        };
        let text = sentence(&split);
        assert!(
            text.contains("50.0% (predicted 100%) · eth1 50.0% (predicted 0%)") && !text.contains('\u{1b}'),
            "{text}"
        );
        split.is_as_predicted = Some(true);
        assert!(
            sentence(&split).ends_with("eth1 50.0%, as predicted · 10.9.0.0/24, ECMP by addresses"),
            "{}",
            sentence(&split)
        );
    }
}
