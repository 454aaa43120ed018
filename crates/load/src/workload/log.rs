//! An access log in the common or combined format, as nginx and Apache write it by default:
//!
//! ```text
//! 192.0.2.1 - ana [10/Oct/2025:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326 "http://referrer/" "user agent"
//! ```
//! Only a line's time and request are read; anything may come before and after them. The time is in whole seconds and is
//! that of the request's end. Anyone who sends requests controls what a log contains, so lines are bounded, paths are checked
//! before they are sent, and unreadable lines are counted and skipped.
//!
//! Only requests without a body and without side effects are replayed: GET and HEAD. The arrivals of a second are spread
//! over it like those of a Poisson process with that many arrivals: independently and uniformly.

use super::RequestKind;
use super::urls::name_of;
use crate::date::{MONTHS, days_since_1970};
use crate::error::LoadError;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read};
use std::sync::Arc;
use sysdyno_record::plan::{RequestSpec, Validators};
use sysdyno_record::units::SpanNs;
use sysdyno_record::workload::{
    LogPlan, LoggedArrival, LoggedRequest, MAX_OPERATIONS, NeedPlan, OperationPlan, Workload,
};

/// Longest line that is read; a longer one is left out. Unit: bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// Longest path that is replayed. Unit: bytes.
const MAX_PATH_BYTES: usize = 4 * 1024;

/// Different requests that are replayed; those that come later in the log are left out.
const MAX_REQUESTS_COUNT: usize = 100_000;

/// Requests that are replayed in all.
const MAX_ARRIVALS_COUNT: usize = 16 * 1024 * 1024;

/// Seconds with a request in them: half a year without a pause.
const MAX_SECONDS_COUNT: usize = 16 * 1024 * 1024;

/// What the operations beyond [`MAX_OPERATIONS`] are counted as.
const OTHERS_NAME: &str = "(others)";

/// A log as it was read.
#[derive(Clone, Debug, Default)]
pub struct AccessLog {
    /// Requests by second. Unit of the key: seconds since 1970, UTC.
    seconds: BTreeMap<i64, u64>,
    requests: Vec<LoggedRequest>,
    /// What can be replayed, in the order of the log.
    arrivals: Vec<Logged>,
    /// Lines, readable or not.
    pub lines_count: u64,
    /// Lines that are not of the format, or too long.
    pub unreadable_count: u64,
    /// Requests with other methods than GET and HEAD, or with a path that is not one, or beyond a limit.
    pub unsendable_count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Logged {
    second: i64,
    request: u32,
}

impl AccessLog {
    /// Reads a log to its end.
    ///
    /// # Errors
    /// It cannot be read, or no line of it can.
    pub fn read(mut from: impl BufRead) -> Result<AccessLog, LoadError> {
        let mut log = AccessLog::default();
        let mut known = HashMap::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let taken = from.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
            if taken.map_err(LoadError::system("read the log"))? == 0 {
                break;
            }
            log.lines_count += 1;
            let is_whole = line.last() == Some(&b'\n') || (line.len() as u64) < MAX_LINE_BYTES;
            if is_whole {
                log.take(&line, &mut known);
            } else {
                log.unreadable_count += 1;
                from.skip_until(b'\n').map_err(LoadError::system("read the log"))?;
            }
        }
        if log.seconds.is_empty() {
            return Err(LoadError::line(1, "no line is in common or combined log format".into()));
        }
        Ok(log)
    }

    fn take(&mut self, line: &[u8], known: &mut HashMap<Box<[u8]>, u32>) {
        let Some(entry) = parse_line(line) else {
            self.unreadable_count += u64::from(!line.trim_ascii().is_empty());
            return;
        };
        let is_full = self.seconds.len() >= MAX_SECONDS_COUNT && !self.seconds.contains_key(&entry.second);
        if is_full {
            self.unsendable_count += 1;
            return;
        }
        *self.seconds.entry(entry.second).or_default() += 1;
        match self.request_of(entry.request, known) {
            Some(request) if self.arrivals.len() < MAX_ARRIVALS_COUNT => {
                self.arrivals.push(Logged { second: entry.second, request });
            }
            _ => self.unsendable_count += 1,
        }
    }

    /// The number of a request line that may be sent.
    fn request_of(&mut self, request: &[u8], known: &mut HashMap<Box<[u8]>, u32>) -> Option<u32> {
        if let Some(number) = known.get(request) {
            return Some(*number);
        }
        let (method, path) = sendable(request)?;
        if self.requests.len() >= MAX_REQUESTS_COUNT {
            return None;
        }
        let number = self.requests.len() as u32;
        self.requests.push(LoggedRequest { method: method.into(), path: path.into(), operation: 0 });
        known.insert(request.into(), number);
        Some(number)
    }

