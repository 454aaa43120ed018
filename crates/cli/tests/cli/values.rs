//! Values in requests, and users who log in: what real servers were asked is what was to be sent.

use crate::rig::nginx::Nginx;
use crate::rig::program::{Program, Target};
use crate::rig::{skip, wait_until};
use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn file(program: &Program, name: &str, text: &str) -> String {
    let path: PathBuf = program.runs().join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path.to_str().expect("is text").to_owned()
}

#[test]
fn nginx_is_asked_for_every_number_and_row_in_turn() {
    let Some(nginx) = Nginx::start("location / { return 200 'a page'; }") else {
        return skip("values in requests", &["nginx"]);
    };
    let program = Program::new();
    let table = file(&program, "users.csv", "name,city\nann,K\u{f6}ln\nbob,\"a b\"\n");
    let url = nginx
        .url(&format!("/item/{{{{counter:7..}}}}?u={{{{csv:{table}:name}}}}&c={{{{csv:{table}:city}}}}"));
    let outcome = program.run(["load", &url, "-n", "300", "-c", "5", "-H", "X-R: {{random:1..9}}", "--json"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(outcome.count("ok"), 300, "{outcome}");
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= 300);
    let logged = nginx.logged_requests();
    assert_eq!(logged.len(), 300, "{outcome}");
    for number in 0..300 {
        let row = ["ann&c=K%C3%B6ln", "bob&c=a%20b"][number % 2];
        let request = format!("GET /item/{}?u={row}", number + 7);
        assert_eq!(logged.get(&request), Some(&1), "{request}");
    }
}

#[test]
fn values_are_sent_over_tls_too() {
    let Some(nginx) = Nginx::start("location / { return 200 'a page'; }") else {
        return skip("values over TLS", &["nginx"]);
    };
    let (url, trusted) = (nginx.secure_url("/item/{{counter:1..}}"), nginx.certificate());
    let ways: [&[&str]; 3] =
        [&["-c", "5"], &["-c", "5", "--rate", "1000/s", "--io", "epoll"], &["-c", "2", "--no-keepalive"]];
    for (number, way) in (1..).zip(ways) {
        let fixed = ["load", &url, "-n", "200", "--tls-ca", &trusted, "--tls-name", "localhost", "--json"];
        let outcome = Program::new().run([&fixed[..], way].concat());
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        assert_eq!((outcome.count("ok"), outcome.count("sent")), (200, 200), "{outcome}");
        wait_until(Duration::from_secs(5), || nginx.logged_count() >= number * 200);
        let logged = nginx.logged_requests();
        let each = (1..=200).all(|item| logged.get(&format!("GET /item/{item}")) == Some(&number));
        assert!(each && logged.len() == 200, "{way:?}: {outcome}");
    }
}

#[test]
fn wrong_values_are_refused_with_their_place_before_anything_is_sent() {
    let program = Program::new();
    let check = |arguments: &[&str], told: &str| {
        let outcome = program.run([&["load", "http://127.0.0.1:1/", "-d", "1s"], arguments].concat());
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(told), "{told}: {outcome}");
        assert!(program.run_folder().is_none(), "{outcome}");
    };
    let list = file(&program, "list", "/\n3 GET /x/{{rando:1..6}}\n");
    check(&["--urls", &list], "line 2: column 10: '{{rando:1..6}}' is not a value");
    let table = file(&program, "t.csv", "a,b\n1,2\n3\n");
    check(&["-H", &format!("X: {{{{csv:{table}:a}}}}")], "t.csv': line 3, column 1: it has 1 cells");
    check(&["-H", "X: {{csv:/none.csv:a}}"], "cannot read table '/none.csv'");
    let body = file(&program, "body", "one\ntwo {{counter:9..3}}\n");
    check(&["-p", &body], "the body, line 2, column 5: 'counter:9..3' ends before it starts");
    let lines = file(&program, "lines.csv", "a\n\"x\r\ny\"\n");
    check(
        &["-H", &format!("X: {{{{csv:{lines}:a}}}}")],
        "lines.csv', line 2: 'a' contains control characters",
    );
    let session = |path: &str| {
        let text = format!("[[operation]]\nname = 'A'\npath = '{path}'\nthink = '1s'\nnext = {{ A = 1 }}\n");
        file(&program, "s.toml", &text)
    };
    check(&["--session", &session("/{{x:}}")], "line 3: '{{x:}}' is not a value");
    check(&["--session", &session("/{{x}}")], "line 3: no operation takes 'x'");
}

