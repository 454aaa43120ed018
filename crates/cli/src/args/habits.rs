//! Hints in the help of `load` for users of ab, wrk, weighttp, and h2load.

/// The end of the help of `load`.
pub(super) const AFTER_HELP: &str = "\
Coming from another tool: '-n 1000 -c 10 -k' (ab, weighttp), '-t2 -c100 -d30s' (wrk), '-R 2000' (wrk2), \
and '-p FILE -T TYPE' (ab) work as they do there. Unlike in ab, connections are kept alive unless \
--no-keepalive is given, -t sets threads (use -d for a time limit), and -r (continue on errors) is \
always on.";

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command, LoadArgs};
    use clap::Parser;
    use sysdyno_plan::options::{TimeoutOrType, Typed};
    use sysdyno_record::units::SpanNs;

    fn load(line: &str) -> LoadArgs {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
        match cli.command {
            Command::Load(args) => *args,
            other => panic!("{line} is {other:?}"),
        }
    }

    #[test]
    fn lines_of_other_tools_mean_what_they_meant() {
        let args = load("sysdyno load -n 1000 -c 10 -k http://127.0.0.1/");
        assert_eq!((args.load.requests, args.load.connections), (Some(1000), Some(10)));
        assert!(args.target.keep_alive);
        let args = load("sysdyno load -kc10 -n1000 http://127.0.0.1/");
        assert_eq!((args.load.requests, args.load.connections), (Some(1000), Some(10)));
        let args = load("sysdyno load -p body.json -T application/json -n 5 http://127.0.0.1/");
        assert_eq!(args.target.body_file, Some("body.json".into()));
        let typed = args.target.timeout_or_type.expect("-T was given");
        assert_eq!((typed.content_type(), typed.timeout()), (Some("application/json"), None));
        let args = load("sysdyno load -t2 -c100 -d30s -T 2s -H Accept:x http://127.0.0.1/");
        assert_eq!(args.load.duration, Some(Typed(SpanNs::from_secs(30))));
        assert_eq!(args.target.timeout_or_type, Some(TimeoutOrType::Timeout(SpanNs::from_secs(2))));
        assert_eq!((args.target.threads, args.target.header.len()), (Some(2), 1));
        let args = load("sysdyno load -t 2 -c 100 -d 30 -T 5 -R 2000 http://127.0.0.1/");
        assert_eq!(args.load.duration, Some(Typed(SpanNs::from_secs(30))));
        assert_eq!(args.load.rate.map(|rate| rate.0.0), Some(2000.0));
        assert_eq!(load("sysdyno load -m HEAD -n 1 http://h/").target.method.as_deref(), Some("HEAD"));
    }

    #[test]
    fn what_means_something_else_elsewhere_is_refused_with_what_to_type() {
        for (line, text) in [
            ("sysdyno load -t 30s http://127.0.0.1/", "-d 30s"),
            ("sysdyno load -m 32 http://127.0.0.1/", "write a method"),
            ("sysdyno load -T text http://127.0.0.1/", "'30s'"),
            ("sysdyno load -k --no-keepalive http://127.0.0.1/", "cannot be used"),
            ("sysdyno load --output ab --json http://127.0.0.1/", "cannot be used"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).expect_err(line).to_string();
            assert!(error.contains(text), "{line}: {error}");
        }
    }
}
