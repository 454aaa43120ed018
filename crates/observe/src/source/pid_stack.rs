//! `/proc/PID/task/TID/stack` and `wchan`: the functions of the kernel in which a blocked thread waits.
//!
//! Each line of a stack is `[<0>] FUNCTION+0xOFFSET/0xLENGTH`, innermost first; only root may read it. `wchan` is one function
//! without an offset, or `0`. Source: `fs/proc/base.c`, `proc_pid_stack` and `proc_pid_wchan`.

use super::lines;

/// Most functions that are taken of one stack; the kernel gives no more (`MAX_STACK_TRACE_DEPTH`).
const MAX_FUNCTIONS: usize = 64;

/// The functions of a stack or of a `wchan`, innermost first.
pub fn functions(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(text).take(MAX_FUNCTIONS).filter_map(|line| function(line.trim_ascii()))
}

fn function(line: &[u8]) -> Option<&[u8]> {
    let name = match line.strip_prefix(b"[<") {
        Some(rest) => rest.splitn(2, |byte| *byte == b']').nth(1)?.trim_ascii_start(),
        None => line,
    };
    let name = name.split(|byte| *byte == b'+').next()?;
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.');
    (is_name && !name.is_empty() && name != b"0").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<&str> {
        functions(text.as_bytes()).map(|name| std::str::from_utf8(name).expect("is ASCII")).collect()
    }

    #[test]
    fn functions_are_read_without_their_offsets() {
        let stack = "[<0>] jbd2_log_wait_commit+0xc5/0x140\n[<0>] ext4_sync_file+0x1c7/0x380\n[<0>] do_fsync.isra.0+0x3c/0x70\n";
        assert_eq!(named(stack), ["jbd2_log_wait_commit", "ext4_sync_file", "do_fsync.isra.0"]);
        assert_eq!(named("wait_transaction_locked"), ["wait_transaction_locked"]);
        for nothing in ["", "0", "[<0>] 0xffffffff81000000\n[<0>", "\u{1b}[31m\n"] {
            assert!(named(nothing).iter().all(|name| name.starts_with("0x")), "{nothing:?}");
        }
    }
}
