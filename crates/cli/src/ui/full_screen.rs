//! The whole terminal: another screen without echo, and the keys that are typed. Whatever ends the program, the terminal is given
//! back as it was.

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::Write;
use std::time::Duration;

/// Another screen, without a cursor and without breaking lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// What is drawn between these is seen at once, on terminals that know them.
const BEGIN: &str = "\x1b[?2026h\x1b[H";
const END: &str = "\x1b[J\x1b[?2026l";

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character; Ctrl-C is `\u{3}`.
    Char(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    End,
}

/// The terminal while it is used as a whole.
#[derive(Debug)]
pub struct FullScreen {
    before: Termios,
    /// What was typed and not taken yet.
    typed: Vec<u8>,
}

impl FullScreen {
    /// Takes the terminal; it is given back when this is dropped, and when the program panics.
    ///
    /// # Errors
    /// Standard input is no terminal.
    pub fn open() -> anyhow::Result<FullScreen> {
        let before = tcgetattr(stdin()).context("cannot read the terminal's settings")?;
        let mut raw = before.clone();
        raw.make_raw();
        let (saved, report) = (before.clone(), std::panic::take_hook());
        // A release is built to abort: nothing is dropped then.
        std::panic::set_hook(Box::new(move |info| {
            restore(&saved);
            report(info);
        }));
        tcsetattr(stdin(), OptionalActions::Now, &raw).context("cannot change the terminal's settings")?;
        write(ENTER);
        Ok(FullScreen { before, typed: Vec::new() })
    }

    /// Draws these lines from the top.
    pub fn draw(&self, lines: &[String]) {
        let mut text = String::from(BEGIN);
        for (number, line) in lines.iter().enumerate() {
            text.push_str(if number > 0 { "\r\n" } else { "" });
            text.push_str(line);
            text.push_str("\x1b[K");
        }
        text.push_str(END);
        write(&text);
    }

    /// The next key; `None`: none was typed in this time.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn key(&mut self, limit: Duration) -> anyhow::Result<Option<Key>> {
        if self.typed.is_empty() && !self.wait(limit)? {
            return Ok(None);
        }
        let (key, length) = decode(&self.typed);
        self.typed.drain(..length);
        Ok(key)
    }

    /// Waits for something that is typed; returns whether there is any.
    fn wait(&mut self, limit: Duration) -> anyhow::Result<bool> {
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
        let input = stdin();
        let mut typed = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut typed, Some(&limit)) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            other => other.context("cannot wait for a key")?,
        };
        let mut bytes = [0; 32];
        let count = read(stdin(), &mut bytes).context("cannot read a key")?;
        if count == 0 {
            anyhow::bail!("cannot read a key: the terminal is gone");
        }
        self.typed.extend_from_slice(&bytes[..count]);
        Ok(true)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

fn restore(before: &Termios) {
    write(LEAVE);
    // A terminal that is gone needs no settings.
    let _ = tcsetattr(stdin(), OptionalActions::Now, before);
}

/// A closed standard output costs the picture; the end is noticed at the next key or signal.
fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The key that these bytes begin with, as terminals like xterm send it, and how many of them it takes; `None`: it means nothing
/// here.
fn decode(bytes: &[u8]) -> (Option<Key>, usize) {
    match bytes {
        [0x1b, b'[' | b'O', rest @ ..] => {
            // A sequence ends with a letter or `~`.
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            let length = end.map_or(rest.len(), |end| end + 1);
            (named(&rest[..length]), 2 + length)
        }
        [first, ..] if first.is_ascii() && *first != 0x1b => (Some(Key::Char(char::from(*first))), 1),
        // A lone escape, or a character that is no key of ours, whose bytes follow.
        [_, ..] => (None, 1),
        [] => (None, 0),
    }
}

/// The key of a sequence, without its begin.
fn named(sequence: &[u8]) -> Option<Key> {
    match sequence {
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        b"C" => Some(Key::Right),
        b"D" => Some(Key::Left),
        b"5~" => Some(Key::PageUp),
        b"6~" => Some(Key::PageDown),
        b"F" | b"4~" | b"8~" => Some(Key::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_terminals_send_for_them() {
        let check = |bytes: &[u8], key: (Option<Key>, usize)| assert_eq!(decode(bytes), key, "{bytes:?}");
        check(b"qx", (Some(Key::Char('q')), 1));
        check(b"\x03", (Some(Key::Char('\u{3}')), 1));
        check(b"\x1b[D\x1b[C", (Some(Key::Left), 3));
        check(b"\x1bOC", (Some(Key::Right), 3));
        check(b"\x1b[5~p", (Some(Key::PageUp), 4));
        check(b"\x1b[4~", (Some(Key::End), 4));
        check(b"\x1b", (None, 1));
        check(b"\x1b[200~", (None, 6));
        check("ü".as_bytes(), (None, 1));
        check(b"", (None, 0));
    }
}
