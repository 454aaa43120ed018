//! The severity of a log line, judged by its own words.
//!
//! If the server writes a level, the first one in the line decides. A line without a level is judged by its text:
//! memcached, lighttpd, and programs that only print to standard error have no levels. Sources: the error logs of nginx,
//! Apache, lighttpd, PHP, MariaDB, PostgreSQL, HAProxy, and memcached; for the kernel, the texts in its source.

use sysdyno_record::log::LogSeverity::{self, Error, Warning};

/// The level is searched for in this many bytes from the start of a line.
const LEVEL_BYTES: usize = 200;

/// Levels as they are written; `None`: neither error nor warning. Those without brackets count as whole words only.
const LEVELS: &[(&str, Option<LogSeverity>)] = &[
    // nginx, HAProxy, MariaDB.
    ("[emerg]", Some(Error)),
    ("[alert]", Some(Error)),
    ("[crit]", Some(Error)),
    ("[error]", Some(Error)),
    ("[warn]", Some(Warning)),
    ("[notice]", None),
    ("[info]", None),
    ("[debug]", None),
    ("[Error]", Some(Error)),
    ("[Warning]", Some(Warning)),
    ("[Note]", None),
    ("[note]", None),
    ("[System]", None),
    // Apache writes the module before the level.
    (":emerg]", Some(Error)),
    (":alert]", Some(Error)),
    (":crit]", Some(Error)),
    (":error]", Some(Error)),
    (":warn]", Some(Warning)),
    (":notice]", None),
    (":info]", None),
    (":debug]", None),
    // PHP.
    ("PHP Fatal error", Some(Error)),
    ("PHP Parse error", Some(Error)),
    ("PHP Recoverable fatal error", Some(Error)),
    ("PHP Warning", Some(Warning)),
    ("PHP Notice", None),
    ("PHP Deprecated", None),
    // php-fpm, PostgreSQL, most others.
    ("EMERG", Some(Error)),
    ("ALERT", Some(Error)),
    ("PANIC", Some(Error)),
    ("FATAL", Some(Error)),
    ("CRITICAL", Some(Error)),
    ("SEVERE", Some(Error)),
    ("ERROR", Some(Error)),
    ("WARNING", Some(Warning)),
    ("WARN", Some(Warning)),
    ("NOTICE", None),
    ("INFO", None),
    ("DEBUG", None),
    ("LOG", None),
    // Structured.
    ("level=fatal", Some(Error)),
    ("level=error", Some(Error)),
    ("level=warning", Some(Warning)),
    ("level=warn", Some(Warning)),
    ("level=info", None),
    ("\"level\":\"fatal\"", Some(Error)),
    ("\"level\":\"error\"", Some(Error)),
    ("\"level\":\"warning\"", Some(Warning)),
    ("\"level\":\"warn\"", Some(Warning)),
    ("\"level\":\"info\"", None),
];

/// Lines of lighttpd that are no errors, in lower case; all others that name their place in its source are.
const HARMLESS_OF_LIGHTTPD: &[&str] =
    &["server started", "server stopped", "graceful shutdown", "logfiles cycled", "sockets enabled again"];

/// What a line without a level says, in lower case, if it is one.
const PHRASES: &[(&str, LogSeverity)] = &[
    ("too many open", Error),
    ("too many connections", Error),
    ("no space left on device", Error),
    ("permission denied", Error),
    ("cannot allocate memory", Error),
    ("out of memory", Error),
    ("resource temporarily unavailable", Error),
    ("connection refused", Error),
    ("address already in use", Error),
    ("segmentation fault", Error),
    ("fatal error", Error),
    ("failed to ", Error),
    ("fatal:", Error),
    ("error:", Error),
    ("panic:", Error),
    ("unhandled exception", Error),
    ("traceback (most recent call last)", Error),
    ("warning:", Warning),
];

/// What the kernel says about itself that makes servers slow or fail. Source: the files of the kernel named beside.
const KERNEL_PHRASES: &[(&str, LogSeverity)] = &[
    // net/ipv4/tcp_input.c, tcp.c, route.c, inet_fragment.c
    ("Possible SYN flooding", Error),
    ("too many orphaned sockets", Error),
    ("out of memory -- consider tuning tcp_mem", Error),
    ("time wait bucket table overflow", Error),
    ("request_sock_TCP", Warning),
    // net/netfilter, net/core/neighbour.c
    ("table full, dropping packet", Error),
    ("neighbor table overflow", Error),
    // mm/oom_kill.c, page_alloc.c, memcontrol.c, slub.c
    ("Out of memory", Error),
    ("Memory cgroup out of memory", Error),
    ("invoked oom-killer", Error),
    ("oom_reaper", Warning),
    ("page allocation failure", Error),
    ("page allocation stalls", Error),
    ("unable to allocate memory on node", Error),
    // fs/file_table.c, kernel/cgroup/pids.c
    ("file-max limit", Error),
    ("fork rejected by pids controller", Error),
    // kernel/hung_task.c, watchdog.c, rcu, time/clocksource.c
    ("blocked for more than", Error),
    ("soft lockup", Error),
    ("hard LOCKUP", Error),
    ("self-detected stall", Error),
    ("detected stalls on CPUs", Error),
    ("marked as unstable", Error),
    // block/blk-core.c, fs/ext4, fs/xfs
    ("I/O error", Error),
    ("EXT4-fs error", Error),
    ("EXT4-fs warning", Warning),
    ("Corruption of in-memory data", Error),
    ("Remounting filesystem read-only", Error),
    // net/sched/sch_generic.c, drivers/net
    ("transmit queue", Error),
    ("Link is Down", Error),
    // arch/x86: traps, throttling, machine checks
    ("segfault at", Error),
    ("general protection", Error),
    ("traps: ", Error),
    ("cpu clock throttled", Warning),
    ("Hardware Error", Error),
];