/// A server with a login: a form with a token, a password, a cookie, and items of which each user has its own.
#[derive(Default)]
struct Shop {
    tokens: Mutex<HashMap<String, String>>,
    users: Mutex<HashMap<String, String>>,
    next: AtomicU64,
    logins: AtomicU64,
    pages: AtomicU64,
    refused: Mutex<Vec<String>>,
}

impl Shop {
    fn start() -> (Arc<Shop>, String) {
        let shop = Arc::new(Shop::default());
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("has an address").to_string();
        let server = Arc::clone(&shop);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shop = Arc::clone(&server);
                std::thread::spawn(move || shop.converse(stream));
            }
        });
        (shop, address)
    }

    fn converse(&self, mut stream: TcpStream) {
        let mut seen = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            seen.extend_from_slice(&buffer[..length]);
            let text = String::from_utf8_lossy(&seen).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = field(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() < length {
                continue;
            }
            let answer = self.answer(head, body).unwrap_or_else(|| {
                self.refused.lock().expect("is whole").push(text.clone());
                "403 No\r\nContent-Length: 0\r\n\r\n".into()
            });
            if stream.write_all(format!("HTTP/1.1 {answer}").as_bytes()).is_err() {
                return;
            }
            seen.clear();
        }
    }

    /// The response behind its version; `None` for one who may not.
    fn answer(&self, head: &str, body: &str) -> Option<String> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let mut words = head.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let cookie = |name: &str| {
            let pairs = field(head, "cookie").unwrap_or_default();
            pairs.split("; ").find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
        };
        let page = |fields: &str, body: &str| {
            Some(format!("200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()))
        };
        match (method, path) {
            ("GET", "/login") => {
                let token = format!("a+b/{number}=");
                self.tokens.lock().ok()?.insert(format!("f{number}"), token.clone());
                let body = format!("<form><input name=\"csrf\" value=\"{token}\"></form>");
                page(&format!("Set-Cookie: form=f{number}; Path=/login\r\n"), &body)
            }
            ("POST", "/login") => {
                let token = self.tokens.lock().ok()?.remove(&cookie("form")?)?;
                let token = token.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
                let name = body.strip_prefix("user=")?.split('&').next()?;
                let expected = format!("user={name}&password=secret%20of%20{name}&csrf={token}");
                (body == expected).then_some(())?;
                self.users.lock().ok()?.insert(format!("s{number}"), name.to_owned());
                self.logins.fetch_add(1, Ordering::SeqCst);
                let cookies = format!("Set-Cookie: session=s{number}; Path=/; HttpOnly");
                Some(format!("303 See\r\n{cookies}\r\nLocation: /account\r\nContent-Length: 0\r\n\r\n"))
            }
            _ => {
                let user = self.users.lock().ok()?.get(&cookie("session")?)?.clone();
                (cookie("form").is_none()).then_some(())?;
                self.pages.fetch_add(1, Ordering::SeqCst);
                if path == "/account" {
                    return page(
                        "",
                        &format!("{{\"hello\": true, \"items\": [{{\"id\": \"{user}-{number}\"}}]}}"),
                    );
                }
                path.strip_prefix("/item/")?.starts_with(&format!("{user}-")).then_some(())?;
                page("", "an item")
            }
        }
    }
}

fn field(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
}

