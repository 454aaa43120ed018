//! What was sent and what came back, the rates, and where the full report is.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use crate::number;
use crate::place;
use std::time::Duration;
use sysdyno_record::load::{FailureClass, Failures};
use sysdyno_record::ramp::RampOf;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    screen.gap();
    draw_counts(input, screen);
    draw_handshakes(input, screen);
    draw_cache(input, screen);
    let rates = &input.analysis.rates;
    let achieved =
        format!("achieved {} · goodput {}", number::rate(rates.achieved_hz), number::rate(rates.goodput_hz));
    let flow = input.analysis.received_bytes_hz.filter(|flow| flow.is_finite() && *flow > 0.0);
    let achieved =
        achieved + &flow.map_or(String::new(), |flow| format!(" · {}/s", number::bytes(flow as u64)));
    let risen = input.analysis.ramp.as_ref().filter(|ramp| ramp.of == RampOf::Rate);
    let text = match rates.offered_hz {
        Some(mean_hz) if risen.is_some() => {
            let top_hz = risen.map_or(0.0, |ramp| ramp.top);
            format!("offered up to {} (mean {}) · {achieved}", number::rate(top_hz), number::rate(mean_hz))
        }
        Some(offered_hz) => format!("offered {} · {achieved}", number::rate(offered_hz)),
        None if input.analysis.session.is_some() => format!("{achieved} · over {}", connections(input)),
        None => format!("{achieved} · closed loop, {}", connections(input)),
    };
    screen.row(Rank::Needed, (Tone::Quiet, "Rates"), &[(Tone::Plain, &text)]);
    draw_generator(input, screen);
    draw_profile(input, screen);
    draw_run(input, screen);
    place::draw(&input.folder, screen);
}

fn connections(input: &ReportInput<'_>) -> String {
    let shown = input.shown_trial().map(|trial| &trial.begin.plan).or(input.run.load());
    let connections = match shown.map_or(0, |plan| plan.connections) {
        1 => "1 connection".to_owned(),
        connections => format!("{} connections", number::count(connections.into())),
    };
    match shown.and_then(|plan| plan.wire.http2) {
        Some(http2) if http2.streams == 1 => format!("{connections} with 1 stream each"),
        Some(http2) => format!("{connections} with {} streams each", number::count(http2.streams.into())),
        None => connections,
    }
}

fn draw_counts(input: &ReportInput<'_>, screen: &mut Screen) {
    let counts = &input.analysis.counts;
    let mut outcome = format!(
        "{} sent = {} ok + {} failed + {} timed out + {} in flight",
        number::count(counts.sent),
        number::count(counts.ok),
        number::count(counts.failed),
        number::count(counts.timed_out),
        number::count(counts.in_flight)
    );
    if counts.unsent > 0 {
        outcome.push_str(&format!("; {} never sent", number::count(counts.unsent)));
    }
    screen.sentence(Rank::Needed, (Tone::Quiet, "Requests"), (Tone::Plain, &outcome));
    let statuses = statuses(input);
    if !statuses.is_empty() {
        screen.sentence(Rank::Needed, (Tone::Quiet, "Statuses"), (Tone::Plain, &statuses));
    }
    let classes = by_count(&input.analysis.failures);
    if classes.is_empty() {
        return;
    }
    screen.row(Rank::Needed, (Tone::Quiet, "Failures"), &[(Tone::Plain, &failures(&classes))]);
    let is_told = |class: &FailureClass| input.told().is_some_and(|told| told.of(*class).is_some());
    for (class, _) in classes.iter().filter(|(class, _)| is_told(class)) {
        let text = format!("{}: {}", class.name(), input.failure_sentence(**class));
        screen.sentence(Rank::Useful, (Tone::Quiet, ""), (Tone::Plain, &text));
    }
}

/// Status codes with their counts, most frequent first.
fn statuses(input: &ReportInput<'_>) -> String {
    let mut statuses: Vec<_> = input.analysis.statuses.iter().filter(|(_, count)| **count > 0).collect();
    statuses.sort_by_key(|(code, count)| (std::cmp::Reverse(**count), **code));
    let texts = statuses.into_iter().map(|(code, count)| format!("{code}: {}", number::count(*count)));
    texts.collect::<Vec<_>>().join(" · ")
}

/// How connections were secured.
fn draw_handshakes(input: &ReportInput<'_>, screen: &mut Screen) {
    let Some(handshakes) = &input.analysis.handshakes else { return };
    let shown = input.shown_trial().map(|trial| &trial.begin.plan).or(input.run.load());
    let is_insecure = shown.and_then(|plan| plan.wire.tls.as_ref()).is_some_and(|tls| tls.is_insecure);
    let mut text = format!(
        "{} full + {} resumed handshakes",
        number::count(handshakes.full),
        number::count(handshakes.resumed)
    );
    if let Some(p50_ns) = input.analysis.handshake_time_ns.p50 {
        text.push_str(&format!(" · p50 {}", number::duration_ns(p50_ns)));
    }
    if is_insecure {
        text.push_str(" · certificate not verified");
    }
    screen.row(Rank::Needed, (Tone::Quiet, "TLS"), &[(Tone::Plain, &text)]);
}

