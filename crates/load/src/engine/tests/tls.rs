//! Loads over TLS against a server by rustls, good and bad, and against what is no TLS server at all.

use super::*;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::path::{Path, PathBuf};
use sysdyno_record::wire::{TlsPlan, TlsVersion, WirePlan};

on_both_back_ends! {
    handshakes_are_counted_as_the_server_counts_them
    kept_connections_are_secured_once
    certificates_that_are_not_good_are_told_apart
    a_certificate_that_is_trusted_itself_may_be_that_of_an_authority
    what_is_no_tls_has_its_class
    a_broken_record_has_its_class
    an_end_without_a_word_truncates_what_has_no_length
    a_client_certificate_is_shown
    what_a_server_may_say_without_end_ends_in_time
    a_response_that_is_cut_inside_a_record_is_not_complete
    a_word_of_the_end_ends_what_comes_after_it
}

pub(super) type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A certificate that is its own issuer, in files of a folder that is removed at the end.
pub(super) struct Identity {
    folder: PathBuf,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Identity {
    fn new(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Identity {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("sysdyno-tls-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("creates");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("signs");
        std::fs::write(folder.join("cert.pem"), certificate.pem()).expect("writes");
        std::fs::write(folder.join("key.pem"), key.serialize_pem()).expect("writes");
        Identity { folder, certificate, key }
    }

    pub(super) fn of_home() -> Identity {
        Identity::new(&["localhost", "127.0.0.1"], |_| {})
    }

    pub(super) fn certificate_file(&self) -> PathBuf {
        self.folder.join("cert.pem")
    }

    pub(super) fn server(&self, clients: Option<&Identity>) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(rustls::ALL_VERSIONS)
            .expect("versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots.add(clients.certificate.der().clone()).expect("a root");
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
            }
        };
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).expect("a key");
        let mut config =
            builder.with_single_cert(vec![self.certificate.der().clone()], key).expect("fits together");
        config.session_storage = rustls::server::ServerSessionMemoryCache::new(1024);
        Arc::new(config)
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A server over TLS, and what it counts.
pub(super) struct Secure {
    pub(super) url: String,
    requests: Arc<AtomicU64>,
    full: Arc<AtomicU64>,
    resumed: Arc<AtomicU64>,
}

pub(super) type Answer = dyn Fn(u64, &mut Stream) -> bool + std::marker::Send + Sync;

pub(super) fn serve_tls(config: Arc<ServerConfig>, answer: Box<Answer>) -> Secure {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("https://{}/", listener.local_addr().expect("has an address"));
    let server = Secure { url, requests: Arc::default(), full: Arc::default(), resumed: Arc::default() };
    let counts = [&server.requests, &server.full, &server.resumed].map(Arc::clone);
    let answer: Arc<Answer> = answer.into();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (answer, counts, config) = (Arc::clone(&answer), counts.clone(), Arc::clone(&config));
            std::thread::spawn(move || {
                let connection = ServerConnection::new(config).expect("a connection");
                converse_tls(StreamOwned::new(connection, stream), &*answer, &counts);
            });
        }
    });
    server
}

fn converse_tls(mut stream: Stream, answer: &Answer, [requests, full, resumed]: &[Arc<AtomicU64>; 3]) {
    while stream.conn.is_handshaking() {
        if stream.conn.complete_io(&mut stream.sock).is_err() {
            return;
        }
    }
    let is_resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
    if is_resumed { resumed } else { full }.fetch_add(1, Ordering::SeqCst);
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..length]);
        while let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            seen.drain(..end + 4);
            let number = requests.fetch_add(1, Ordering::SeqCst) + 1;
            if !answer(number, &mut stream) {
                return;
            }
        }
    }
}

fn hello(_: u64, stream: &mut Stream) -> bool {
    stream.write_all(RESPONSE.as_bytes()).is_ok()
}

pub(super) fn tls_plan(io: IoChoice, url: &str, trusted: &Path) -> LoadPlan {
    let mut plan = plan(io, url);
    let tls = TlsPlan {
        server_name: "localhost".into(),
        version: None,
        resume_ratio: 0.0,
        is_insecure: false,
        ca_file: Some(trusted.to_owned()),
        certificate_file: None,
        key_file: None,
    };
    plan.wire = WirePlan { tls: Some(tls), ..WirePlan::default() };
    plan.deadlines.connect = SpanNs::from_millis(500);
    plan.deadlines.idle = SpanNs::from_millis(500);
    plan
}

