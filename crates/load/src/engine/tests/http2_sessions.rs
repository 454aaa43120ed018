//! Users and values by HTTP/2 against a server by the `h2` crate, which reads requests by its own rules, and against ones
//! that break theirs.

use super::http2::{Manners, frame, h2_plan, serve_frames, serve_site};
use super::sessions::{load_until, users};
use super::*;
use http::request::Parts;
use std::collections::HashSet;
use std::sync::Mutex;
use sysdyno_record::plan::HeaderField;
use sysdyno_record::session::{TakeFrom, TakePlan};

on_both_back_ends! {
    users_log_in_and_send_back_what_they_were_given
    objects_are_asked_for_by_the_version_that_was_given
    values_make_bodies_that_fit_through_narrow_windows
    users_whose_server_goes_away_again_and_again_lose_nothing
    what_breaks_a_walk_is_counted_and_ends
}

const PATIENT: Manners = Manners { streams: 100, requests_per_connection: u64::MAX };

fn respond(status: u16, fields: &[(&str, &str)], body: &str) -> http::Response<Vec<u8>> {
    let mut builder = http::Response::builder().status(status);
    for (name, value) in fields {
        builder = builder.header(*name, *value);
    }
    builder.body(body.as_bytes().to_vec()).expect("a response")
}

fn field<'a>(parts: &'a Parts, name: &str) -> &'a str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
}

/// Gives each user a cookie and values of three kinds, and asks for all of them; who was let in is kept.
fn shop(parts: &Parts, known: &Mutex<HashSet<String>>) -> http::Response<Vec<u8>> {
    if let Some(user) = parts.uri.path().strip_prefix("/login/") {
        known.lock().expect("is whole").insert(user.to_owned());
        let cookies = [&format!("session={user}; Path=/"), "old=1; Max-Age=0"];
        let fields =
            [("set-cookie", cookies[0]), ("set-cookie", cookies[1]), ("x-token", &format!("t{user}"))];
        return respond(200, &fields, &format!("{{\"csrf\": \"c{user}\", \"name\": \"<n{user}>\"}}"));
    }
    let is_known = field(parts, "cookie").strip_prefix("session=").is_some_and(|user| {
        known.lock().expect("is whole").contains(user)
            && field(parts, "x-token") == format!("t{user}")
            && parts.uri.path().starts_with(&format!("/page/c{user}/n{user}/"))
    });
    respond(if is_known { 200 } else { 403 }, &[], parts.uri.path())
}

fn take(name: &str, from: TakeFrom) -> TakePlan {
    TakePlan { name: name.into(), from }
}

/// Users who log in, and then look at pages most of the time.
fn customers(plan: &mut LoadPlan, count: u32) {
    users(plan, count);
    let operations = &mut plan.workload.operations;
    operations[0].path = "/login/{{user}}".into();
    operations[1].path = "/page/{{csrf}}/{{name}}/{{random:1..1000000}}".into();
    operations[1].request.headers.push(HeaderField { name: "X-Token".into(), value: "{{token}}".into() });
    let session = plan.workload.session.as_mut().expect("has users");
    session.cookies = true;
    session.operations.iter_mut().for_each(|operation| operation.objects.clear());
    session.operations[0].takes = vec![
        take("token", TakeFrom::Header("x-token".into())),
        take("csrf", TakeFrom::Json("csrf".into())),
        take("name", TakeFrom::Between { after: "<".into(), before: ">".into() }),
    ];
    session.operations[1].next = vec![1.0, 4.0];
}

