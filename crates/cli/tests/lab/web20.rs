//! The application of the session `web20`, behind lighttpd and behind nginx: its pages, what it refuses, and all that users do.

use crate::rig::Rig;
use crate::services::is_whole;
use std::fs;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/labs/web20.toml");
const SESSION: &str = include_str!("../../../plan/src/session/web20.toml");

pub fn run(rig: &mut Rig) {
    if !is_whole(rig, LAB, "web20") {
        return;
    }
    rig.expect(&["up", LAB], 0);
    for port in [80, 8080] {
        its_pages_show_what_was_seeded(rig, port);
        it_knows_who_is_logged_in(rig, port);
        it_refuses_what_it_should(rig, port);
    }
    users_do_all_seven_operations(rig);
    it_tells_its_numbers(rig);
    rig.expect(&["down", "web20"], 0);
    rig.check("the application of web20");
}

/// Status and body of a request from the other host.
fn ask(rig: &Rig, port: u16, path: &str, more: &[&str]) -> (String, String) {
    let url = format!("http://10.77.2.2:{port}/web20/{path}");
    let curl = ["exec", "web20", "client", "--", "curl", "--silent", "--max-time", "20"];
    let said = rig.expect(&[&curl, more, &["--write-out", "\n%{http_code}", &url]].concat(), 0).stdout;
    let (body, status) = said.rsplit_once('\n').expect("has a status");
    (status.to_owned(), body.to_owned())
}

fn page(rig: &Rig, port: u16, path: &str, more: &[&str]) -> String {
    let (status, body) = ask(rig, port, path, more);
    assert_eq!(status, "200", "{path}: {body}");
    assert!(body.ends_with("</html>"), "{path}: {body}");
    body
}

fn its_pages_show_what_was_seeded(rig: &Rig, port: u16) {
    let home = page(rig, port, "home", &[]);
    let events = home.matches("/web20/event?id=").count();
    assert_eq!(events, 10, "{home}");
    for number in 1..=10 {
        assert!(home.contains(&format!("\"/web20/image/thumb-{number}\"")), "{number}: {home}");
    }
    assert!(home.contains("/web20/tag?tag=tag1\""), "{home}");
    assert!(page(rig, port, "tag?tag=tag1", &[]).contains("/web20/image/found-"));
    assert!(page(rig, port, "event?id=5000", &[]).contains("people attend"));
    let person = page(rig, port, "person?user=user10000", &[]);
    assert!(person.contains("user10000") && person.contains("<h2>Friends</h2>"), "{person}");
    // What pages embed is served as a file that browsers can revalidate.
    let (status, head) = ask(rig, port, "static/site-1", &["--head"]);
    assert_eq!(status, "200");
    assert!(head.contains("ETag:") && head.contains("Last-Modified:"), "{head}");
    assert!(head.contains("Content-Length: 71747"), "{head}");
    assert!(ask(rig, port, "image/person-1", &["--head"]).1.contains("Content-Length: "));
}

fn it_knows_who_is_logged_in(rig: &Rig, port: u16) {
    let jar = rig.folder().join("jar");
    let jar = jar.to_str().expect("is text");
    let cookies = ["--cookie", jar, "--cookie-jar", jar];
    let log_in = |more: &str| {
        let body = format!("user_name=user77&password={more}");
        ask(rig, port, "login", &[&cookies[..], &["--data", &body]].concat())
    };
    assert_eq!(log_in("wrong").0, "403");
    assert_eq!(ask(rig, port, "event/new", &cookies).0, "403");
    let (status, home) = log_in("secret");
    assert!(status == "200" && home.contains("Hello, <a href=\"/web20/person?user=user77\">"), "{home}");
    let before = page(rig, port, "event?id=4000", &cookies);
    assert!(before.contains("attend=1") != before.contains("You attend."), "{before}");
    let after = page(rig, port, "event?id=4000&attend=1", &cookies);
    assert!(after.contains("You attend.") && after.contains(">user77</a>"), "{after}");
    assert!(page(rig, port, "event/new", &cookies).contains("name=\"picture\" type=\"file\""));
    assert!(!page(rig, port, "logout", &cookies).contains("Hello"));
    assert_eq!(ask(rig, port, "event/new", &cookies).0, "403");
    fs::remove_file(jar).expect("was written");
}

