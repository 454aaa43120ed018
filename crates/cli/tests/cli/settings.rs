//! Files that are read without being named, folders of newer programs, homes, and what is never shown of a URL.

use crate::rig::program::{Outcome, Program, Running};
use crate::rig::{has, skip};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Belongs to another user on any machine.
const STRANGER: u32 = 54_321;

/// `load --dry-run` in a folder with this `sysdyno.toml`, with these variables.
fn dry_run(program: &Program, url: &str, options: &[&str], variables: &[(&str, String)]) -> Outcome {
    let arguments = [&["load", url, "--dry-run"], options].concat();
    let mut command = program.command(arguments);
    command.envs(variables.iter().cloned());
    Running::start(command).finish(LIMIT)
}

const URL: &str = "http://127.0.0.1:1/";

#[test]
fn a_settings_file_that_somebody_else_could_have_written_is_refused() {
    let program = Program::new();
    let file = program.runs().join("sysdyno.toml");
    fs::write(&file, "[load]\nconnections = 7\n").expect("writes");
    let outcome = dry_run(&program, URL, &[], &[]);
    outcome.expect_code(0);
    assert_eq!(outcome.json()["connections"], 7, "it is read: {outcome}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("is ours");
    let outcome = dry_run(&program, URL, &[], &[]);
    outcome.expect_code(2);
    let told = "cannot read settings 'sysdyno.toml': it is world-writable\nhint: chmod o-w 'sysdyno.toml'";
    assert!(outcome.stderr.contains(told), "{outcome}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("is ours");
    if chown(&file, Some(STRANGER), None).is_err() {
        return skip("a_settings_file_that_somebody_else_could_have_written_is_refused", &["root"]);
    }
    let is_refused = |outcome: &Outcome| {
        outcome.expect_code(2);
        let told = "cannot read settings 'sysdyno.toml': it belongs to another user (uid 54321)";
        assert!(outcome.stderr.contains(told), "{outcome}");
    };
    is_refused(&dry_run(&program, URL, &[], &[]));
    is_refused(&dry_run(&program, URL, &[], &[("SUDO_UID", "1".into())]));
    let outcome = dry_run(&program, URL, &[], &[("SUDO_UID", STRANGER.to_string())]);
    assert_eq!(outcome.json()["connections"], 7, "it is that of who became root: {outcome}");
    // A link of a stranger to a file of ours.
    fs::rename(&file, program.runs().join("other")).expect("is ours");
    chown(program.runs().join("other"), Some(0), None).expect("is root's");
    symlink("other", &file).expect("makes a link");
    std::os::unix::fs::lchown(&file, Some(STRANGER), None).expect("is root's");
    is_refused(&dry_run(&program, URL, &[], &[]));
}

#[test]
fn what_a_settings_file_turns_on_an_option_and_the_environment_turn_off() {
    let program = Program::new();
    let text = "[target]\nany-body = true\nno-keepalive = true\n[target.wire]\ninsecure = true\n";
    fs::write(program.runs().join("sysdyno.toml"), text).expect("writes");
    let secure = "https://127.0.0.1:1/";
    let of = |options: &[&str], variables: &[(&str, String)]| {
        let outcome = dry_run(&program, secure, options, variables);
        outcome.expect_code(0);
        let json = outcome.json();
        (
            json["wire"]["tls"]["is_insecure"].as_bool().unwrap_or_default(),
            !json["validators"]["same_body"].as_bool().unwrap_or_default(),
            json["keep_alive"] != "unlimited",
        )
    };
    assert_eq!(of(&[], &[]), (true, true, true));
    let off = ["--insecure=false", "--any-body=false", "--no-keepalive=false"];
    assert_eq!(of(&off, &[]), (false, false, false));
    assert_eq!(of(&["--same-body", "-k"], &[]), (true, false, false));
    let variables = ["SYSDYNO_INSECURE", "SYSDYNO_ANY_BODY", "SYSDYNO_NO_KEEPALIVE"];
    assert_eq!(of(&[], &variables.map(|name| (name, "0".to_owned()))), (false, false, false));
    let outcome = dry_run(&program, secure, &["--insecure=perhaps"], &[]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("write true or false"), "{outcome}");
    let outcome = dry_run(&program, secure, &["--tls-ca", "/x"], &[]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("hint: --insecure=false"), "{outcome}");
}

#[test]
fn an_error_in_a_settings_file_shows_its_place_and_no_secret_of_it() {
    let program = Program::new();
    let text = "[target]\nheader = ['Authorization: Bearer S3CRET'\nmethod = 5\n";
    fs::write(program.runs().join("sysdyno.toml"), text).expect("writes");
    let outcome = dry_run(&program, URL, &[], &[]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot read settings 'sysdyno.toml': line "), "{outcome}");
    assert!(!outcome.stderr.contains("S3CRET"), "{outcome}");
}

#[test]
fn no_command_prints_the_password_of_a_url() {
    let program = Program::new();
    let at = |name: &str| program.runs().join(name).display().to_string();
    let url = "http://user:S3CRET@127.0.0.1:1/";
    fs::write(at("try.toml"), format!("url = '{url}'\n[a]\n[b]\nsettings = ['net.core.somaxconn=1']\n"))
        .expect("writes");
    let variants = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n";
    fs::write(at("experiment.toml"), format!("name = 'x'\nurl = '{url}'\n[load]\n{variants}"))
        .expect("writes");
    fs::write(at("urls"), format!("{url}\n")).expect("writes");
    let (try_file, experiment, urls) = (at("try.toml"), at("experiment.toml"), at("urls"));
    let commands: &[&[&str]] = &[
        &["load", url],
        &["load", url, "--insecure"],
        &["load", url, "--http2", "alpn"],
        &["load", url, "--mc-keys", "5"],
        &["load", url, "--dry-run", "--json"],
        &["load", "https://user:S3/CRET@host/"],
        &["load", "memcached://user:S3CRET@host", "--streams", "2"],
        &["load", URL, "--urls", &urls],
        &["load", URL, "--mix", &urls],
        &["run", url],
        &["run", url, "--insecure", "--json"],
        &["try", "net.core.somaxconn=1", "--", url],
        &["try", "listener.backlog=1", "--", url],
        &["try", "--", URL, url],
        &["try", "--experiment", &try_file],
        &["experiment", "run", &experiment],
        &["experiment", "plan", &experiment],
        &["probe", url],
        &["probe", "tcp://user:S3CRET@host:5"],
        &["probe", "user:S3CRET@host"],
        &["probe", "https://user:S3CRET@host/"],
    ];
    for words in commands {
        let outcome = program.run(words.iter());
        outcome.expect_code(2);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!said.contains("S3") && !said.contains("CRET"), "{words:?}: {outcome}");
        assert!(outcome.stderr.starts_with("error: "), "{words:?}: {outcome}");
    }
}

#[test]
fn a_folder_and_a_file_of_a_newer_program_say_so() {
    let program = Program::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/golden/sysdyno.run-1");
    let folder = program.runs().join("newer");
    fs::create_dir(&folder).expect("makes a folder");
    for entry in fs::read_dir(golden).expect("is there").flatten() {
        fs::copy(entry.path(), folder.join(entry.file_name())).expect("copies");
    }
    let manifest = folder.join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("is text").replace("sysdyno.run/1", "sysdyno.run/2");
    fs::write(&manifest, text.replace("\"version\": \"0.1.0\"", "\"version\": \"9.0.0\"")).expect("writes");
    let newer = folder.display().to_string();
    for words in
        [&["show", &newer][..], &["report", &newer], &["compare", &newer, golden], &["facts", &newer]]
    {
        let outcome = program.run(words);
        outcome.expect_code(2);
        let told = "its format is 'sysdyno.run/2', but this program reads 'sysdyno.run/1'";
        assert!(outcome.stderr.contains(told), "{words:?}: {outcome}");
        assert!(outcome.stderr.contains("hint: open it with sysdyno 9.0.0 or newer"), "{words:?}: {outcome}");
    }
    let experiment = program.runs().join("experiment");
    fs::create_dir(&experiment).expect("makes a folder");
    fs::write(experiment.join("matrix.json"), "{\"schema\": \"sysdyno.matrix/2\", \"all\": \"is new\"}")
        .expect("writes");
    let facts = program.runs().join("facts");
    fs::write(&facts, "{\"schema\": \"sysdyno.facts/2\", \"all\": \"is new\"}").expect("writes");
    let (experiment, facts) = (experiment.display().to_string(), facts.display().to_string());
    let other = [
        (&["experiment", "report", &experiment][..], "sysdyno.matrix/2"),
        (&["facts", &facts], "sysdyno.facts/2"),
    ];
    for (words, format) in other {
        let outcome = program.run(words);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(&format!("its format is '{format}'")), "{words:?}: {outcome}");
        assert!(outcome.stderr.contains("hint: open it with a newer sysdyno"), "{words:?}: {outcome}");
    }
}

#[test]
fn without_home_the_password_database_says_where_runs_are() {
    let program = Program::new();
    let own = program.runs().join("sysdyno-copy");
    let runs = |user: Option<u32>| {
        let mut command = match user {
            None => program.command(["runs"]),
            Some(uid) => {
                let mut command = std::process::Command::new("setpriv");
                let (own, uid) = (own.as_os_str(), uid.to_string());
                command.args(["--reuid", &uid, "--regid", &uid, "--clear-groups"]).arg(own).arg("runs");
                command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
                command
            }
        };
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "SYSDYNO_RUNS_DIR"] {
            command.env_remove(name);
        }
        Running::start(command).finish(LIMIT)
    };
    let outcome = runs(None);
    assert!(!outcome.stderr.contains("cannot choose a folder"), "{outcome}");
    if !has("without_home_the_password_database_says_where_runs_are", &["root", "setpriv"]) {
        return;
    }
    // The program may lie where others cannot look; a copy beside the runs can be started by all.
    fs::copy(env!("CARGO_BIN_EXE_sysdyno"), &own).expect("copies");
    fs::set_permissions(program.runs(), fs::Permissions::from_mode(0o755)).expect("is ours");
    // A user whom the database does not have.
    let outcome = runs(Some(STRANGER));
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot choose a folder for runs: this user has no home"), "{outcome}");
}