fn tls(plan: &mut LoadPlan) -> &mut TlsPlan {
    plan.wire.tls.as_mut().expect("a load over TLS")
}

fn handshakes_are_counted_as_the_server_counts_them(io: IoChoice) {
    let home = Identity::of_home();
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        for resume_ratio in [0.0, 0.8, 1.0] {
            let server = serve_tls(home.server(None), Box::new(hello));
            let mut plan = tls_plan(io, &server.url, &home.certificate_file());
            plan.keep_alive = KeepAlive::Requests(1);
            (tls(&mut plan).version, tls(&mut plan).resume_ratio) = (Some(version), resume_ratio);
            let (outcome, _) = load(&plan);
            let case = format!("{version:?} {resume_ratio}");
            let measured = &outcome.summary.measured;
            assert_eq!(
                (measured.counts.ok, measured.counts.sent),
                (200, 200),
                "{case} {:?}",
                measured.failures
            );
            assert_eq!(server.requests.load(Ordering::SeqCst), 200, "{case}");
            let counted = measured.handshakes.expect("handshakes are counted");
            let served = [&server.full, &server.resumed].map(|count| count.load(Ordering::SeqCst));
            assert_eq!([counted.full, counted.resumed], served, "{case}");
            // The first connections, made at once, have nothing to resume; with TLS 1.3 they may race for tickets.
            let wanted = (resume_ratio * 200.0) as u64;
            assert!((wanted.saturating_sub(20)..=wanted).contains(&counted.resumed), "{case} {counted:?}");
            assert_eq!(outcome.latency.get(LatencyKind::Handshake).count(), 200, "{case}");
            assert_eq!(outcome.latency.get(LatencyKind::Connect).count(), 200, "{case}");
        }
    }
}

fn kept_connections_are_secured_once(io: IoChoice) {
    let home = Identity::of_home();
    for arrival in [Arrival::Closed, Arrival::Poisson] {
        let server = serve_tls(home.server(None), Box::new(hello));
        let mut plan = tls_plan(io, &server.url, &home.certificate_file());
        (plan.arrival, plan.threads) = (arrival, 2);
        plan.phases[0].rate_hz = arrival.is_open().then_some(2000.0);
        let (outcome, _) = load(&plan);
        assert_eq!(outcome.summary.total.ok, 200, "{:?}", outcome.summary.measured.failures);
        assert_eq!(server.requests.load(Ordering::SeqCst), 200);
        // A server hears the end of a handshake after the client: of a connection that carried nothing, maybe later.
        let begin = std::time::Instant::now();
        while server.full.load(Ordering::SeqCst) < 4 && begin.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        assert_eq!(server.full.load(Ordering::SeqCst), 4);
    }
}

/// The failures of twenty requests, each on a connection of its own.
fn tls_failures(mut plan: LoadPlan) -> Vec<(FailureClass, u64)> {
    plan.connections = 1;
    plan.phases[0].end = PhaseEnd::Requests(5);
    let (outcome, _) = load(&plan);
    assert_eq!(outcome.summary.total.sent, 5);
    outcome.summary.measured.failures.into_iter().collect()
}

fn certificates_that_are_not_good_are_told_apart(io: IoChoice) {
    use FailureClass::{TlsCertificate, TlsExpired, TlsIssuer, TlsName};
    let home = Identity::of_home();
    let stranger = Identity::of_home();
    let expired = Identity::new(&["localhost"], |params| params.not_after = date_time_ymd(2020, 1, 1));
    let early = Identity::new(&["localhost"], |params| params.not_before = date_time_ymd(2100, 1, 1));
    let elsewhere = Identity::new(&["example.org"], |_| {});
    let authority = |name: &str, last_year: i32| {
        Identity::new(&[name], |params| {
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            params.not_after = date_time_ymd(last_year, 1, 1);
        })
    };
    let [own, old, other] = [("localhost", 2200), ("localhost", 2020), ("example.org", 2200)]
        .map(|(name, year)| authority(name, year));
    let each = [
        (&home, &stranger, TlsIssuer),
        (&expired, &expired, TlsExpired),
        (&early, &early, TlsExpired),
        (&elsewhere, &elsewhere, TlsName),
        (&own, &home, TlsCertificate),
        // One that is trusted itself is believed, but for its own time and name only.
        (&old, &old, TlsExpired),
        (&other, &other, TlsName),
    ];
    for (shown, trusted, class) in each {
        let server = serve_tls(shown.server(None), Box::new(hello));
        let mut plan = tls_plan(io, &server.url, &trusted.certificate_file());
        assert_eq!(tls_failures(plan.clone()), [(class, 5)]);
        assert_eq!(server.requests.load(Ordering::SeqCst), 0);
        (tls(&mut plan).is_insecure, tls(&mut plan).ca_file) = (true, None);
        assert_eq!(tls_failures(plan), []);
        assert_eq!(server.requests.load(Ordering::SeqCst), 5);
    }
}

