use super::*;

fn histogram(values: impl IntoIterator<Item = u64>) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    values.into_iter().for_each(|value| histogram.record(value));
    histogram
}

fn line_of(histogram: &LatencyHistogram) -> Vec<u8> {
    let tag = LogTag { trial: 3, phase: PhaseKind::Steady, kind: LatencyKind::Response };
    let mut lines = Vec::new();
    let span = [WallNs(1_700_000_000_250_000_000), WallNs(1_700_000_001_250_000_000)];
    LogEncoder::default().encode(&mut lines, tag, span, histogram).expect("encodes");
    lines
}

fn decoded(line: &[u8]) -> Result<Entry, String> {
    match decode(line.strip_suffix(b"\n").unwrap_or(line))? {
        Decoded::Entry(entry) => Ok(entry),
        other => Err(format!("{other:?}")),
    }
}

fn counts(histogram: &LatencyHistogram) -> Vec<(u64, u64)> {
    let steps = histogram.as_hdr().iter_recorded();
    steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

#[test]
fn a_histogram_survives_the_log() {
    let written = histogram((0..20_000).map(|number: u64| number * number % 1_000_003 * 977 + 1));
    let line = line_of(&written);
    assert!(line.starts_with(b"Tag=T0003:steady:response,1700000000.250,1.000,"), "{}", line.escape_ascii());
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    let entry = decoded(&line).expect("decodes");
    assert_eq!(entry.tag, LogTag { trial: 3, phase: PhaseKind::Steady, kind: LatencyKind::Response });
    assert_eq!((entry.start, entry.length), (WallNs(1_700_000_000_250_000_000), Duration::from_secs(1)));
    assert_eq!(counts(&entry.histogram), counts(&written));
    assert_eq!(entry.histogram.quantile(0.99), written.quantile(0.99));
}