    /// What the busiest seconds, minutes and hours of the log asked for.
    pub fn need(&self, file: &str) -> NeedPlan {
        let (first, last) = (self.first(), self.seconds.keys().next_back().copied().unwrap_or(0));
        let busiest = |window: i64| {
            let is_covered = last - first + 1 >= window;
            is_covered.then(|| self.busiest(window) as f64 / window as f64)
        };
        NeedPlan {
            file: file.to_owned(),
            requests_count: self.seconds.values().sum(),
            unreadable_count: self.unreadable_count,
            begin_unix_s: first,
            end_unix_s: last + 1,
            second_hz: self.busiest(1) as f64,
            minute_hz: busiest(60),
            hour_hz: busiest(3600),
        }
    }

    /// Most requests in so many seconds in a row.
    fn busiest(&self, window: i64) -> u64 {
        let mut begin = self.seconds.iter();
        let mut oldest = begin.next();
        let (mut sum, mut most) = (0, 0);
        for (second, count) in &self.seconds {
            sum += count;
            while let Some((old, gone)) = oldest.filter(|(old, _)| *old + window <= *second) {
                debug_assert!(old < second);
                sum -= gone;
                oldest = begin.next();
            }
            most = most.max(sum);
        }
        most
    }

    fn first(&self) -> i64 {
        self.seconds.keys().next().copied().unwrap_or(0)
    }

    /// The log as a workload: in its own timing, `speed` times as fast, or as a mix if there is none.
    ///
    /// # Errors
    /// Nothing in it can be replayed.
    pub fn workload(mut self, wish: &Wish<'_>) -> Result<Workload, LoadError> {
        if self.arrivals.is_empty() {
            return Err(LoadError::plan("the log has no GET or HEAD requests"));
        }
        let first = self.arrivals.iter().map(|arrival| arrival.second).min().unwrap_or(0);
        let last = self.arrivals.iter().map(|arrival| arrival.second).max().unwrap_or(0);
        let speed = wish.speed_ratio.unwrap_or(1.0);
        let operations = self.classify(wish);
        let arrivals = self.spread(first, speed, wish.seed);
        Ok(Workload {
            operations,
            log: Some(LogPlan {
                file: wish.file.to_owned(),
                lines_count: self.lines_count,
                unreadable_count: self.unreadable_count,
                unsendable_count: self.unsendable_count,
                arrivals_count: arrivals.len() as u64,
                span: SpanNs((((last - first + 1) as f64) * 1e9 / speed).ceil() as u64),
                speed_ratio: wish.speed_ratio,
                requests: self.requests.into(),
                arrivals,
            }),
            ..Workload::default()
        })
    }

    /// Sorts requests into operations: one for each path without its query, the most frequent ones apart.
    fn classify(&mut self, wish: &Wish<'_>) -> Vec<OperationPlan> {
        let mut counts = vec![0u64; self.requests.len()];
        self.arrivals.iter().for_each(|arrival| counts[arrival.request as usize] += 1);
        let class = |request: &LoggedRequest| name_of(&request.method, path_of(request));
        let mut by_class: BTreeMap<String, Class> = BTreeMap::new();
        for (request, count) in self.requests.iter().zip(&counts) {
            by_class.entry(class(request)).or_default().add(request, *count);
        }
        let mut classes: Vec<(String, Class)> = by_class.into_iter().collect();
        classes.sort_by_key(|(_, class)| std::cmp::Reverse(class.count));
        if classes.len() > MAX_OPERATIONS {
            let mut others = Class::default();
            classes.drain(MAX_OPERATIONS - 1..).for_each(|(_, class)| others.absorb(class));
            classes.push((OTHERS_NAME.to_owned(), Class { path: OTHERS_NAME.to_owned(), ..others }));
        }
        let position: HashMap<&str, u32> =
            classes.iter().zip(0..).map(|((name, _), number)| (name.as_str(), number)).collect();
        let others = classes.len() as u32 - 1;
        for request in &mut self.requests {
            request.operation = position.get(class(request).as_str()).copied().unwrap_or(others);
        }
        let operation = |(name, class): (String, Class)| OperationPlan {
            name,
            path: class.path,
            request: RequestSpec { method: class.methods.join(", "), ..wish.request.clone() },
            weight: class.count as f64,
            validators: wish.validators.clone(),
        };
        classes.into_iter().map(operation).collect()
    }

