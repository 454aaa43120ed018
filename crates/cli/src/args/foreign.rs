//! Options and commands of curl, wrk, ab, hey, oha, k6, and vegeta that sysdyno does not have, and what to type instead.
//!
//! An option with the same meaning is an alias where ours is defined. An option that asks for what sysdyno does anyway is
//! ignored. All others are refused, and the error shows what to type.

use super::Cli;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Error, Parser};
use std::ffi::OsString;

/// Commands that send load, to which people give other tools' options out of habit.
const LOADS: [&str; 3] = ["load", "run", "demo"];

/// Options that change nothing here: sysdyno always prints percentiles, has no full-screen UI, and never asks for compression.
const ALWAYS: [&str; 5] = ["--latency", "--no-tui", "--silent", "--no-progressbar", "--disable-compression"];

const BODY: &str = "write the body to a file: -p FILE";

/// Options of other tools, and what to type instead.
const OPTIONS: &[(&[&str], &str)] = &[
    (&["--data", "--data-raw", "--data-binary", "--data-ascii", "--json-body", "--body"], BODY),
    (
        &["-D", "--body-path", "-F", "--form"],
        "read the body from a file: -p FILE -T multipart/form-data, or another type",
    ),
    (&["-A", "--user-agent"], "-H 'User-Agent: NAME'"),
    (&["-u", "--user", "-a", "--basic-auth"], "-H \"Authorization: Basic $(printf USER:PASSWORD | base64)\""),
    (&["-b", "--cookie", "-C"], "-H 'Cookie: NAME=VALUE'; for users that log in, --session"),
    (&["-e", "--referer"], "-H 'Referer: URL'"),
    (&["-I", "--head", "-i"], "-m HEAD"),
    (
        &["-L", "--location", "--redirect", "--max-redirects"],
        "redirects are not followed; load the final URL directly",
    ),
    (&["--compressed"], "-H 'Accept-Encoding: gzip'"),
    (&["--http2-prior-knowledge", "-h2"], "--http2 prior"),
    (&["--http1.1", "--http1.0", "--http-version"], "HTTP/1.1 is the default; leave out --http2"),
    (&["--unix-socket", "--abstract-unix-socket"], "write the socket in the URL: unix:/run/app.sock:/PATH"),
    (&["--resolve", "--connect-to", "--host"], "load the address, with -H 'Host: NAME' and --tls-name NAME"),
    (&["-x", "--proxy"], "load the proxy itself: put its address in the URL"),
    (
        &["-s", "--script"],
        "there are no scripts; --session FILE simulates users, '{{counter:1..}}' inserts a value (docs/reference/values.md)",
    ),
    (&["-q", "-Q", "--qps-per-connection"], "--rate 500/s sets the rate of the whole load"),
    (
        &["-o", "--out", "--print", "--summary-export"],
        "--json prints one document, --output csv a table; every run also has a report.html",
    ),
    (&["-j"], "--json"),
    (&["-w", "-g", "--html"], "every run has a report.html; --output csv prints a table"),
    (&["-l", "--accept-variable-length"], "--any-body"),
    (&["-B", "--bind-address", "--interface", "--local-address"], "--source ADDRESS"),
    (&["-f", "--ssl-protocol", "--tls-max", "--tlsv1.2", "--tlsv1.3"], "--tls-version 1.2, or 1.3"),
    (&["-E", "--client-cert"], "--tls-cert FILE --tls-key FILE"),
    (
        &["--stage", "--stages", "--ramp-up", "--rampup"],
        "--ramp 10..200:30s for clients, --ramp 0/s..5k/s:30s for a rate",
    ),
    (&["--iterations-per-vu", "--max-vus"], "-n REQUESTS, and -c CONNECTIONS"),
    (
        &["--latency-correction", "--burst-delay", "--burst-rate"],
        "with --rate, latency always counts from the intended send",
    ),
    (
        &["--targets", "--targets-file", "--urls-from-file"],
        "--urls FILE, with one '[WEIGHT] [METHOD] URL' per line",
    ),
    (&["--workers", "--max-workers", "--max-connections"], "-c CONNECTIONS; --workers is for --files"),
    (&["--threshold", "--thresholds", "--fail-on", "-f"], "--fail-if 'p99>20ms' --fail-if 'errors>0.1%'"),
    (&["--fail", "--fail-with-body"], "unexpected statuses always count as failures: --expect-status 200"),
    (
        &["--think-time", "--pause", "--delay"],
        "--session has think times; --rate with --arrival constant spaces requests evenly",
    ),
    (&["--http3"], "HTTP/3 is not supported; HTTP/1.1 and HTTP/2 are"),
    (&["-4", "-6", "--ipv4", "--ipv6"], "put the address in the URL, and the name in -H 'Host: NAME'"),
    (&["--no-color", "--no-colour", "--disable-color"], "--color never"),
    (&["--output-format", "--format"], "--output text, json, csv, hdr, or ab"),
    (&["--no-insecure"], "--insecure=false"),
    (&["-v", "--verbose"], "there is no verbose mode; `sysdyno show` and the report have all details"),
];

/// Commands of other tools.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["attack", "bench", "test", "benchmark", "get", "http", "stress"],
        "sysdyno load URL --rate 50/s -d 30s, or without --rate for a closed loop",
    ),
    (&["ls", "list", "history"], "sysdyno runs"),
    (&["diff", "cmp"], "sysdyno compare RUN RUN"),
    (&["doctor", "info", "sysinfo"], "sysdyno facts"),
    (&["top", "monitor"], "sysdyno reads counters only while it sends load: sysdyno load URL"),
];

