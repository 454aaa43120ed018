//! The HTTP/1.1 response parser against any bytes, in any pieces.
//!
//! The first byte of an input chooses the rules, the second how it is cut; the rest is what a server sends. Whatever
//! that is:
//! - nothing panics, and a parser that has ended is not fed again;
//! - how the bytes are cut does not change the outcome, except that bytes after a response are noticed only if they
//!   come with it;
//! - a response that is done is no longer than what was sent, nor than the limit;
//! - a head that is accepted is one that `httparse` accepts, with the same status.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::net::{Ipv4Addr, SocketAddr};
use sysdyno_load::protocol::Progress;
use sysdyno_load::protocol::http1::{ResponseParser, Rules};
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::{
    Endpoint, ExpectedHeader, LoadPlan, PhaseEnd, PhaseKind, PhasePlan, RequestSpec, StampChoice, Target,
    Validators,
};
use sysdyno_record::units::Bytes;

/// Longest body that the rules let pass; small, so that the limit is met.
const MAX_BODY_BYTES: u64 = 4096;

fuzz_target!(|input: &[u8]| {
    let [options, cut, bytes @ ..] = input else { return };
    let rules = Rules::new(&plan(*options));
    let (whole, parser) = feed(bytes, bytes.len(), &rules);
    check_limits(whole, bytes);
    check_oracle(bytes, &parser);
    for step in [1, 1 + usize::from(*cut)] {
        check_same(whole, feed(bytes, step, &rules).0);
    }
    check_end(bytes, &rules);
});

/// Feeds `bytes` in pieces of `step` to the first outcome that is not "more".
fn feed(bytes: &[u8], step: usize, rules: &Rules) -> (Progress, ResponseParser) {
    let mut parser = ResponseParser::default();
    for piece in bytes.chunks(step.max(1)) {
        let progress = parser.feed(piece, rules);
        if progress != Progress::More {
            return (progress, parser);
        }
    }
    (Progress::More, parser)
}

fn check_limits(outcome: Progress, bytes: &[u8]) {
    if let Progress::Done(response) = outcome {
        assert!(response.body.body_bytes <= MAX_BODY_BYTES.min(bytes.len() as u64));
        assert!((200..600).contains(&response.status));
    }
}

fn check_same(whole: Progress, pieces: Progress) {
    let is_late_desync =
        whole == Progress::Failed(FailureClass::Desync) && matches!(pieces, Progress::Done(_));
    assert!(whole == pieces || is_late_desync, "whole {whole:?}, in pieces {pieces:?}");
}

/// The end of the connection gives an outcome, whatever came before.
fn check_end(bytes: &[u8], rules: &Rules) {
    let (progress, mut parser) = feed(bytes, bytes.len(), rules);
    if progress == Progress::More {
        assert_ne!(parser.end(rules), Progress::More);
    }
    parser.reset();
    assert!(!parser.has_bytes() && !parser.has_head());
}

fn check_oracle(bytes: &[u8], parser: &ResponseParser) {
    let is_interim = bytes.get(9) == Some(&b'1');
    if !parser.has_head() || is_interim {
        return;
    }
    let mut fields = [httparse::EMPTY_HEADER; 256];
    let mut oracle = httparse::Response::new(&mut fields);
    let parsed = oracle.parse(bytes);
    assert!(matches!(parsed, Ok(httparse::Status::Complete(_))), "{parsed:?}");
    assert_eq!(oracle.code, parser.status());
}

fn plan(options: u8) -> LoadPlan {
    let has = |bit: u8| options & (1 << bit) != 0;
    let target = Target {
        url: "http://127.0.0.1/".to_owned(),
        endpoint: Endpoint::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 80))),
        host: "127.0.0.1".to_owned(),
        path: "/".to_owned(),
    };
    LoadPlan {
        request: RequestSpec {
            method: if has(0) { "HEAD" } else { "GET" }.to_owned(),
            headers: Vec::new(),
            body: Vec::new().into(),
            body_bytes: 0,
        },
        validators: Validators {
            statuses: Vec::new(),
            body_bytes: has(1).then_some(5),
            header: has(2).then(|| ExpectedHeader { name: "Server".to_owned(), value: None }),
            body_contains: has(3).then(|| "needle".to_owned()),
            same_body: has(4),
            may_vary: has(5),
        },
        phases: vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: PhaseEnd::Requests(1) }],
        max_body: Bytes(MAX_BODY_BYTES),
        stamps: StampChoice::User,
        ..LoadPlan::plain(target)
    }
}
