//! memcached loads against a small server of our own, good and bad.

use super::*;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::sync::Mutex;
use sysdyno_record::wire::{
    CacheCounts, MemcachedDialect, MemcachedPlan, Popularity, SizeModel, SizeRange, WirePlan,
};

on_both_back_ends! {
    what_was_stored_is_found_again_by_both_dialects
    misses_are_no_failures
    wrong_answers_have_their_class
    a_server_that_cannot_store_keeps_its_connections
    what_was_stored_over_tls_is_found_again
    a_record_that_was_changed_has_its_class
}

/// Answers a command line with these bytes; nothing means that the connection is closed.
type Answer = dyn Fn(u64, &str) -> Option<Vec<u8>> + std::marker::Send + Sync;

fn serve_lines(answer: Box<Answer>) -> String {
    serve_lines_over(None, answer)
}

/// The same over TLS, if there is a configuration of it.
fn serve_lines_over(tls: Option<Arc<ServerConfig>>, answer: Box<Answer>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let scheme = if tls.is_some() { "memcacheds" } else { "memcached" };
    let url = format!("{scheme}://{}", listener.local_addr().expect("has an address"));
    let (answer, count): (Arc<Answer>, _) = (answer.into(), Arc::new(AtomicU64::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (answer, count, tls) = (Arc::clone(&answer), Arc::clone(&count), tls.clone());
            std::thread::spawn(move || match tls {
                None => answer_lines(stream, &*answer, &count),
                Some(tls) => {
                    let connection = ServerConnection::new(tls).expect("a connection");
                    answer_lines(StreamOwned::new(connection, stream), &*answer, &count);
                }
            });
        }
    });
    url
}

fn answer_lines(stream: impl Read + Write, answer: &Answer, count: &AtomicU64) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while let Ok(1..) = reader.read_line(&mut line) {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let Some(bytes) = answer(number, line.trim_end_matches(['\r', '\n'])) else { return };
        if reader.get_mut().write_all(&bytes).is_err() {
            return;
        }
        line.clear();
    }
}

/// A server that stores and finds, in both dialects; the values of the load have no line breaks.
fn serve_store() -> (String, Arc<Mutex<HashMap<String, String>>>) {
    serve_store_over(None)
}

fn serve_store_over(tls: Option<Arc<ServerConfig>>) -> (String, Arc<Mutex<HashMap<String, String>>>) {
    let store: Arc<Mutex<HashMap<String, String>>> = Arc::default();
    let (kept, pending) = (Arc::clone(&store), Mutex::new(HashMap::new()));
    let answer: Box<Answer> = Box::new(move |_, line| {
        let words: Vec<&str> = line.split(' ').collect();
        let store = &mut *kept.lock().expect("not poisoned");
        let found = |key: &str| store.get(key).cloned();
        let answer = match words[0] {
            "get" => {
                let value = |key: &&str| {
                    found(key).map(|value| format!("VALUE {key} 0 {}\r\n{value}\r\n", value.len()))
                };
                words[1..].iter().filter_map(value).collect::<String>() + "END\r\n"
            }
            "mg" => {
                let is_quiet = words.contains(&"q");
                let named = if is_quiet { format!(" k{}", words[1]) } else { String::new() };
                match found(words[1]) {
                    Some(value) => format!("VA {}{named}\r\n{value}\r\n", value.len()),
                    None if is_quiet => String::new(),
                    None => "EN\r\n".to_owned(),
                }
            }
            "mn" => "MN\r\n".to_owned(),
            "set" | "ms" => {
                let thread = std::thread::current().id();
                pending.lock().expect("not poisoned").insert(thread, (words[0] == "ms", words[1].to_owned()));
                String::new()
            }
            value => {
                let thread = std::thread::current().id();
                let set = pending.lock().expect("not poisoned").remove(&thread).expect("a set came before");
                store.insert(set.1, value.to_owned());
                if set.0 { "HD\r\n" } else { "STORED\r\n" }.to_owned()
            }
        };
        Some(answer.into_bytes())
    });
    (serve_lines_over(tls, answer), store)
}

