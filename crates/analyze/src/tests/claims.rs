//! Checks the claims of sentences against the measurements: a reader of an analysis that verifies its arithmetic.

use sysdyno_record::analysis::Analysis;

/// How far two numbers may lie apart that were rounded to be read.
const ROUNDED: f64 = 0.012;

/// Every sentence of an analysis with a name for messages.
pub(super) fn sentences(analysis: &Analysis) -> Vec<(String, String)> {
    let mut all = vec![
        ("headline".to_owned(), analysis.headline.clone()),
        ("limit".to_owned(), analysis.limit.clone()),
    ];
    all.extend(analysis.verdict.reasons.iter().map(|reason| (reason.id.clone(), reason.text.clone())));
    for finding in &analysis.findings {
        all.push((finding.id.clone(), finding.title.clone()));
        all.extend(finding.evidence.iter().map(|evidence| (finding.id.clone(), evidence.text.clone())));
    }
    all.extend(analysis.capacity.iter().map(|capacity| ("capacity".to_owned(), capacity.method.clone())));
    all
}

/// What contradicts itself or the numbers of the analysis; empty: nothing does.
pub(super) fn contradictions(analysis: &Analysis) -> Vec<String> {
    let mut found = Vec::new();
    for (id, text) in sentences(analysis) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let of_text = [
            shares(&words),
            parts(&words),
            directions(&words),
            limits(&text, &words),
            order(&words),
            bounds(analysis, &words),
        ];
        found.extend(of_text.into_iter().flatten().map(|why| format!("{id}: {why}: '{text}'")));
    }
    found
}

/// A number at the begin of a word, with separators of thousands; the sign is part of it.
fn number(word: &str) -> Option<f64> {
    let word = word.trim_start_matches('(');
    let end = word.find(|letter: char| !(letter.is_ascii_digit() || "-.,".contains(letter)));
    let digits = word[..end.unwrap_or(word.len())].trim_end_matches(['.', ',']).replace(',', "");
    digits.parse().ok()
}

/// A number with a unit of time behind it. Unit: nanoseconds.
fn span(words: &[&str], at: usize) -> Option<f64> {
    let scale = match words.get(at + 1)?.trim_end_matches([',', ';', ':', ')', '.']) {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number(words.get(at)?)? * scale)
}

/// A span, or a plain number.
fn quantity(words: &[&str], at: usize) -> Option<f64> {
    span(words, at).or_else(|| number(words.get(at)?))
}

/// A part is between nothing and the whole.
fn shares(words: &[&str]) -> Vec<String> {
    let values = words.iter().filter(|word| word.contains('%')).filter_map(|word| number(word));
    let wrong = values.filter(|value| !(0.0..=100.0).contains(value));
    wrong.map(|value| format!("{value}% of a whole")).collect()
}

/// `3 of 8`, `1.1 of 2 CPUs`, `20 of its 32`: the part is not greater than the whole.
fn parts(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for at in 1..words.len() {
        let skipped = words.get(at + 1).is_some_and(|word| ["the", "its"].contains(word));
        let whole = words.get(at + 1 + usize::from(skipped)).and_then(|word| number(word));
        let is_part = words[at] == "of" && !words[at - 1].contains('%');
        if let (true, Some(part), Some(whole)) = (is_part, number(words[at - 1]), whole)
            && part > whole * (1.0 + ROUNDED)
        {
            found.push(format!("{part} is more than {whole}"));
        }
    }
    found
}

/// What rose or grew ended above its begin, what fell ended below it.
fn directions(words: &[&str]) -> Vec<String> {
    let ends = |at: usize| {
        let to = (at + 2..words.len().min(at + 6)).find(|at| words[*at] == "to")?;
        (words.get(at + 1) == Some(&"from"))
            .then(|| quantity(words, at + 2).zip(quantity(words, to + 1)))
            .flatten()
    };
    let wrong = (0..words.len()).filter_map(|at| {
        let (from, to) = ends(at)?;
        let is_right = match words[at] {
            "rose" | "grew" => to >= from,
            "fell" => to <= from,
            _ => return None,
        };
        (!is_right || from < 0.0 || to < 0.0).then(|| format!("{} from {from} to {to}", words[at]))
    });
    wrong.collect()
}

/// A missed limit is below what was measured.
fn limits(text: &str, words: &[&str]) -> Vec<String> {
    if !text.contains("p99 of response time was") {
        return Vec::new();
    }
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        (at..words.len()).find_map(|at| span(words, at))
    };
    match after("was").zip(after("limit")) {
        Some((measured, limit)) if measured * (1.0 + ROUNDED) < limit => {
            vec![format!("{measured} ns does not miss {limit} ns")]
        }
        _ => Vec::new(),
    }
}

/// A percentile is not less than a smaller one beside it.
fn order(words: &[&str]) -> Vec<String> {
    let value = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        span(words, at + 1)
    };
    let ends = value("p50").zip(value("p99")).filter(|(median, tail)| median > tail);
    ends.map(|(median, tail)| format!("p50 of {median} is above p99 of {tail}")).into_iter().collect()
}

/// Nothing above `at most` and nothing below `at least` was measured, and an estimate lies in its interval.
fn bounds(analysis: &Analysis, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let of_curve = analysis.curve.iter().map(|point| point.goodput_hz);
    let most = of_curve.fold(analysis.rates.goodput_hz, f64::max);
    for at in 0..words.len().saturating_sub(3) {
        let (true, Some(rate)) = (words[at] == "at" && is_rate(words, at + 2), number(words[at + 2])) else {
            continue;
        };
        if words[at + 1] == "most" && rate < most * (1.0 - ROUNDED) {
            found.push(format!("at most {rate}, and {most} were measured"));
        }
        if words[at + 1] == "least" && rate > most * (1.0 + ROUNDED) {
            found.push(format!("at least {rate}, and at most {most} were measured"));
        }
    }
    let interval = words.iter().position(|word| *word == "interval").and_then(|at| words.get(at + 1));
    if let Some((low, high)) = interval.and_then(|ends| ends.split_once('–'))
        && let (Some(low), Some(high)) = (number(low), number(high))
        && let Some(rate) = (0..words.len()).find(|at| is_rate(words, *at)).and_then(|at| number(words[at]))
        && !(low..=high).contains(&rate)
    {
        found.push(format!("{rate} is not within {low} and {high}"));
    }
    found
}

fn is_rate(words: &[&str], at: usize) -> bool {
    words.get(at + 1).is_some_and(|unit| unit.starts_with("req/s"))
}