fn a_certificate_that_is_trusted_itself_may_be_that_of_an_authority(io: IoChoice) {
    let own = Identity::new(&["localhost"], |params| {
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    });
    let server = serve_tls(own.server(None), Box::new(hello));
    assert_eq!(tls_failures(tls_plan(io, &server.url, &own.certificate_file())), []);
    assert_eq!(server.requests.load(Ordering::SeqCst), 5);
}

/// A server that says these bytes to whoever connects, and nothing more.
fn serve_bytes(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("https://{}/", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(&bytes);
            kept.push(stream);
        }
    });
    url
}

fn what_is_no_tls_has_its_class(io: IoChoice) {
    use FailureClass::*;
    let home = Identity::of_home();
    let failures = |bytes: Vec<u8>| tls_failures(tls_plan(io, &serve_bytes(bytes), &home.certificate_file()));
    assert_eq!(failures(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), [(TlsPlainText, 5)]);
    assert_eq!(failures(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), [(TlsPlainText, 5)]);
    for (alert, class) in [
        (40, TlsCipher),
        (70, TlsVersion),
        (71, TlsCipher),
        (80, TlsAlert),
        (112, TlsServerName),
        (116, TlsClientCertificate),
        (120, TlsAlpn),
        (200, TlsAlert),
        (0, TlsHandshake),
    ] {
        assert_eq!(failures(vec![0x15, 3, 3, 0, 2, 2, alert]), [(class, 5)], "{alert}");
    }
    assert_eq!(failures(Vec::new()), [(TlsTimeout, 5)]);
    // A record that never comes to its end, and one that says that it is longer than any may be.
    assert_eq!(failures([&[0x16, 3, 3, 0x3f, 0][..], &[0; 100]].concat()), [(TlsTimeout, 5)]);
    assert_eq!(failures(vec![0x16, 3, 3, 0xff, 0xff, 2]), [(TlsHandshake, 5)]);
    // Empty records without end.
    assert_eq!(failures([0x17, 3, 3, 0, 0].repeat(100_000)), [(TlsHandshake, 5)]);
}

fn a_broken_record_has_its_class(io: IoChoice) {
    let home = Identity::of_home();
    let broken = |_: u64, stream: &mut Stream| {
        let _ = stream.sock.write_all(&[0x17, 3, 3, 0, 32]);
        stream.sock.write_all(&[7; 32]).is_ok()
    };
    let server = serve_tls(home.server(None), Box::new(broken));
    let plan = tls_plan(io, &server.url, &home.certificate_file());
    assert_eq!(tls_failures(plan), [(FailureClass::TlsRecord, 5)]);
}

fn an_end_without_a_word_truncates_what_has_no_length(io: IoChoice) {
    let home = Identity::of_home();
    let ending = |says_so: bool| {
        move |_: u64, stream: &mut Stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the end");
            if says_so {
                stream.conn.send_close_notify();
            }
            let _ = stream.flush();
            false
        }
    };
    for (says_so, expected) in [(true, vec![]), (false, vec![(FailureClass::BodyTruncated, 5)])] {
        let server = serve_tls(home.server(None), Box::new(ending(says_so)));
        let plan = tls_plan(io, &server.url, &home.certificate_file());
        assert_eq!(tls_failures(plan), expected, "{says_so}");
    }
}