const SESSION: &str = r#"
ramp-down = "500ms"
[[operation]]
name = "Form"
path = "/login"
think = "20ms"
next = { SignIn = 1 }
take = { csrf = { between = ['name="csrf" value="', '"'] } }
[[operation]]
name = "SignIn"
path = "/login"
method = "POST"
body = "user={{csv:USERS:name|url}}&password={{csv:USERS:password|url}}&csrf={{csrf|url}}"
expect-status = [303]
think = "20ms"
next = { Account = 1 }
[[operation]]
name = "Account"
path = "/account"
expect-body = '"hello": true'
take = { item = { json = "items.0.id" } }
think = "20ms"
next = { Item = 90, Form = 10 }
[[operation]]
name = "Item"
path = "/item/{{item}}"
expect-body = "an item"
think = "20ms"
next = { Item = 1, Account = 1 }
"#;

#[test]
fn users_log_in_behind_nginx_and_the_server_knows_each_of_them() {
    let http1: (fn(&Nginx) -> String, &[&str]) = (|nginx| nginx.url("/"), &[]);
    let prior: (fn(&Nginx) -> String, _) = (|nginx| nginx.prior_url("/"), &["--http2", "prior"][..]);
    let way = &["--http2", "alpn", "--insecure", "--streams", "4"][..];
    let alpn: (fn(&Nginx) -> String, _) = (|nginx| nginx.secure_url("/"), way);
    for (url, way) in [http1, prior, alpn] {
        let (shop, address) = Shop::start();
        let Some(nginx) = Nginx::start(&format!("location / {{ proxy_pass http://{address}; }}")) else {
            return skip("users who log in", &["nginx"]);
        };
        check_logins(&shop, &nginx, &url(&nginx), way);
    }
}

#[track_caller]
fn check_logins(shop: &Shop, nginx: &Nginx, url: &str, way: &[&str]) {
    let program = Program::new();
    let rows: String = (0..40).map(|user| format!("u{user},secret of u{user}\n")).collect();
    let table = file(&program, "users.csv", &format!("name,password\n{rows}"));
    let session = file(&program, "shop.toml", &SESSION.replace("USERS", &table));
    let fixed = ["load", url, "--session", &session, "--users", "25", "-d", "2s", "--json", "--seed", "5"];
    let outcome = program.run([&fixed[..], way].concat());
    // The rules on mix and cycles judge the machine as well.
    assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
    let json = outcome.json();
    let operations = json["operations"].as_array().expect("a list");
    let count = |name: &str, what: &str| {
        let operation = operations.iter().find(|operation| operation["name"] == name).expect("is there");
        operation["total"][what].as_u64().expect("is a number")
    };
    assert!(shop.refused.lock().expect("is whole").is_empty(), "{:?}\n{outcome}", shop.refused);
    let names = ["Form", "SignIn", "Account", "Item"];
    assert!(names.iter().all(|name| count(name, "failed") == 0 && count(name, "ok") > 0), "{outcome}");
    assert_eq!(shop.logins.load(Ordering::SeqCst), count("SignIn", "written"), "{outcome}");
    assert_eq!(shop.pages.load(Ordering::SeqCst), count("Account", "written") + count("Item", "written"));
    let users: HashSet<String> = shop.users.lock().expect("is whole").values().cloned().collect();
    // Each user has the row of its number: 25 of 40, whoever of them had the time to log in.
    assert!(users.iter().all(|user| (0..25).any(|number| *user == format!("u{number}"))), "{users:?}");
    wait_until(Duration::from_secs(5), || {
        nginx.logged_count() >= names.iter().map(|name| count(name, "written")).sum()
    });
    let logged = nginx.logged_requests();
    assert_eq!(logged.get("POST /login"), Some(&count("SignIn", "written")), "{outcome}");
    assert_eq!(logged.get("GET /account"), Some(&count("Account", "written")), "{outcome}");
}

