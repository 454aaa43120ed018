//! What controller and agents say in their streams, in as few bytes as say it, filled up to the usual length.

/// Bytes that a piece has besides its filling: a letter, a number, an instant.
const HEAD: usize = 17;

/// Usual lengths of pieces. Unit: bytes. Measured on a load of 50 agents with two threads each.
const PART_BYTES: usize = 3_000;
const SHORT_BYTES: usize = 200;
const WINDOW_BYTES: usize = 24_000;

/// A piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Talk {
    /// Controller: what time is it?
    Clock,
    /// Agent: this, on its own clock.
    Time(u64),
    /// Controller: take this part of the load, in requests per second.
    Part(u64),
    /// Agent: ready.
    Ready,
    /// Controller: connect.
    Connect,
    /// Agent: connected.
    Connected,
    /// Controller: begin at this instant of your clock.
    Begin(u64),
    /// Agent: so many requests in this window.
    Window(u64),
    /// Agent: the part is over, with so many requests in all.
    Over(u64),
}

impl Talk {
    fn parts(self) -> (u8, u64, usize) {
        match self {
            Talk::Clock => (b'c', 0, SHORT_BYTES),
            Talk::Time(at) => (b't', at, SHORT_BYTES),
            Talk::Part(rate) => (b'p', rate, PART_BYTES),
            Talk::Ready => (b'r', 0, SHORT_BYTES),
            Talk::Connect => (b'n', 0, SHORT_BYTES),
            Talk::Connected => (b'o', 0, SHORT_BYTES),
            Talk::Begin(at) => (b'b', at, SHORT_BYTES),
            Talk::Window(count) => (b'w', count, WINDOW_BYTES),
            Talk::Over(count) => (b'e', count, PART_BYTES),
        }
    }

    /// As a piece of the stream, with a filling that is as easy to deflate as the counts of a histogram are.
    pub(super) fn piece(self) -> Vec<u8> {
        let (letter, number, length) = self.parts();
        let mut piece = format!("{}{number:016x}", letter as char).into_bytes();
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        while piece.len() < length {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            piece.extend_from_slice(format!("[{},{}],", piece.len() / 8, state % 40).as_bytes());
        }
        piece
    }

    /// The piece of these bytes; `None`: it is none.
    pub(super) fn of(piece: &[u8]) -> Option<Talk> {
        let number = std::str::from_utf8(piece.get(1..HEAD)?).ok()?;
        let number = u64::from_str_radix(number, 16).ok()?;
        Some(match piece.first()? {
            b'c' => Talk::Clock,
            b't' => Talk::Time(number),
            b'p' => Talk::Part(number),
            b'r' => Talk::Ready,
            b'n' => Talk::Connect,
            b'o' => Talk::Connected,
            b'b' => Talk::Begin(number),
            b'w' => Talk::Window(number),
            b'e' => Talk::Over(number),
            _ => return None,
        })
    }
}
