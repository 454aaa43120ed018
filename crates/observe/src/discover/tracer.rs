//! Who traces a process: a debugger, or a tool that was left attached.

use crate::roots::Roots;
use crate::source::{self, Fields, lines, pid_stat, read_once};

/// The command of the process that traces this one; `None`: nobody does, it is gone, or the tracer is hidden.
///
/// Source: `/proc/PID/status`, `TracerPid`.
pub(super) fn of_process(roots: &Roots, pid: u32) -> Option<String> {
    let buffer = &mut Vec::new();
    let text = read_once(&roots.in_proc(&format!("{pid}/status")), buffer).ok()?;
    // The name, which its owner chose, is on the first line.
    let tracer = lines(text).skip(1).find_map(|line| {
        let mut fields = Fields::of(line);
        fields.next().filter(|field| *field == b"TracerPid:").and_then(|_| fields.next())
    });
    let tracer = source::decimal(tracer?).filter(|tracer| *tracer > 0)?;
    let text = read_once(&roots.in_proc(&format!("{tracer}/stat")), buffer).ok()?;
    let stat = pid_stat::parse(text).ok()?;
    Some(String::from_utf8_lossy(stat.command).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_traces_a_process_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(root.path());
        let own = std::fs::read_to_string("/proc/self/stat").expect("can be read");
        let check = |status: &str, expected: Option<&str>| {
            std::fs::create_dir_all(roots.in_proc("7")).expect("a folder");
            std::fs::create_dir_all(roots.in_proc("9")).expect("a folder");
            std::fs::write(roots.in_proc("7/status"), status).expect("is written");
            let (begin, rest) = own.split_once('(').expect("has a name");
            let stat = format!("{begin}(strace){}", rest.rsplit_once(')').expect("has a name").1);
            std::fs::write(roots.in_proc("9/stat"), stat).expect("is written");
            let found = of_process(&roots, 7);
            assert_eq!(found.as_deref(), expected, "{status:?}");
        };
        check("Name:\tphp\nTracerPid:\t9\n", Some("strace"));
        check("Name:\tphp\nTracerPid:\t0\n", None);
        check("Name:\tphp\nTracerPid:\t8\n", None);
        check("TracerPid:\t9\nTracerPid:\tx\n", None);
        check("", None);
    }
}