/// The parsed command line, or the error with its exit code and, where known, what to type instead.
pub enum CommandLine {
    /// A command of sysdyno.
    Command(Box<Cli>),
    /// Not a valid command line.
    Refused(Error, Option<&'static str>),
}

/// Reads a command line.
pub fn read(words: impl Iterator<Item = OsString>) -> CommandLine {
    match Cli::try_parse_from(rewrite(words.collect())) {
        Ok(cli) => CommandLine::Command(Box::new(cli)),
        Err(error) => {
            let hint = hint(&error);
            CommandLine::Refused(error, hint)
        }
    }
}

/// The line without options that change nothing here; a bare `--http2` lets the URL decide, as in other tools.
fn rewrite(words: Vec<OsString>) -> Vec<OsString> {
    let is_load = words.get(1).is_some_and(|word| LOADS.iter().any(|name| word == name));
    if !is_load {
        return words;
    }
    let mut rewritten = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let has_value = words.peek().is_some_and(|next| next == "alpn" || next == "prior" || next == "auto");
        if word == "--http2" && !has_value {
            rewritten.push("--http2=auto".into());
        } else if !ALWAYS.iter().any(|always| word == *always) {
            rewritten.push(word);
        }
    }
    rewritten
}

/// What to type instead of an unknown option or command.
fn hint(error: &Error) -> Option<&'static str> {
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(typed)) => Some(typed.as_str()),
        _ => None,
    };
    let (kind, known) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, OPTIONS),
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, COMMANDS),
        // `-d` is the body of curl, hey and oha; no length has one of these.
        ErrorKind::ValueValidation => {
            let is_length = typed(ContextKind::InvalidArg)?.starts_with("--duration");
            let is_body = typed(ContextKind::InvalidValue)?.contains(['=', '{', '@', '"']);
            return (is_length && is_body).then_some(BODY);
        }
        _ => return None,
    };
    let typed = typed(kind)?;
    if kind == ContextKind::InvalidSubcommand && (typed.contains("://") || typed.starts_with("unix:")) {
        return Some("sysdyno load URL sends a load; sysdyno run URL finds the capacity");
    }
    let name = typed.split_once('=').map_or(typed, |(name, _)| name);
    known.iter().find(|(names, _)| names.contains(&name)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, LoadArgs};
    use sysdyno_plan::options::Http2Option;

    fn words(line: &str) -> impl Iterator<Item = OsString> {
        line.split(' ').map(OsString::from).collect::<Vec<_>>().into_iter()
    }

    fn load(line: &str) -> LoadArgs {
        match read(words(line)) {
            CommandLine::Command(cli) => match cli.command {
                Command::Load(args) => *args,
                other => panic!("{line} is {other:?}"),
            },
            CommandLine::Refused(error, _) => panic!("{line}: {error}"),
        }
    }

    #[test]
    fn habits_of_other_tools_work_where_they_mean_the_same() {
        for line in ["-X POST", "-XPOST", "--request POST", "-m POST"] {
            let args = load(&format!("sysdyno load {line} http://h/"));
            assert_eq!(args.target.method.as_deref(), Some("POST"), "{line}");
        }
        let args = load("sysdyno load -z 10s -c 50 --disable-keepalive --latency --no-tui http://h/");
        assert!(args.load.duration.is_some() && args.target.no_keepalive == Some(true));
        let args = load("sysdyno load --vus 10 --iterations 100 http://h/");
        assert_eq!((args.load.connections, args.load.requests), (Some(10), Some(100)));
        let args = load("sysdyno load --rps 200 --max-time 2s --cacert ca.pem https://h/");
        assert!(args.load.rate.is_some() && args.target.timeout.is_some());
        assert_eq!(args.target.wire.tls_ca, Some("ca.pem".into()));
    }

    #[test]
    fn http2_needs_no_value() {
        for (line, option) in [
            ("--http2 https://h/", Http2Option::Auto),
            ("https://h/ --http2", Http2Option::Auto),
            ("--http2 alpn https://h/", Http2Option::Alpn),
            ("--http2=prior http://h/", Http2Option::Prior),
        ] {
            assert_eq!(load(&format!("sysdyno load {line}")).target.wire.http2, Some(option), "{line}");
        }
    }

    #[test]
    fn every_other_habit_is_answered_with_what_to_type() {
        let refused = |line: &str| match read(words(line)) {
            CommandLine::Refused(error, hint) => hint.unwrap_or_else(|| panic!("{line}: {error}")),
            CommandLine::Command(_) => panic!("{line} is ours"),
        };
        for (names, hint) in OPTIONS {
            for name in *names {
                // Some of these letters mean something else here: the first meaning of a name counts.
                if let CommandLine::Refused(error, found) =
                    read(words(&format!("sysdyno load http://h/ {name} x")))
                    && error.kind() == ErrorKind::UnknownArgument
                {
                    assert!(found.is_some(), "{name}: {error}");
                    assert!(!hint.is_empty());
                }
            }
        }
        assert!(refused("sysdyno load --data x http://h/").contains("-p FILE"));
        assert!(refused("sysdyno load -A curl http://h/").contains("User-Agent"));
        assert!(refused("sysdyno load --stage 30s:10 http://h/").contains("--ramp 10..200:30s"));
        assert!(refused("sysdyno attack").contains("sysdyno load URL"));
        assert!(refused("sysdyno http://h/").contains("sysdyno load URL"));
        assert!(refused("sysdyno load -d a=1 http://h/").contains("-p FILE"));
        assert!(refused("sysdyno load -d {\"a\":1} http://h/").contains("-p FILE"));
        let wrong = read(words("sysdyno load -d 10x http://h/"));
        assert!(matches!(wrong, CommandLine::Refused(_, None)), "a length that is none is told by itself");
    }
}
