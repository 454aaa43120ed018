//! Requests with values against real sockets: what the server reads is what was to be sent.

use super::sessions::{load_until, users};
use super::*;
use std::collections::HashSet;
use std::sync::Mutex;
use sysdyno_record::plan::HeaderField;
use sysdyno_record::session::{TakeFrom, TakePlan};

pub(super) fn every_counted_value_is_sent_once_whatever_becomes_of_connections(io: IoChoice) {
    for (keep_alive, threads) in [
        (KeepAlive::Unlimited, 1),
        (KeepAlive::Unlimited, 2),
        (KeepAlive::Requests(3), 2),
        (KeepAlive::Requests(1), 1),
    ] {
        let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
        let keeper = Arc::clone(&seen);
        let server = serve_paths(move |path, stream| {
            let number = path.strip_prefix("/n/").and_then(|number| number.parse().ok());
            keeper.lock().expect("is whole").push(number.expect("is a number"));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").is_ok()
        });
        let mut plan = plan(io, &format!("{}n/{{{{counter:1..}}}}", server.url));
        (plan.keep_alive, plan.threads) = (keep_alive, threads);
        let (outcome, _) = load(&plan);
        assert_eq!(outcome.summary.total.ok, 200, "{keep_alive:?} {threads}: {:?}", outcome.summary.measured);
        let mut seen = seen.lock().expect("is whole").clone();
        seen.sort_unstable();
        assert_eq!(seen, (1..=200).collect::<Vec<u64>>(), "{keep_alive:?} {threads}");
    }
}

pub(super) fn a_body_is_as_long_as_its_values_make_it(io: IoChoice) {
    // A request that came too long or too short is the beginning of the next one, which is none then.
    let lengths: Arc<Mutex<HashSet<usize>>> = Arc::default();
    let keeper = Arc::clone(&lengths);
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let keeper = Arc::clone(&keeper);
            std::thread::spawn(move || read_bodies(stream, &keeper));
        }
    });
    let mut plan = plan(io, &url);
    plan.request.method = "POST".into();
    plan.request.body = b"{\"n\":{{counter:1..}},\"r\":\"{{random:1..10000000}}\"}".as_slice().into();
    let (outcome, _) = load(&plan);
    assert_eq!(outcome.summary.total.ok, 200, "{:?}", outcome.summary.measured);
    assert!(lengths.lock().expect("is whole").len() >= 3);
}

