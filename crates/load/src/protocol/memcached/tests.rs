//! The decoder against good answers in any pieces, and against broken ones.

use super::*;
use proptest::prelude::*;
use sysdyno_record::wire::{Popularity, SizeModel};

pub(crate) fn plan() -> MemcachedPlan {
    MemcachedPlan {
        dialect: MemcachedDialect::Text,
        get_ratio: 0.9,
        keys_per_get: 1,
        keys_count: 10,
        popularity: Popularity::Uniform,
        key_size: SizeModel::Fixed(4),
        value_size: SizeModel::Fixed(5),
        expiry_seconds: 0,
        is_verified: true,
        is_preloaded: false,
    }
}

/// What becomes of an answer to a request for `asked` that comes in pieces of `step` bytes.
fn decode(dialect: MemcachedDialect, asked: &[u64], answer: &[u8], step: usize) -> (Progress, CacheCounts) {
    let plan = MemcachedPlan { dialect, ..plan() };
    let keys = Keys::new(&plan, 1);
    let mut decoder = Decoder::new(&plan);
    decoder.expect(asked);
    for piece in answer.chunks(step) {
        let progress = decoder.feed(piece, &keys);
        if progress != Progress::More {
            return (progress, decoder.counts());
        }
    }
    (Progress::More, decoder.counts())
}

fn value(number: u64) -> String {
    String::from_utf8(Keys::new(&plan(), 1).value(number).to_vec()).expect("letters")
}

fn objection(dialect: MemcachedDialect, asked: &[u64], answer: &str) -> (Option<FailureClass>, CacheCounts) {
    let (whole, counts) = decode(dialect, asked, answer.as_bytes(), answer.len());
    assert_eq!((whole, counts), decode(dialect, asked, answer.as_bytes(), 1), "{answer}");
    let Progress::Done(response) = whole else { panic!("{answer}: {whole:?}") };
    (response.objection, counts)
}

const TEXT: MemcachedDialect = MemcachedDialect::Text;
const META: MemcachedDialect = MemcachedDialect::Meta;

#[test]
fn hits_misses_and_stores_are_counted_in_both_dialects() {
    let counts = |hits, misses, stored| CacheCounts { hits, misses, stored };
    let (one, two) = (value(1), value(2));
    let check = |dialect, asked: &[u64], answer: String, expected: CacheCounts| {
        assert_eq!(objection(dialect, asked, &answer), (None, expected), "{answer}");
    };
    check(TEXT, &[1], format!("VALUE 0001 0 5\r\n{one}\r\nEND\r\n"), counts(1, 0, 0));
    check(TEXT, &[1], "END\r\n".into(), counts(0, 1, 0));
    let both = format!("VALUE 0001 0 5\r\n{one}\r\nVALUE 0002 0 5 77\r\n{two}\r\nEND\r\n");
    check(TEXT, &[1, 2], both, counts(2, 0, 0));
    check(TEXT, &[3, 2, 4], format!("VALUE 0002 0 5\r\n{two}\r\nEND\r\n"), counts(1, 2, 0));
    check(TEXT, &[], "STORED\r\n".into(), counts(0, 0, 1));
    check(META, &[1], format!("VA 5\r\n{one}\r\n"), counts(1, 0, 0));
    check(META, &[1], "EN\r\n".into(), counts(0, 1, 0));
    check(META, &[3, 2], format!("VA 5 k0002\r\n{two}\r\nMN\r\n"), counts(1, 1, 0));
    check(META, &[], "HD\r\n".into(), counts(0, 0, 1));
}