#[test]
fn a_ramp_into_a_full_pool_says_where_the_objective_broke_and_what_gave_out() {
    let program = Program::new();
    let pool = Target::start(&["--workers", "2", "--hold-ms", "20"]);
    let ramp =
        ["load", pool.url(), "--ramp", "10/s..400/s:8s", "-c", "64", "--objective", "p90<150ms", "--json"];
    let outcome = program.run(ramp);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let document = outcome.json();
    let reasons = document["verdict"]["reasons"].as_array().expect("has reasons");
    assert!(reasons.iter().all(|reason| reason["id"] != "M10" && reason["id"] != "V05"), "{outcome}");
    // Two workers carry 100 requests per second: whatever the machine does, four times as many break the objective.
    let broke = document["ramp"]["broke"]["at"].as_f64();
    assert!(broke.is_some_and(|at| at > 20.0 && at < 400.0), "{outcome}");
    assert!(document["ramp"]["goodput_max_hz"].as_f64().is_some_and(|most| most <= 110.0), "{outcome}");
    let refused = program.run(["load", pool.url(), "--objective", "p99<1ms", "-n", "1"]);
    assert!(refused.expect_code(2).stderr.contains("a closed load"), "{refused}");
}

#[test]
fn a_ramp_sends_what_its_integral_says_phase_by_phase() {
    let Some(nginx) = Nginx::start("location / { return 200 'a page'; }") else {
        return skip("a rate that changes", &["nginx"]);
    };
    let program = Program::new();
    let points = file(&program, "points.csv", "time,rate\n0,0\n1,400\n1,100\n2,100\n");
    // 100 + 300 of the lines, 200 + 100 of the points, 20 + 40 + 60 of the steps.
    let cases: [(&str, &[u64]); 3] = [
        ("0..200/s:1s,200/s..400/s:1s", &[100, 300]),
        (&points, &[200, 100]),
        ("steps:40/s..120/s:3x500ms", &[20, 40, 60]),
    ];
    let url = nginx.url("/");
    let mut all = 0;
    for (ramp, expected) in cases {
        let outcome = program.run(["load", &url, "--ramp", ramp, "--arrival", "constant", "--output", "csv"]);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let mut lines = outcome.stdout.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().expect("has a header");
        let column = |name: &str| names.iter().position(|known| *known == name).expect("is a column");
        let (scheduled, ok) = (column("scheduled_count"), column("ok_count"));
        let phases: Vec<[u64; 2]> = lines
            .map(|line| [line[scheduled], line[ok]].map(|count| count.parse().expect("is a number")))
            .collect();
        assert_eq!(phases, expected.iter().map(|count| [*count; 2]).collect::<Vec<_>>(), "{outcome}");
        all += expected.iter().sum::<u64>();
    }
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= all);
    assert_eq!(nginx.logged_count(), all);
}

#[test]
fn clients_come_and_go_one_after_the_other() {
    let Some(nginx) = Nginx::start("location / { return 200 'a page'; }") else {
        return skip("clients that come and go one after the other", &["nginx"]);
    };
    let program = Program::new();
    let url = nginx.url("/");
    let ramp = "0..4:1s,4..4:500ms,4..0:1s,0..2:500ms,2..2:500ms";
    let outcome = program.run(["load", &url, "--ramp", ramp, "--json", "-t", "1"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    for told in
        ["0.0 to 1.0 s  0 to 4 clients", "1.5 s  4 clients", "2.5 s  4 to 0 clients", "3.0 s  0 to 2 clients"]
    {
        assert!(outcome.stderr.contains(told), "{told}: {outcome}");
    }
    assert_eq!(outcome.count("ok"), outcome.count("sent"), "{outcome}");
    wait_until(Duration::from_secs(5), || nginx.logged_count() >= outcome.count("sent"));
    assert_eq!(nginx.logged_count(), outcome.count("sent"), "{outcome}");
    // Whoever leaves takes its connection along: two of the four come again, on other ones.
    let connections = nginx.logged_connections("200");
    assert_eq!(connections, 6, "{outcome}");
    let failed = program.run(["load", &url, "--ramp", "0..0:2s"]);
    failed.expect_code(2);
    assert!(failed.stderr.contains("a phase of zero clients"), "{failed}");
}