/// What became of the keys of a memcached load.
fn draw_cache(input: &ReportInput<'_>, screen: &mut Screen) {
    let Some(cache) = &input.analysis.cache else { return };
    let hits = cache
        .hit_ratio()
        .map_or(String::new(), |ratio| format!(" ({} of requested keys)", number::percent(ratio)));
    let text = format!(
        "{} hits{hits} + {} misses · {} stored",
        number::count(cache.hits),
        number::count(cache.misses),
        number::count(cache.stored)
    );
    screen.row(Rank::Needed, (Tone::Quiet, "Cache"), &[(Tone::Plain, &text)]);
}

/// Classes that occurred, most frequent first.
fn by_count(failures: &Failures) -> Vec<(&FailureClass, &u64)> {
    let mut classes: Vec<_> = failures.iter().filter(|(_, count)| **count > 0).collect();
    classes.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), **class));
    classes
}

/// Classes with their counts.
fn failures(classes: &[(&FailureClass, &u64)]) -> String {
    let texts = classes.iter().map(|(class, count)| format!("{} {}", class.name(), number::count(**count)));
    texts.collect::<Vec<_>>().join(" · ")
}

/// What the generator's clock and CPU allow to be measured.
fn draw_generator(input: &ReportInput<'_>, screen: &mut Screen) {
    let generator = &input.analysis.generator;
    if generator.timer_error.count == 0 {
        return;
    }
    let mut text = format!(
        "{} · {} of a CPU · timer late by {} (p99 {})",
        escape::terminal(&generator.io, 20),
        number::percent(generator.busiest_thread_ratio),
        number::duration_ns(generator.timer_error.p50_ns),
        number::duration_ns(generator.timer_error.p99_ns),
    );
    if generator.spin_seconds > 0.0 {
        text.push_str(&format!(" · spun {:.1} s", generator.spin_seconds));
    }
    screen.row(Rank::Useful, (Tone::Quiet, "Generator"), &[(Tone::Quiet, &text)]);
    let notes = [("io_uring not used", &generator.io_fallback), ("spinning stopped", &generator.spin_ended)];
    for (what, reason) in notes {
        if let Some(reason) = reason {
            let text = format!("{what}: {}", escape::terminal(reason, 2_000));
            screen.row(Rank::Useful, (Tone::Quiet, ""), &[(Tone::Quiet, &text)]);
        }
    }
}

/// What was sent once more, outside of the measurement.
fn draw_profile(input: &ReportInput<'_>, screen: &mut Screen) {
    let Some(profile) = input.profile else { return };
    let requests = profile
        .requests_count
        .map_or(String::new(), |count| format!(" ({})", number::counted(count, "response")));
    let low = if input.profile_low.is_some() { ", and a fifth of it," } else { "" };
    let sampled = match profile.counts.samples_count {
        0 => "no stack was sampled".to_owned(),
        count => format!("{} sampled, as a flame graph in the report", number::counted(count, "stack")),
    };
    let span = number::duration_ns(profile.duration_ns());
    let text = format!("the same load once more{low} for {span}{requests}: {sampled}");
    screen.sentence(Rank::Useful, (Tone::Quiet, "Profile"), (Tone::Plain, &text));
}

fn draw_run(input: &ReportInput<'_>, screen: &mut Screen) {
    let manifest = input.folder.manifest;
    let mut text = format!("{} · {}", escape::terminal(input.url(), 2_000), manifest.started_unix_ns);
    if let Some(ended) = manifest.ended_unix_ns {
        let took = Duration::from_nanos(ended.0.saturating_sub(manifest.started_unix_ns.0));
        text.push_str(&format!(" · {}", number::span(took)));
    }
    screen.row(Rank::Useful, (Tone::Quiet, "Run"), &[(Tone::Quiet, &text)]);
    if let Some(server) = input.run.server {
        let machine =
            if server.host.is_same_machine { "on the generator's host" } else { "on another machine" };
        let clock = match server.host.clock.is_same_clock {
            true => "same clock".to_owned(),
            false => {
                format!("clock known to within {}", number::duration_ns(server.host.clock.uncertainty_ns))
            }
        };
        let text = format!("{} · {machine} · {clock}", escape::terminal(&server.host.name, 80));
        screen.row(Rank::Useful, (Tone::Quiet, "Server"), &[(Tone::Quiet, &text)]);
    }
}