fn it_refuses_what_it_should(rig: &Rig, port: u16) {
    let wrong = [
        ("nothing", "404"),
        ("event", "400"),
        ("event?id[]=1", "400"),
        ("event?id=999999", "404"),
        ("person?user='%20or%201=1", "404"),
        ("../config.php", "404"),
        ("../setup.php", "404"),
    ];
    for (path, status) in wrong {
        assert_eq!(ask(rig, port, path, &[]).0, status, "{path}");
    }
    let none = page(rig, port, "tag?tag=%3Cscript%3E", &[]);
    assert!(none.contains("&lt;script&gt;") && !none.contains("<script>"), "{none}");
    let not_a_picture = format!("picture=@{LAB};type=image/jpeg");
    let fields = [
        "first",
        "last",
        "email",
        "telephone",
        "timezone",
        "summary",
        "street",
        "city",
        "zip",
        "country",
        "password",
    ];
    let fields: Vec<String> = fields.iter().map(|name| format!("{name}=<b>x")).collect();
    let mut form: Vec<&str> = fields.iter().flat_map(|field| ["--form-string", field.as_str()]).collect();
    let (status, joined) = ask(rig, port, "person/new", &form);
    assert!(status == "200" && joined.contains("&lt;b&gt;x") && !joined.contains("<b>x"), "{joined}");
    form.extend(["--form", &not_a_picture]);
    assert_eq!(ask(rig, port, "person/new", &form).0, "415");
    assert_eq!(ask(rig, port, "person/new", &["--form", &not_a_picture]).0, "400");
}

/// The session, ten times as fast and with more who join or add an event: every operation is completed, and none fails.
fn users_do_all_seven_operations(rig: &Rig) {
    let session = SESSION
        .replace("ramp-up = \"30s\"\n", "")
        .replace("ramp-down = \"10s\"", "ramp-down = \"2s\"")
        .replace("AddPerson = 1 }", "AddPerson = 6 }")
        .replace("AddEvent = 20 }", "AddEvent = 60 }");
    assert!(session.contains("AddPerson = 6 }") && session.contains("AddEvent = 60 }"), "{session}");
    let session = ["25s", "5s", "3s", "2s"].iter().fold(session, |text, span| {
        let tenth = format!("{}00ms", span.trim_end_matches('s'));
        ["mean", "max", "min"].iter().fold(text, |text, what| {
            text.replace(&format!("{what} = \"{span}\""), &format!("{what} = \"{tenth}\""))
        })
    });
    let file = rig.folder().join("fast.toml");
    fs::write(&file, session).expect("can be written");
    let runs = rig.folder().join("runs").display().to_string();
    let load = ["load", "http://10.77.2.2/", "--session", file.to_str().expect("is text"), "--users", "20"];
    let more = ["--warmup", "1s", "-d", "10s", "--seed", "7", "--json", "--runs-dir", &runs];
    let own = env!("CARGO_BIN_EXE_sysdyno");
    let ended = rig.ask(&[&["exec", "web20", "client", "--", own], &load[..], &more].concat());
    // A busy machine may be too slow for so short cycles; what was done is right all the same.
    assert!(matches!(ended.code, Some(0 | 1 | 3)), "{ended:?}");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    for operation in found["session"]["operations"].as_array().expect("is a list") {
        let counts = |name: &str| operation["measured"][name].as_u64();
        assert!(counts("completed_count") > Some(0) && counts("failed_count") == Some(0), "{operation:#}");
    }
    assert_eq!(found["counts"]["failed"], 0, "{found:#}");
    // What they have added is there, with a small picture.
    let tagged = page(rig, 8080, "tag?tag=outdoors", &[]);
    assert!(tagged.contains(">A new event</a>") && tagged.contains("-small.jpeg\""), "{tagged}");
    let picture =
        tagged.split("/web20/image/").find_map(|text| text.split_once("-small.jpeg\"")).expect("has one").0;
    let sizes = ["-small.jpeg", ".jpeg"].map(|end| {
        let (status, head) = ask(rig, 80, &format!("image/{picture}{end}"), &["--head"]);
        assert_eq!(status, "200", "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("has one");
        length.trim().parse::<u64>().expect("is a number")
    });
    assert!(sizes[0] < 5_000 && sizes[1] == 669_128, "{sizes:?}");
}

fn it_tells_its_numbers(rig: &Rig) {
    let said = rig.expect(&["status", "web20", "--json"], 0).stdout;
    let status: serde_json::Value = serde_json::from_str(&said).expect("is JSON");
    let services = status["labs"][0]["services"].as_array().expect("is a list");
    for recipe in ["web20", "memcached", "lighttpd"] {
        let service = services.iter().find(|service| service["recipe"] == recipe).expect("is there");
        let values = service["values"].as_array().expect("is a list");
        assert!(!values.is_empty() && values.iter().all(|value| value["value"].is_number()), "{service:#}");
    }
    let memory = services.iter().find(|service| service["recipe"] == "memcached").expect("is there");
    let hits = memory["values"].as_array().expect("is a list").iter().find(|value| value["name"] == "hits");
    assert!(hits.is_some_and(|hits| hits["value"].as_f64() > Some(0.0)), "{memory:#}");
}