fn users_log_in_and_send_back_what_they_were_given(io: IoChoice) {
    for (streams, threads) in [(1, 1), (1, 2), (4, 1)] {
        let known: Arc<Mutex<HashSet<String>>> = Arc::default();
        let pages = Arc::new(AtomicU64::new(0));
        let (keeper, counter) = (Arc::clone(&known), Arc::clone(&pages));
        let site = move |parts: &Parts, _: &[u8]| {
            counter.fetch_add(u64::from(parts.uri.path().starts_with("/page/")), Ordering::SeqCst);
            shop(parts, &keeper)
        };
        let server = serve_site(PATIENT, Arc::new(site));
        let mut plan = h2_plan(io, &server.url, streams);
        customers(&mut plan, 30);
        plan.threads = threads;
        let is_enough = || pages.load(Ordering::SeqCst) >= 300 && known.lock().expect("is whole").len() == 30;
        let (outcome, _) = load_until(&plan, is_enough);
        let (counts, case) = (outcome.summary.total, format!("{streams} {threads}"));
        let failures = &outcome.summary.measured.failures;
        assert_eq!((counts.failed, counts.timed_out), (0, 0), "{case}: {failures:?}");
        assert_eq!(counts.written, server.requests.load(Ordering::SeqCst), "{case}");
        let expected: HashSet<String> = (1..=30).map(|user| user.to_string()).collect();
        assert_eq!(*known.lock().expect("is whole"), expected, "{case}");
        // Without cookies, the same server turns them away.
        plan.workload.session.as_mut().expect("has users").cookies = false;
        let seen = pages.load(Ordering::SeqCst);
        let (outcome, _) = load_until(&plan, || pages.load(Ordering::SeqCst) >= seen + 50);
        assert_eq!(outcome.summary.operations[1].counts.ok, 0, "{case}");
    }
}

fn objects_are_asked_for_by_the_version_that_was_given(io: IoChoice) {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    let counts: Arc<[AtomicU64; 2]> = Arc::default();
    let counter = Arc::clone(&counts);
    let site = move |parts: &Parts, _: &[u8]| {
        let asks = [field(parts, "if-none-match"), field(parts, "if-modified-since")];
        match (parts.uri.path(), asks) {
            ("/a/file", ["\"v1\"", DATE]) => {
                counter[0].fetch_add(1, Ordering::SeqCst);
                respond(304, &[("etag", "\"v1\"")], "")
            }
            (path, ["", ""]) => {
                counter[1].fetch_add(u64::from(path == "/a/file"), Ordering::SeqCst);
                respond(200, &[("etag", "\"v1\""), ("last-modified", DATE)], "hi")
            }
            _ => respond(400, &[], ""),
        }
    };
    let server = serve_site(PATIENT, Arc::new(site));
    let mut plan = h2_plan(io, &server.url, 1);
    users(&mut plan, 20);
    let not_modified = || counts[0].load(Ordering::SeqCst);
    let (outcome, _) = load_until(&plan, || not_modified() >= 100);
    let summary = &outcome.summary;
    assert_eq!(summary.total.failed, 0, "{:?}", summary.measured.failures);
    assert_eq!(summary.total.written, server.requests.load(Ordering::SeqCst));
    let counted: u64 = summary.operations.iter().map(|operation| operation.not_modified_count).sum();
    assert_eq!(counted, not_modified());
    // Everybody fetches it once at most: who has a warm cache asks from then on, the others never again.
    assert!((1..=20).contains(&counts[1].load(Ordering::SeqCst)), "{counts:?}");
}

fn values_make_bodies_that_fit_through_narrow_windows(io: IoChoice) {
    for (streams, requests_per_connection) in [(1, u64::MAX), (8, u64::MAX), (8, 7)] {
        let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
        let keeper = Arc::clone(&seen);
        let site = move |parts: &Parts, body: &[u8]| {
            let text = String::from_utf8_lossy(body);
            let number = text.strip_prefix("n=").and_then(|text| text.split_once('&'));
            let Some((number, rest)) = number else { return respond(400, &[], "") };
            let is_whole =
                rest == "x".repeat(5000) && field(parts, "content-length") == body.len().to_string();
            let number = number.parse::<u64>().ok().filter(|_| is_whole);
            keeper.lock().expect("is whole").extend(number);
            respond(if number.is_some() { 200 } else { 400 }, &[], "")
        };
        let manners = Manners { requests_per_connection, ..PATIENT };
        let server = serve_site(manners, Arc::new(site));
        let mut plan = h2_plan(io, &server.url, streams);
        plan.phases[0].end = PhaseEnd::Requests(300);
        plan.request.method = "POST".into();
        plan.request.body = format!("n={{{{counter:1..}}}}&{}", "x".repeat(5000)).into_bytes().into();
        let (outcome, _) = load(&plan);
        let failures = &outcome.summary.measured.failures;
        assert_eq!(outcome.summary.total.ok, 300, "{streams} {requests_per_connection}: {failures:?}");
        let mut seen = seen.lock().expect("is whole").clone();
        seen.sort_unstable();
        // One that is sent again, as its server went away without looking at it, is the same one.
        assert_eq!(seen, (1..=300).collect::<Vec<u64>>(), "{streams} {requests_per_connection}");
    }
}