/// How bad a line is; `None`: it is neither error nor warning.
pub(crate) fn severity(text: &str) -> Option<LogSeverity> {
    let mut end = text.len().min(LEVEL_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let levels = LEVELS.iter().filter_map(|(level, severity)| Some((find_level(head, level)?, *severity)));
    if let Some((_, severity)) = levels.min_by_key(|(at, _)| *at) {
        return severity;
    }
    let lower = text.to_ascii_lowercase();
    if has_place_of_lighttpd(head) {
        return (!HARMLESS_OF_LIGHTTPD.iter().any(|harmless| lower.contains(harmless))).then_some(Error);
    }
    PHRASES.iter().find(|(phrase, _)| lower.contains(phrase)).map(|(_, severity)| *severity)
}

/// How bad a line of the kernel is; `None`: it is not known to matter.
pub(crate) fn kernel_severity(text: &str) -> Option<LogSeverity> {
    KERNEL_PHRASES.iter().find(|(phrase, _)| text.contains(phrase)).map(|(_, severity)| *severity)
}

/// Where a level is; it is no part of a longer word.
fn find_level(text: &str, level: &str) -> Option<usize> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_bracketed = |edge: Option<char>| edge.is_none_or(|edge| !is_letter(edge));
    let is_whole = |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(is_letter);
        let after = text[*at + level.len()..].chars().next().is_some_and(is_letter);
        let opens = is_bracketed(level.chars().next()) || !before;
        opens && (is_bracketed(level.chars().next_back()) || !after)
    };
    text.match_indices(level).map(|(at, _)| at).find(is_whole)
}

/// `(server.c.1909)`: a line of lighttpd begins with its place in the source.
fn has_place_of_lighttpd(text: &str) -> bool {
    let mut places = text.match_indices(".c.").map(|(at, _)| &text[at + 3..]);
    text.contains('(')
        && places.any(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && rest[digits..].starts_with(')')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_of_each_server_is_known() {
        let check = |line: &str, expected| assert_eq!(severity(line), expected, "{line}");
        check("2026/11/23 22:30:29 [alert] 1#1: 768 worker_connections are not enough", Some(Error));
        check("2026/11/23 22:30:29 [warn] 1#1: *2 an upstream response is buffered", Some(Warning));
        check("2026/11/23 22:30:29 [notice] 1#1: signal 1 (SIGHUP) received, ERROR", None);
        check(
            "[Mon Nov 23 22:30:29 2026] [mpm_event:error] [pid 1:tid 2] AH00484: server reached MaxRequestWorkers",
            Some(Error),
        );
        check("[Mon Nov 23 22:30:29 2026] [core:notice] [pid 1] AH00094: Command line", None);
        check(
            "[23-Nov-2026 22:30:29] WARNING: [pool www] server reached pm.max_children setting (5)",
            Some(Warning),
        );
        check("[23-Nov-2026 22:30:29] NOTICE: fpm is running, pid 1", None);
        check(
            "[23-Nov-2026] PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted",
            Some(Error),
        );
        check("2026-11-23 22:30:29 0 [ERROR] Can't create thread", Some(Error));
        check("2026-11-23 22:30:29 0 [Note] ready for connections", None);
        check("2026-11-23 22:30:29 UTC [12] FATAL:  sorry, too many clients already", Some(Error));
        check("2026-11-23 22:30:29: (server.c.1909) sockets disabled, out-of-fds", Some(Error));
        check("2026-11-23 22:30:29: (server.c.1513) server started (lighttpd/1.4.69)", None);
        check("accept4(): Too many open files", Some(Error));
        check("Failed to write, and not due to blocking: Broken pipe", Some(Error));
        check(r#"{"time":"x","level":"error","msg":"y"}"#, Some(Error));
    }

    #[test]
    fn a_part_of_a_word_is_no_level() {
        for line in ["ERRORS_TOTAL 5", "no PREALERTED", "GET /error HTTP/1.1", "", "TERROR", "1 INFOS"] {
            assert_eq!(severity(line), None, "{line}");
        }
        assert_eq!(severity(&format!("{}ERROR", "ü".repeat(150))), None, "far from the beginning");
    }

    #[test]
    fn of_the_kernel_only_known_messages_count() {
        let check = |line: &str, expected| assert_eq!(kernel_severity(line), expected, "{line}");
        check(
            "TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:80. Sending cookies.",
            Some(Error),
        );
        check("nginx: page allocation failure: order:4, mode:0x40dc0", Some(Error));
        check("Out of memory: Killed process 1234 (mariadbd)", Some(Error));
        check("VFS: file-max limit 1024 reached", Some(Error));
        check("nf_conntrack: nf_conntrack: table full, dropping packet", Some(Error));
        check("eth0: renamed from veth1", None);
    }
}
