//! The log line: round trip, what other readers find in it, and payloads that lie.

use super::*;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

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
    assert_eq!(counts(&entry.histogram()), counts(&written));
    assert_eq!(entry.histogram().quantile(0.99), written.quantile(0.99));
}

/// A payload whose zlib stream stores `unpacked` as it is.
fn stored_payload(unpacked: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(unpacked).expect("packs");
    let stream = encoder.finish().expect("packs");
    let mut payload = 0x1c84_9314_u32.to_be_bytes().to_vec();
    payload.extend((stream.len() as u32).to_be_bytes());
    payload.extend(stream);
    payload
}

/// A V2 histogram with these declared fields and encoded counts.
fn v2(length: u32, digits: u32, highest: u64, counts: &[u8]) -> Vec<u8> {
    let mut bytes = 0x1c84_9313_u32.to_be_bytes().to_vec();
    bytes.extend(length.to_be_bytes());
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(digits.to_be_bytes());
    bytes.extend(1_u64.to_be_bytes());
    bytes.extend(highest.to_be_bytes());
    bytes.extend(1_f64.to_be_bytes());
    bytes.extend(counts);
    bytes
}

#[test]
fn a_payload_that_lies_is_refused_before_it_costs_anything() {
    let hour = 3_600_000_000_000;
    let check = |unpacked: Vec<u8>, expected: &str| {
        let error = payload::decode(&stored_payload(&unpacked)).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    };
    let good = v2(2, 3, hour, &[1, 4]);
    let steps = payload::decode(&stored_payload(&good)).expect("decodes");
    assert_eq!(steps.iter().map(|step| step.count).sum::<u64>(), 2);
    check(v2(u32::MAX, 3, hour, &[1, 4]), "not of its length");
    check(v2(2, 5, hour, &[1, 4]), "too wide");
    check(v2(2, 3, u64::MAX, &[1, 4]), "too wide");
    check(v2(9, 3, hour, &[0xff; 9]), "impossibly great");
    check(v2(9, 3, hour, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), "impossibly great");
    check(v2(1, 3, hour, &[0x80]), "ends within a count");
    check(v2(6, 3, hour, &[0xff, 0xff, 0xff, 0xff, 1, 4]), "longer than it should be");
    check(vec![0; 20], "no head");
    check(v2(2, 0, 0, &[1, 4]), "invalid");
}

#[test]
fn own_counts_stand_for_the_values_that_the_library_reads_from_them() {
    let written = histogram((0..63).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 977]));
    let steps = decoded(&line_of(&written)).expect("decodes").steps;
    let read: Vec<(u64, u64)> = steps.iter().map(|step| (step.up_to_ns, step.count)).collect();
    assert_eq!(read, counts(&written));
}

#[test]
fn a_stream_that_unpacks_to_too_much_is_refused() {
    let line = line_of(&histogram(1..50_000));
    let text =
        line.strip_suffix(b"\n").expect("a line").rsplit(|byte| *byte == b',').next().expect("a field");
    let payload = BASE64_STANDARD.decode(text).expect("base64");
    let unpacked = payload::unpacked(&payload[8..], 1 << 20).expect("unpacks");
    assert_eq!(payload::unpacked(&payload[8..], unpacked.len()).expect("unpacks"), unpacked);
    assert!(payload::unpacked(&payload[8..], unpacked.len() - 1).expect_err("too long").contains("too many"));
}

#[test]
fn tags_of_others_are_left_alone() {
    let line = String::from_utf8(line_of(&histogram([5]))).expect("is text");
    for tag in ["Tag=T0003:steady:new_kind,", "Tag=T0003:steady,", "Tag=x,", "Tag=T+3:steady:response,", ""] {
        let other = line.trim_end().replacen("Tag=T0003:steady:response,", tag, 1);
        assert!(matches!(decode(other.as_bytes()), Ok(Decoded::Foreign)), "{tag}");
    }
}

/// What HdrHistogram 2.2.2 for Java (`HistogramLogReader`) reads from the golden log: tag, count, p50, p99, max.
const READ_BY_JAVA: [(&str, u64, u64, u64, u64); 8] = [
    ("T0001:steady:response", 100, 102_335, 104_127, 104_191),
    ("T0001:steady:service", 100, 101_823, 103_679, 103_679),
    ("T0001:steady:response", 100, 112_319, 114_175, 114_175),
    ("T0001:steady:service", 100, 111_871, 113_663, 113_663),
    ("T0002:steady:response", 100, 202_367, 204_159, 204_287),
    ("T0002:steady:service", 100, 201_855, 203_647, 203_775),
    ("T0002:steady:response", 100, 212_351, 214_143, 214_271),
    ("T0002:steady:service", 100, 211_839, 213_631, 213_759),
];

#[test]
fn another_reader_finds_the_same_percentiles() {
    let log = include_str!("../../tests/golden/sysdyno.run-1/latency.hlog");
    let entries: Vec<Entry> = log.lines().filter_map(|line| decoded(line.as_bytes()).ok()).collect();
    assert_eq!(entries.len(), READ_BY_JAVA.len());
    for (entry, (tag, count, p50, p99, max)) in entries.iter().zip(READ_BY_JAVA) {
        let histogram = entry.histogram();
        assert_eq!((entry.tag.to_string().as_str(), histogram.count()), (tag, count));
        let quantiles = [histogram.quantile(0.5), histogram.quantile(0.99), histogram.max()];
        assert_eq!(quantiles, [Some(p50), Some(p99), Some(max)], "{tag}");
    }
}

#[test]
fn the_head_is_all_comment() {
    let head = LogEncoder::header(WallNs(1_700_000_000_250_000_000));
    let text = String::from_utf8(head).expect("is text");
    assert!(text.contains("#[StartTime: 1700000000.250 (seconds since epoch), 2023-11-14T22:13:20Z]\n"));
    assert!(text.lines().all(|line| matches!(decode(line.as_bytes()), Ok(Decoded::Comment))));
    let times = IntervalLogIterator::new(text.as_bytes()).collect::<Vec<_>>();
    assert_eq!(times, [Ok(LogEntry::StartTime(Duration::from_millis(1_700_000_000_250)))]);
}

proptest::proptest! {
    #[test]
    fn every_histogram_survives(values in proptest::collection::vec(1_u64..4_000_000_000_000, 1..400)) {
        let written = histogram(values);
        let entry = decoded(&line_of(&written)).expect("decodes");
        assert_eq!(counts(&entry.histogram()), counts(&written));
    }

    #[test]
    fn no_change_of_a_byte_gives_other_numbers(at in 0_usize..10_000, to: u8) {
        let written = histogram((1..300).map(|number| number * 1_000_003));
        let mut line = line_of(&written);
        line.pop();
        let at = at % line.len();
        line[at] = to;
        if let Ok(Decoded::Entry(entry)) = decode(&line) {
            assert_eq!(counts(&entry.histogram()), counts(&written));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, unpacked in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
        let mut stream = vec![0x78, 0x9c];
        stream.extend(&bytes);
        let _ = payload::unpacked(&stream, 4096);
        let _ = payload::decode(&bytes);
        let _ = payload::decode(&stored_payload(&unpacked));
        let _ = decode(&bytes);
    }
}