    /// The instants of all arrivals, in order.
    fn spread(&mut self, first: i64, speed: f64, seed: u64) -> Arc<[LoggedArrival]> {
        self.arrivals.sort_by_key(|arrival| arrival.second);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut spread = Vec::with_capacity(self.arrivals.len());
        let mut within: Vec<f64> = Vec::new();
        for second in self.arrivals.chunk_by(|a, b| a.second == b.second) {
            within.clear();
            within.extend(second.iter().map(|_| random.random::<f64>()));
            within.sort_unstable_by(f64::total_cmp);
            spread.extend(second.iter().zip(&within).map(|(arrival, within)| LoggedArrival {
                offset_ns: (((arrival.second - first) as f64 + within) * 1e9 / speed) as u64,
                request: arrival.request,
            }));
        }
        spread.into()
    }
}

/// How a log is to be used.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The log, as typed.
    pub file: &'a str,
    /// How much faster than it was; `None` for a mix without instants.
    pub speed_ratio: Option<f64>,
    /// Seed of the instants within seconds.
    pub seed: u64,
    /// Header fields.
    pub request: &'a RequestSpec,
    /// What a response must be like.
    pub validators: &'a Validators,
}

/// The requests of a log that are counted as one operation.
#[derive(Default)]
struct Class {
    /// Path of the first of them, without its query.
    path: String,
    /// Each method once, in alphabetical order.
    methods: Vec<String>,
    count: u64,
}

impl Class {
    fn add(&mut self, request: &LoggedRequest, count: u64) {
        let methods = vec![request.method.to_string()];
        self.absorb(Class { path: path_of(request).to_owned(), methods, count });
    }

    fn absorb(&mut self, other: Class) {
        if self.path.is_empty() {
            self.path = other.path;
        }
        self.methods.extend(other.methods);
        self.methods.sort_unstable();
        self.methods.dedup();
        self.count += other.count;
    }
}

/// The path of a request without its query.
fn path_of(request: &LoggedRequest) -> &str {
    request.path.split('?').next().unwrap_or(&request.path)
}

/// The instant and the request of a line, as written.
struct Entry<'a> {
    second: i64,
    request: &'a [u8],
}

fn parse_line(line: &[u8]) -> Option<Entry<'_>> {
    let open = memchr::memchr(b'[', line)?;
    let close = open + memchr::memchr(b']', &line[open..])?;
    let second = parse_instant(std::str::from_utf8(&line[open + 1..close]).ok()?)?;
    let rest = &line[close + 1..];
    let begin = memchr::memchr(b'"', rest)? + 1;
    let length = memchr::memchr(b'"', &rest[begin..])?;
    Some(Entry { second, request: &rest[begin..begin + length] })
}

/// `10/Oct/2025:13:55:36 -0700` as seconds since 1970, UTC.
fn parse_instant(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>, most: i64| {
        let digits = text.get(range)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<i64>().ok().filter(|number| is_number && *number <= most)
    };
    let is_mark = |at: usize, mark: &str| text.get(at..at + 1) == Some(mark);
    let has_marks = [(2, "/"), (6, "/"), (11, ":"), (14, ":"), (17, ":"), (20, " ")]
        .iter()
        .all(|(at, mark)| is_mark(*at, mark));
    if text.len() != 26 || !has_marks {
        return None;
    }
    let month = MONTHS.iter().position(|month| text.get(3..6) == Some(*month))? as i64 + 1;
    let (day, year) = (number(0..2, 31)?, number(7..11, 9999)?);
    let (hour, minute, second) = (number(12..14, 23)?, number(15..17, 59)?, number(18..20, 60)?);
    let east = match text.get(21..22)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let offset = (number(22..24, 23)? * 60 + number(24..26, 59)?) * 60;
    Some(days_since_1970(year, month, day) * 86_400 + (hour * 60 + minute) * 60 + second - east * offset)
}

/// Method and path of a request line that may be sent: GET or HEAD, and a path of visible characters.
fn sendable(request: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(request).ok()?;
    let mut words = text.split(' ');
    let (method, path, version) = (words.next()?, words.next()?, words.next());
    let is_line = words.next().is_none() && version.is_none_or(|version| version.starts_with("HTTP/"));
    let is_path = path.starts_with('/')
        && path.len() <= MAX_PATH_BYTES
        // What servers escape in a log (`\x22`) is not what was sent.
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    (is_line && is_path && matches!(method, "GET" | "HEAD")).then_some((method, path))
}

/// The kind of an arrival: requests of a log are numbered as kinds are.
pub(crate) fn kind_of(arrival: &LoggedArrival) -> RequestKind {
    arrival.request
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