fn cache_plan(io: IoChoice, url: &str) -> LoadPlan {
    let memcached = MemcachedPlan {
        dialect: MemcachedDialect::Text,
        get_ratio: 0.7,
        keys_per_get: 1,
        keys_count: 50,
        popularity: Popularity::Zipf(1.0),
        key_size: SizeModel::Etc,
        value_size: SizeModel::Range(SizeRange { min_bytes: 1, max_bytes: 3000 }),
        expiry_seconds: 0,
        is_verified: true,
        is_preloaded: true,
    };
    let mut plan = plan(io, url);
    plan.validators.same_body = false;
    plan.wire = WirePlan { memcached: Some(memcached), ..WirePlan::default() };
    plan.deadlines.idle = SpanNs::from_millis(200);
    plan
}

fn memcached(plan: &mut LoadPlan) -> &mut MemcachedPlan {
    plan.wire.memcached.as_mut().expect("a memcached load")
}

fn what_was_stored_is_found_again_by_both_dialects(io: IoChoice) {
    for dialect in [MemcachedDialect::Text, MemcachedDialect::Meta] {
        for keys_per_get in [1, 4] {
            for keep_alive in [KeepAlive::Unlimited, KeepAlive::Requests(3)] {
                let (url, store) = serve_store();
                let mut plan = cache_plan(io, &url);
                plan.keep_alive = keep_alive;
                (memcached(&mut plan).dialect, memcached(&mut plan).keys_per_get) = (dialect, keys_per_get);
                let (outcome, _) = load(&plan);
                let case = format!("{dialect:?} {keys_per_get} {keep_alive:?}");
                let measured = &outcome.summary.measured;
                assert_eq!((measured.counts.ok, measured.counts.sent), (200, 200), "{case}");
                let cache = measured.cache.expect("keys are counted");
                assert_eq!(cache.misses, 0, "{case}");
                assert_eq!(cache.hits, (200 - cache.stored) * u64::from(keys_per_get), "{case}");
                assert!((20..110).contains(&cache.stored), "{case}: {cache:?}");
                assert_eq!(store.lock().expect("not poisoned").len(), 50, "{case}");
                assert!(measured.achieved_hz > 0.0, "{case}");
            }
        }
    }
}

fn misses_are_no_failures(io: IoChoice) {
    let (url, _) = serve_store();
    let mut plan = cache_plan(io, &url);
    (memcached(&mut plan).is_preloaded, memcached(&mut plan).get_ratio) = (false, 1.0);
    let (outcome, _) = load(&plan);
    assert_eq!(outcome.summary.measured.counts.ok, 200);
    assert_eq!(outcome.summary.measured.cache, Some(CacheCounts { hits: 0, misses: 200, stored: 0 }));
}