fn users_whose_server_goes_away_again_and_again_lose_nothing(io: IoChoice) {
    for streams in [1, 4] {
        let known: Arc<Mutex<HashSet<String>>> = Arc::default();
        let site = move |parts: &Parts, _: &[u8]| shop(parts, &known);
        let manners = Manners { requests_per_connection: 7, ..PATIENT };
        let server = serve_site(manners, Arc::new(site));
        let mut plan = h2_plan(io, &server.url, streams);
        customers(&mut plan, 20);
        let requests = || server.requests.load(Ordering::SeqCst);
        let (outcome, _) = load_until(&plan, || requests() >= 300);
        let summary = &outcome.summary;
        assert_eq!(summary.total.failed, 0, "{streams}: {:?}", summary.measured.failures);
        assert_eq!(summary.total.ok, requests(), "{streams}");
        let opened: u64 = summary.phases.iter().map(|phase| phase.connections_opened).sum();
        // What it has seen when it goes away, it answers.
        assert!(opened >= requests() / (7 + 2 * u64::from(streams)), "{streams}: {opened}");
    }
}

/// A literal field that nobody keeps.
fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8][..], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

fn what_breaks_a_walk_is_counted_and_ends(io: IoChoice) {
    use FailureClass::*;
    let check = |response: Vec<Vec<u8>>, again: Vec<u8>, expected: &[FailureClass]| {
        let first = [frame(4, 0, 0, &[]), response.concat()].concat();
        let mut plan = h2_plan(io, &serve_frames(first, again), 1);
        customers(&mut plan, 5);
        plan.phases[0].end = PhaseEnd::After(SpanNs::from_millis(400));
        // Who answers is not hurried: this machine may be slow.
        let is_silent = expected.iter().any(|class| matches!(class, BodyTimeout | HeadTimeout));
        plan.deadlines.idle = SpanNs::from_millis(if is_silent { 100 } else { 5000 });
        let (outcome, _) = load(&plan);
        let failures = outcome.summary.measured.failures;
        assert!(failures.contains_key(&expected[0]), "{failures:?}, not {expected:?}");
        assert!(failures.keys().all(|class| expected.contains(class)), "{failures:?}, not {expected:?}");
        let [login, _] = outcome.summary.session.as_slice() else { panic!("two operations") };
        assert_eq!((outcome.summary.operations[0].total.ok, login.completed_count), (0, 0), "{expected:?}");
    };
    let head = |fields: &[u8]| frame(1, 4, 1, &[&[0x88], fields].concat());
    let cookie = literal("set-cookie", &format!("a={}", "b".repeat(100)));
    let data = || frame(0, 0, 1, b"{\"csrf\"");
    // Heads without end, by frames, by the number of fields, and by their length.
    check(vec![frame(1, 0, 1, &[0x88])], frame(9, 0, 1, &[]), &[Http2Abuse]);
    check(vec![head(&literal("set-cookie", "a=b").repeat(600))], vec![], &[HeadTooLarge]);
    let pieces = frame(9, 0, 1, &cookie.repeat(100)).repeat(6);
    check(vec![frame(1, 0, 1, &[0x88]), pieces, frame(9, 4, 1, &[])], vec![], &[HeadTooLarge]);
    // A line break in a field would be another field.
    check(vec![head(&literal("x-token", "t\r\nset-cookie: a=b"))], vec![], &[Protocol]);
    // In the middle of a body: a reset, going away, nothing more.
    check(vec![head(&cookie), data(), frame(3, 0, 1, &[0, 0, 0, 2])], vec![], &[StreamReset, HeadTimeout]);
    let leaving = frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    check(vec![head(&cookie), data(), leaving], vec![], &[BodyTimeout, HeadTimeout, StreamRefused]);
    check(vec![head(&cookie), data()], vec![], &[BodyTimeout, HeadTimeout]);
    // A whole response without what is to be taken from it.
    check(vec![head(&cookie), frame(0, 1, 1, b"{\"csrf\": \"c\"}")], vec![], &[WrongHeader, HeadTimeout]);
}
