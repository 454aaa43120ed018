//! Lines for a reader that may be slow, or go away, without the load noticing: a bounded queue, and a thread that writes.
//!
//! What does not fit into the queue is dropped and counted, and the next line that fits is preceded by one that says how many
//! there were. Once nobody reads any more, nothing is written.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;
use sysdyno_report::output::lines::{DroppedLines, RunLine, render};

/// Lines that wait for the reader: minutes of a run, in about a megabyte.
const QUEUE_COUNT: usize = 1024;

/// For how long a reader is waited for once the run is over.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lines on their way to a reader.
#[derive(Debug)]
pub struct LineStream {
    /// `None`: nobody reads any more.
    queue: Option<SyncSender<String>>,
    /// Disconnected once all is written, or nobody reads.
    written: Receiver<()>,
    /// Lines dropped since the last one that fitted.
    dropping_count: u64,
    dropped_count: u64,
}

impl LineStream {
    /// A stream to standard output.
    pub fn to_stdout() -> LineStream {
        LineStream::new(std::io::stdout(), QUEUE_COUNT)
    }

    fn new(mut out: impl Write + Send + 'static, queue_count: usize) -> LineStream {
        let (queue, lines) = sync_channel::<String>(queue_count);
        let (writing, written) = channel::<()>();
        // Is not joined: a reader that has stopped must not keep the program from ending.
        std::thread::spawn(move || {
            let _writing = writing;
            for line in lines {
                if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        });
        LineStream { queue: Some(queue), written, dropping_count: 0, dropped_count: 0 }
    }

    /// Lines that were dropped so far.
    pub fn dropped_count(&self) -> u64 {
        self.dropped_count
    }

    /// Adds a line, unless the queue is full. Never waits.
    pub fn send(&mut self, line: &RunLine<'_>) {
        self.send_text(render(line));
    }

    /// Adds a line that is rendered.
    pub fn send_text(&mut self, line: String) {
        if self.dropping_count > 0 {
            let dropped = DroppedLines { dropped_count: self.dropping_count };
            if !self.fits(render(&RunLine::Dropped(dropped))) {
                return self.drop_one();
            }
            self.dropping_count = 0;
        }
        if !self.fits(line) {
            self.drop_one();
        }
    }

    fn drop_one(&mut self) {
        self.dropping_count += 1;
        self.dropped_count += 1;
    }

    /// Whether the line was taken, by the queue or because nobody wants it.
    fn fits(&mut self, line: String) -> bool {
        let Some(queue) = &self.queue else { return true };
        match queue.try_send(line) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => {
                self.queue = None;
                true
            }
        }
    }

    /// Adds the last lines, for which a slow reader is waited for; returns whether the reader has them, or went away.
    pub fn finish(self, last: Vec<String>) -> bool {
        self.finish_within(last, PATIENCE)
    }

    fn finish_within(mut self, last: Vec<String>, patience: Duration) -> bool {
        let Some(queue) = self.queue.take() else { return true };
        let dropped = DroppedLines { dropped_count: self.dropping_count };
        let dropped = (self.dropping_count > 0).then(|| render(&RunLine::Dropped(dropped)));
        // A queue that is full is written by a thread of its own, so that the time is bounded.
        std::thread::spawn(move || {
            let _ = dropped.into_iter().chain(last).try_for_each(|line| queue.send(line));
        });
        !matches!(self.written.recv_timeout(patience), Err(std::sync::mpsc::RecvTimeoutError::Timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use sysdyno_report::output::lines::RunLine;

    fn dropped_line(count: u64) -> RunLine<'static> {
        RunLine::Dropped(DroppedLines { dropped_count: count })
    }

    #[test]
    fn a_reader_that_stops_makes_nobody_wait_and_hears_how_much_it_missed() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut stream = LineStream::new(writer, 2);
        let line = "x".repeat(8 << 10);
        (0..100).for_each(|_| stream.send_text(line.clone()));
        // 64 KiB in the pipe, one line on its way, two in the queue.
        let dropped = stream.dropped_count();
        assert!((80..100).contains(&dropped), "{dropped}");
        let read = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        assert!(stream.finish_within(vec!["last".into()], PATIENCE));
        let text = read.join().expect("it reads").expect("it is text");
        let count = |line: &str| -> Option<u64> {
            line.strip_prefix("{\"line\":\"dropped\",\"dropped_count\":")?.strip_suffix('}')?.parse().ok()
        };
        assert_eq!(text.lines().filter_map(count).sum::<u64>(), dropped);
        assert_eq!(text.lines().last(), Some("last"));
    }

    #[test]
    fn a_reader_that_never_reads_is_given_up_and_one_that_is_gone_is_no_error() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut stream = LineStream::new(writer, 2);
        // More than the pipe has room for.
        stream.send_text("x".repeat(1 << 20));
        assert!(!stream.finish_within(vec![], Duration::from_millis(10)), "nobody has read");
        drop(reader);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut stream = LineStream::new(writer, 2);
        (0..100).for_each(|count| stream.send(&dropped_line(count)));
        assert!(stream.finish_within(vec!["last".into()], PATIENCE));
    }
}