fn wrong_answers_have_their_class(io: IoChoice) {
    use FailureClass::*;
    let check = |answer: Box<Answer>, expected: &[(FailureClass, u64)]| {
        let mut plan = cache_plan(io, &serve_lines(answer));
        plan.connections = 1;
        plan.phases[0].end = PhaseEnd::Requests(20);
        (memcached(&mut plan).is_preloaded, memcached(&mut plan).get_ratio) = (false, 1.0);
        // Who answers at all may be slow.
        if !matches!(expected, [(HeadTimeout | BodyTimeout, _)]) {
            plan.deadlines.idle = plan.deadlines.total;
        }
        let (outcome, _) = load(&plan);
        let failures: Vec<_> = outcome.summary.measured.failures.into_iter().collect();
        assert_eq!(failures, expected);
        assert_eq!(outcome.summary.total.sent, 20);
    };
    let always = |text: &'static [u8]| -> Box<Answer> { Box::new(move |_, _| Some(text.to_vec())) };
    check(always(b"SERVER_ERROR out of memory\r\n"), &[(ServerError, 20)]);
    check(always(b"\x81\x00\x00\x00garbage\n"), &[(NotMemcached, 20)]);
    check(always(b"HTTP/1.1 400 Bad Request\r\n"), &[(NotMemcached, 20)]);
    check(always(b"VALUE never-asked-for 0 1\r\nx\r\nEND\r\n"), &[(Protocol, 20)]);
    check(always(&[b'x'; 5000]), &[(NotMemcached, 20)]);
    check(always(b"END\r\nEND\r\n"), &[(Desync, 20)]);
    check(Box::new(|_, _| None), &[(EofBeforeHead, 20)]);
    let named = |tail: &'static str| -> Box<Answer> {
        Box::new(move |_, line| Some(format!("VALUE {} 0 {tail}", line.split_at(4).1).into_bytes()))
    };
    check(named("3001\r\nshort"), &[(BodyTimeout, 20)]);
    check(named("1\r\nlonger\r\nEND\r\n"), &[(Protocol, 20)]);
    check(named("4000000000\r\n"), &[(Protocol, 20)]);
    check(named("2000000\r\n"), &[(BodyLimit, 20)]);
    // No value of the load has so many bytes.
    check(named("0\r\n\r\nEND\r\n"), &[(WrongLength, 20)]);
    let silent: Box<Answer> =
        Box::new(|number, _| Some(if number == 7 { vec![] } else { b"END\r\n".into() }));
    check(silent, &[(HeadTimeout, 1)]);
}

fn a_server_that_cannot_store_keeps_its_connections(io: IoChoice) {
    let full: Box<Answer> = Box::new(|_, line| {
        Some(if line.starts_with("set ") { b"SERVER_ERROR full\r\n".to_vec() } else { vec![] })
    });
    let mut plan = cache_plan(io, &serve_lines(full));
    (memcached(&mut plan).is_preloaded, memcached(&mut plan).get_ratio) = (false, 0.0);
    let (outcome, _) = load(&plan);
    let measured = &outcome.summary.measured;
    assert_eq!(measured.failures.clone().into_iter().collect::<Vec<_>>(), [(FailureClass::ServerError, 200)]);
    assert_eq!(measured.connections_opened, u64::from(plan.connections));
}

fn secured(io: IoChoice, url: &str, home: &tls::Identity) -> LoadPlan {
    let tls = tls::tls_plan(io, url, &home.certificate_file()).wire.tls;
    let mut plan = cache_plan(io, url);
    plan.wire.tls = tls;
    plan
}

fn what_was_stored_over_tls_is_found_again(io: IoChoice) {
    let home = tls::Identity::of_home();
    for keep_alive in [KeepAlive::Unlimited, KeepAlive::Requests(3)] {
        let (url, store) = serve_store_over(Some(home.server(None)));
        let mut plan = secured(io, &url, &home);
        (plan.keep_alive, memcached(&mut plan).keys_per_get) = (keep_alive, 4);
        let (outcome, _) = load(&plan);
        let measured = &outcome.summary.measured;
        assert_eq!((measured.counts.ok, measured.counts.sent), (200, 200), "{:?}", measured.failures);
        let cache = measured.cache.expect("keys are counted");
        assert_eq!((cache.misses, cache.hits), (0, (200 - cache.stored) * 4));
        assert_eq!(store.lock().expect("not poisoned").len(), 50);
        let handshakes = measured.handshakes.expect("they are counted");
        assert_eq!(handshakes.full, measured.connections_opened);
    }
}

