//! Joins the pieces of a file into lines of bounded length.

/// Longest line; of a longer one the rest is dropped. Unit: bytes.
pub(super) const MAX_LINE_BYTES: usize = 1024;

/// The line that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    open: Vec<u8>,
    /// Whether what comes until the next end of a line belongs to one whose beginning was not read.
    is_torn: bool,
}

impl LineSplitter {
    /// Takes the next piece; `each` gets every line that it completes, without its end.
    pub(super) fn push(&mut self, mut piece: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = (&piece[..end], &piece[end + 1..]);
            piece = rest;
            if std::mem::take(&mut self.is_torn) {
                continue;
            }
            if self.open.is_empty() {
                each(&line[..line.len().min(MAX_LINE_BYTES)]);
            } else {
                self.keep(line);
                each(&self.open);
                self.open.clear();
            }
        }
        if !self.is_torn {
            self.keep(piece);
        }
    }

    /// What follows is not what came after the last piece, and may begin in the middle of a line.
    pub(super) fn tear(&mut self) {
        self.open.clear();
        self.is_torn = true;
    }

    /// What follows is the beginning of a file.
    pub(super) fn restart(&mut self) {
        *self = LineSplitter::default();
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = MAX_LINE_BYTES - self.open.len();
        self.open.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> Vec<String> {
        let (mut splitter, mut lines) = (LineSplitter::default(), Vec::new());
        for piece in pieces {
            splitter.push(piece, |line| lines.push(String::from_utf8_lossy(line).into_owned()));
        }
        lines
    }

    #[test]
    fn lines_may_come_in_pieces_cut_anywhere() {
        let text = b"one\n\ntwo three\nopen";
        for cut in 0..text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(split(&[first, second]), ["one", "", "two three"], "{cut}");
        }
    }

    #[test]
    fn a_line_without_end_takes_no_more_memory() {
        let mut splitter = LineSplitter::default();
        for _ in 0..100 {
            splitter.push(&[b'x'; 10_000], |_| panic!("it has no end"));
        }
        assert_eq!(splitter.open.len(), MAX_LINE_BYTES);
        let mut lengths = Vec::new();
        splitter.push(b"y\nnext\n", |line| lengths.push(line.len()));
        splitter.push(&[&[b'z'; 5000][..], b"\n"].concat(), |line| lengths.push(line.len()));
        assert_eq!(lengths, [MAX_LINE_BYTES, 4, MAX_LINE_BYTES]);
    }

    #[test]
    fn behind_a_gap_the_rest_of_a_line_is_none() {
        let (mut splitter, mut lines) = (LineSplitter::default(), Vec::new());
        let mut push = |splitter: &mut LineSplitter, piece: &[u8]| {
            splitter.push(piece, |line| lines.push(String::from_utf8_lossy(line).into_owned()));
        };
        push(&mut splitter, b"begin");
        splitter.tear();
        push(&mut splitter, b"middle of");
        push(&mut splitter, b" another\nwhole\nhalf");
        splitter.restart();
        push(&mut splitter, b"first\n");
        assert_eq!(lines, ["whole", "first"]);
    }
}