#[test]
fn every_wrong_answer_has_its_class() {
    use FailureClass::*;
    let check = |asked: &[u64], answer: &str, class| {
        assert_eq!(objection(TEXT, asked, answer).0, Some(class), "{answer}");
    };
    check(&[1], "VALUE 0001 0 5\r\nWRONG\r\nEND\r\n", WrongBody);
    check(&[1], "VALUE 0001 0 4\r\nWRON\r\nEND\r\n", WrongLength);
    check(&[1], "SERVER_ERROR out of memory writing get response\r\n", ServerError);
    check(&[], "NOT_STORED\r\n", NotStored);
    check(&[], "ERROR\r\n", ServerError);
    let long = "x".repeat(MAX_LINE_BYTES + 1);
    for (asked, answer, class) in [
        (&[1u64][..], "VALUE 0002 0 5\r\nabcde\r\nEND\r\n", Protocol),
        (&[1], "VALUE 0001 0 5\r\nabcdefg\r\n", Protocol),
        (&[1], "VALUE 0001 0 -5\r\n", Protocol),
        (&[1], "VALUE 0001 0 99999999999\r\n", Protocol),
        (&[1], "VALUE 0001 0 1000001\r\n", BodyLimit),
        (&[1], "STORED\r\n", Protocol),
        (&[1], "EN\r\n", Protocol),
        (&[], "END\r\n", Protocol),
        (&[1], "END\n", Protocol),
        (&[1], "\u{81}\0\0\0\0\n", NotMemcached),
        (&[1], "HTTP/1.1 400 Bad Request\r\n", NotMemcached),
        (&[1], "SSH-2.0-OpenSSH_9.2\r\n", NotMemcached),
        (&[1], "-ERR unknown command\r\n", NotMemcached),
        (&[], "220 mail ESMTP\r\n", NotMemcached),
        (&[1], &long, NotMemcached),
        (&[1], &format!("END {long}"), Protocol),
        (&[1, 2], "VALUE 0001 0 5\r\nvalue\r\nSSH-2.0\r\n", Protocol),
        (&[1], "END\r\nEND\r\n", Desync),
    ] {
        let whole = decode(TEXT, asked, answer.as_bytes(), answer.len()).0;
        assert_eq!(whole, Progress::Failed(class), "{answer}");
    }
}

#[test]
fn an_error_to_a_set_leaves_the_connection_in_step_and_others_do_not() {
    let keep = |asked: &[u64], answer: &str| match decode(TEXT, asked, answer.as_bytes(), 1).0 {
        Progress::Done(response) => response.keep_alive,
        other => panic!("{other:?}"),
    };
    assert!(keep(&[], "SERVER_ERROR out of memory storing object\r\n"));
    assert!(!keep(&[1], "SERVER_ERROR\r\n"));
    assert!(!keep(&[], "CLIENT_ERROR bad data chunk\r\n"));
}

#[test]
fn an_end_in_the_middle_is_told_from_one_before_the_answer() {
    let mut decoder = Decoder::new(&plan());
    let keys = Keys::new(&plan(), 1);
    decoder.expect(&[1]);
    assert_eq!(decoder.end(), Progress::Failed(FailureClass::EofBeforeHead));
    assert_eq!(decoder.feed(b"VALUE 0001 0 5\r\nab", &keys), Progress::More);
    assert_eq!(decoder.end(), Progress::Failed(FailureClass::BodyTruncated));
}

proptest! {
    #[test]
    fn pieces_do_not_change_the_outcome(
        answer in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            "(VALUE 000[0-9] 0 [0-9]{1,2}\r\n[a-z]{0,9}\r\n){0,3}(END\r\n)?".prop_map(String::into_bytes),
        ],
        step in 1usize..20,
    ) {
        let (whole, counts) = decode(TEXT, &[1, 2, 3], &answer, answer.len().max(1));
        let (pieces, _) = decode(TEXT, &[1, 2, 3], &answer, step);
        // Bytes after an answer are noticed only if they come with it.
        let is_late_desync =
            whole == Progress::Failed(FailureClass::Desync) && matches!(pieces, Progress::Done(_));
        prop_assert!(whole == pieces || is_late_desync, "{:?} {:?}", whole, pieces);
        prop_assert!(counts.hits <= 3);
    }
}