fn what_a_server_may_say_without_end_ends_in_time(io: IoChoice) {
    let home = Identity::of_home();
    // What ends it are counts: a slow machine has the time that 10,000 tickets take.
    let patient_plan = |server: &Secure| {
        let mut plan = tls_plan(io, &server.url, &home.certificate_file());
        (plan.deadlines.connect, plan.deadlines.idle) = (SpanNs::from_secs(60), SpanNs::from_secs(60));
        plan
    };
    // New keys again and again, and nothing else.
    let rekeying = |_: u64, stream: &mut Stream| {
        while stream.conn.refresh_traffic_keys().is_ok() && stream.conn.complete_io(&mut stream.sock).is_ok()
        {
        }
        false
    };
    let server = serve_tls(home.server(None), Box::new(rekeying));
    let mut plan = patient_plan(&server);
    tls(&mut plan).version = Some(TlsVersion::Tls13);
    assert_eq!(tls_failures(plan), [(FailureClass::TlsRecord, 5)]);
    // More tickets than anybody needs are kept, up to a number; a flood of them is none of a server's.
    for (tickets, is_flood) in [(100, false), (10_000, true)] {
        let mut config = home.server(None);
        Arc::get_mut(&mut config).expect("nobody else has it").send_tls13_tickets = tickets;
        let server = serve_tls(config, Box::new(hello));
        let mut plan = patient_plan(&server);
        (plan.keep_alive, tls(&mut plan).resume_ratio) = (KeepAlive::Requests(1), 0.5);
        let expected = if is_flood { vec![(FailureClass::TlsRecord, 5)] } else { vec![] };
        assert_eq!(tls_failures(plan), expected, "{tickets}");
    }
}

fn a_response_that_is_cut_inside_a_record_is_not_complete(io: IoChoice) {
    let home = Identity::of_home();
    let cutting = |kept: usize| {
        move |_: u64, stream: &mut Stream| {
            let mut records = Vec::new();
            let _ = stream.conn.writer().write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
            let _ = stream.conn.write_tls(&mut records);
            let head = records.len();
            let _ = stream.conn.writer().write(b"hello");
            let _ = stream.conn.write_tls(&mut records);
            let _ = stream.sock.write_all(&records[..if kept == 0 { 10 } else { head + kept }]);
            false
        }
    };
    for (kept, expected) in [(0, FailureClass::EofBeforeHead), (9, FailureClass::BodyTruncated)] {
        let server = serve_tls(home.server(None), Box::new(cutting(kept)));
        let plan = tls_plan(io, &server.url, &home.certificate_file());
        assert_eq!(tls_failures(plan), [(expected, 5)], "{kept}");
    }
}

fn a_word_of_the_end_ends_what_comes_after_it(io: IoChoice) {
    let home = Identity::of_home();
    let ending = |_: u64, stream: &mut Stream| {
        stream.conn.send_close_notify();
        let _ = stream.flush();
        let _ = stream.sock.write_all(&[0x17, 3, 3, 0, 5, 1, 2, 3, 4, 5].repeat(1000));
        false
    };
    let server = serve_tls(home.server(None), Box::new(ending));
    let plan = tls_plan(io, &server.url, &home.certificate_file());
    assert_eq!(tls_failures(plan), [(FailureClass::EofBeforeHead, 5)]);
}

fn a_client_certificate_is_shown(io: IoChoice) {
    let (home, client) = (Identity::of_home(), Identity::of_home());
    let server = serve_tls(home.server(Some(&client)), Box::new(hello));
    let mut plan = tls_plan(io, &server.url, &home.certificate_file());
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        tls(&mut plan).version = Some(version);
        assert_eq!(tls_failures(plan.clone()), [(FailureClass::TlsClientCertificate, 5)], "{version:?}");
    }
    tls(&mut plan).certificate_file = Some(client.certificate_file());
    tls(&mut plan).key_file = Some(client.folder.join("key.pem"));
    assert_eq!(tls_failures(plan), []);
}

#[test]
fn files_that_are_of_no_use_are_named() {
    let refuse = |file: &Path| {
        let plan = tls_plan(IoChoice::Epoll, "https://127.0.0.1:1/", file);
        run(&plan, 1, &Control::new(), &mut Kept::default()).expect_err("refused").to_string()
    };
    assert!(refuse(Path::new("/no/such/file")).contains("'/no/such/file'"));
    let home = Identity::of_home();
    assert!(refuse(&home.folder.join("key.pem")).contains("no certificate"));
}