fn a_record_that_was_changed_has_its_class(io: IoChoice) {
    let home = tls::Identity::of_home();
    let broken = |_: u64, stream: &mut tls::Stream| {
        let _ = stream.sock.write_all(&[&[0x17, 3, 3, 0, 32][..], &[7; 32]].concat());
        true
    };
    let server = tls::serve_tls(home.server(None), Box::new(broken));
    let mut plan = secured(io, &server.url.replace("https://", "memcacheds://"), &home);
    plan.connections = 1;
    plan.phases[0].end = PhaseEnd::Requests(5);
    // Its server answers what ends with an empty line, as a value of this length does that is so itself.
    (memcached(&mut plan).is_preloaded, memcached(&mut plan).get_ratio) = (false, 0.0);
    memcached(&mut plan).value_size = SizeModel::Fixed(0);
    let (outcome, _) = load(&plan);
    let failures: Vec<_> = outcome.summary.measured.failures.into_iter().collect();
    assert_eq!(failures, [(FailureClass::TlsRecord, 5)]);
}

#[test]
fn keys_are_not_stored_where_the_certificate_is_not_good_nor_where_nobody_shakes_hands() {
    let [home, stranger] = [(); 2].map(|()| tls::Identity::of_home());
    let store = |url: &str| {
        let mut plan = secured(IoChoice::Epoll, url, &stranger);
        plan.deadlines.connect = SpanNs::from_millis(200);
        plan.deadlines.total = SpanNs::from_millis(300);
        let error = run(&plan, 1, &Control::new(), &mut Kept::default()).expect_err("nothing is stored");
        let LoadError::Preload { cause, .. } = error else { panic!("{error}") };
        cause
    };
    let (url, kept) = serve_store_over(Some(home.server(None)));
    let cause = store(&url).to_string();
    assert!(cause.contains("issuer that is not trusted"), "{cause}");
    assert!(kept.lock().expect("not poisoned").is_empty());
    // One that speaks no TLS, one that says nothing, and one that trickles.
    let lines = serve_lines(Box::new(|_, _| Some(b"ERROR\r\n".to_vec())));
    let cause = store(&lines.replace("memcached://", "memcacheds://")).to_string();
    assert!(!cause.is_empty(), "{cause}");
    for trickle in [&b""[..], &[0x16, 3, 3, 0x3f, 0]] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let url = format!("memcacheds://{}", listener.local_addr().expect("has an address"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accepts");
            let _ = stream.write_all(trickle);
            while !trickle.is_empty() && stream.write_all(b"x").is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
        });
        let kind = store(&url).kind();
        assert!(matches!(kind, std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock), "{kind}");
    }
}

#[test]
fn a_server_that_trickles_while_keys_are_stored_has_no_more_time_than_a_silent_one() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("memcached://{}", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accepts");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    let mut plan = cache_plan(IoChoice::Epoll, &url);
    plan.deadlines.total = SpanNs::from_millis(200);
    let error = run(&plan, 1, &Control::new(), &mut Kept::default()).expect_err("nothing is stored");
    let LoadError::Preload { cause, .. } = error else { panic!("{error}") };
    assert_eq!(cause.kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn a_server_that_does_not_store_keeps_the_load_from_starting() {
    let url = serve_lines(Box::new(|_, _| Some(b"SERVER_ERROR out of memory\r\n".to_vec())));
    let plan = cache_plan(IoChoice::Epoll, &url);
    let error = run(&plan, 1, &Control::new(), &mut Kept::default()).expect_err("nothing is stored");
    assert!(error.to_string().contains("'SERVER_ERROR out of memory\\r\\n'"), "{error}");
}

#[test]
fn contradictions_of_a_memcached_plan_are_refused() {
    let refuse = |change: fn(&mut LoadPlan)| {
        let mut plan = cache_plan(IoChoice::Epoll, "memcached://127.0.0.1:1");
        change(&mut plan);
        assert!(run(&plan, 2, &Control::new(), &mut Kept::default()).is_err());
    };
    refuse(|plan| plan.validators.same_body = true);
    refuse(|plan| memcached(plan).keys_count = 0);
    refuse(|plan| memcached(plan).keys_per_get = 101);
    refuse(|plan| memcached(plan).get_ratio = 1.5);
    refuse(|plan| memcached(plan).popularity = Popularity::Zipf(0.0));
}