/// Answers with 200 as long as requests are what they are to be.
fn read_bodies(mut stream: TcpStream, lengths: &Mutex<HashSet<usize>>) {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let field = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length: usize = field.and_then(|field| field.parse().ok()).expect("has a length");
        if body.len() < length {
            continue;
        }
        let is_good =
            head.starts_with("POST / HTTP/1.1") && body.starts_with("{\"n\":") && body.ends_with("\"}");
        lengths.lock().expect("is whole").insert(length);
        seen.clear();
        let status = if is_good && body.len() == length { "200 OK" } else { "400 No" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn header(name: &str, value: &str) -> HeaderField {
    HeaderField { name: name.into(), value: value.into() }
}

/// A server that gives each user a cookie and a token, and asks for both.
fn answer(head: &str, users: &Mutex<HashSet<String>>) -> String {
    let path = head.split(' ').nth(1).unwrap_or("");
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").to_owned();
    if let Some(user) = path.strip_prefix("/login/") {
        users.lock().expect("is whole").insert(user.to_owned());
        let fields = format!("Set-Cookie: session={user}; Path=/\r\nSet-Cookie: old=1; Max-Age=0");
        return format!("HTTP/1.1 200 OK\r\n{fields}\r\nX-Token: t{user}\r\nContent-Length: 2\r\n\r\nhi");
    }
    let is_known = field("Cookie: ").strip_prefix("session=").is_some_and(|user| {
        users.lock().expect("is whole").contains(user) && field("X-Token: ") == format!("t{user}")
    });
    let status = if is_known { "200 OK" } else { "403 No" };
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{path}", path.len())
}

pub(super) fn users_log_in_and_send_back_what_they_were_given(io: IoChoice) {
    for threads in [1, 2] {
        let known: Arc<Mutex<HashSet<String>>> = Arc::default();
        let pages = Arc::new(AtomicU64::new(0));
        let (keeper, counter) = (Arc::clone(&known), Arc::clone(&pages));
        let server = serve_heads(move |_, head, stream| {
            counter.fetch_add(u64::from(head.starts_with("GET /page")), Ordering::SeqCst);
            stream.write_all(answer(head, &keeper).as_bytes()).is_ok()
        });
        let mut plan = plan(io, &server.url);
        users(&mut plan, 30);
        plan.threads = threads;
        let operations = &mut plan.workload.operations;
        operations[0].path = "/login/{{user}}".into();
        operations[1].path = "/page/{{random:1..1000000}}".into();
        operations[1].request.headers.push(header("X-Token", "{{token}}"));
        let session = plan.workload.session.as_mut().expect("has users");
        session.cookies = true;
        session.operations.iter_mut().for_each(|operation| operation.objects.clear());
        session.operations[0].takes =
            vec![TakePlan { name: "token".into(), from: TakeFrom::Header("x-token".into()) }];
        // Most of the time on pages.
        session.operations[1].next = vec![1.0, 4.0];
        let is_enough = || pages.load(Ordering::SeqCst) >= 300 && known.lock().expect("is whole").len() == 30;
        let (outcome, _) = load_until(&plan, is_enough);
        let counts = outcome.summary.total;
        assert_eq!((counts.failed, counts.timed_out), (0, 0), "{:?}", outcome.summary.measured.failures);
        assert_eq!(counts.written, server.requests.load(Ordering::SeqCst));
        let expected: HashSet<String> = (1..=30).map(|user| user.to_string()).collect();
        assert_eq!(*known.lock().expect("is whole"), expected);
        // Without cookies, the same server turns them away.
        let session = plan.workload.session.as_mut().expect("has users");
        session.cookies = false;
        let seen = pages.load(Ordering::SeqCst);
        let (outcome, _) = load_until(&plan, || pages.load(Ordering::SeqCst) >= seen + 50);
        assert_eq!(outcome.summary.operations[1].counts.ok, 0);
    }
}

#[test]
fn clients_begin_and_leave_when_their_number_is_reached() {
    let mut plan = plan(IoChoice::Auto, "http://127.0.0.1:1/");
    plan.connections = 6;
    let point =
        |seconds, clients| sysdyno_record::workload::ClientPoint { at: SpanNs::from_secs(seconds), clients };
    let up = [point(0, 0), point(0, 2), point(10, 4), point(10, 5), point(20, 6)];
    plan.workload.clients = [&up[..], &[point(30, 1), point(30, 0), point(40, 2)]].concat();
    let control = Control::new();
    let job = job::Job::new(&plan, &control).expect("is a load");
    let turns = |turn, from: u64| {
        let turns = (0..6).map(|client| job.client_turn_ns(client, turn, from * 1_000_000_000));
        // To the tenth of a second: within it the arithmetic may err.
        turns.map(|turn_ns| turn_ns.map(|turn_ns| (turn_ns + 50_000_000) / 100_000_000)).collect::<Vec<_>>()
    };
    assert_eq!(turns(job::ClientTurn::Begins, 0), [0, 0, 50, 100, 100, 200].map(Some));
    assert_eq!(turns(job::ClientTurn::Leaves, 20), [300, 280, 260, 240, 220, 200].map(Some));
    assert_eq!(turns(job::ClientTurn::Begins, 31), [Some(350), Some(400), None, None, None, None]);
    assert_eq!(
        turns(job::ClientTurn::Leaves, 35),
        [None, Some(350), Some(350), Some(350), Some(350), Some(350)]
    );
    // Who has just come does not leave, and who has just left does not come.
    let begin_ns = job.client_turn_ns(2, job::ClientTurn::Begins, 0).expect("begins");
    let end_ns = job.client_turn_ns(2, job::ClientTurn::Leaves, begin_ns).expect("leaves");
    assert!(end_ns > 25_900_000_000, "{end_ns}");
    assert_eq!(job.client_turn_ns(2, job::ClientTurn::Begins, end_ns), None);
    for clients in [vec![point(0, 0), point(5, 7)], vec![point(0, 5)], vec![point(5, 0), point(0, 6)]] {
        plan.workload.clients = clients;
        assert!(job::Job::new(&plan, &control).is_err(), "{:?}", plan.workload.clients);
    }
}
