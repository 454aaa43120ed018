//! A profile in the format of pprof: one gzip-compressed protocol buffer, for `go tool pprof` and what reads the same.
//!
//! The message is small enough to be written by hand. Source: `github.com/google/pprof/proto/profile.proto`; the numbers below are
//! its field numbers. Addresses are not written, since the record has none.

use crate::protobuf::ProtoMessage;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::io::Write;
use sysdyno_record::profile::{Profile, ProfileKind, ProfileStack};
use sysdyno_record::units::WallNs;

/// The profile, taken at this instant.
///
/// # Panics
/// If the profile is not sound.
pub fn pprof(profile: &Profile, taken: WallNs) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&message(profile, taken)).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

fn message(profile: &Profile, taken: WallNs) -> Vec<u8> {
    let mut strings = Strings::default();
    let mut out = ProtoMessage::default();
    let (counted, valued, unit) = match (profile.kind, profile.counted_event()) {
        (ProfileKind::OnCpu, Some(event)) => ("samples", event.name(), "count"),
        (ProfileKind::OnCpu, None) => ("samples", "cpu", "nanoseconds"),
        (ProfileKind::OffCpu, _) => ("waits", "off-cpu", "nanoseconds"),
    };
    out.message(1, &value_type(&mut strings, counted, "count"));
    out.message(1, &value_type(&mut strings, valued, unit));
    for stack in &profile.stacks {
        out.message(2, &sample(profile, stack, &mut strings));
    }
    let objects = mappings(profile, &mut strings, &mut out);
    for (index, frame) in profile.frames.iter().enumerate() {
        let number = index as u64 + 1;
        let mut line = ProtoMessage::default();
        line.number(1, number);
        let mut location = ProtoMessage::default();
        location.number(1, number);
        location.number(2, objects[frame.object.as_str()]);
        location.message(4, &line);
        out.message(4, &location);
    }
    for (index, frame) in profile.frames.iter().enumerate() {
        let name = strings.number(&frame.name);
        let mut function = ProtoMessage::default();
        function.number(1, index as u64 + 1);
        function.number(2, name);
        function.number(3, name);
        function.number(4, strings.number(&frame.object));
        out.message(5, &function);
    }
    out.number(9, taken.0);
    out.number(10, profile.duration_ns());
    // Of an event of the CPU, the kernel changes the period all the time to keep the rate.
    if let Some(rate_hz) = profile.rate_hz.filter(|_| profile.counted_event().is_none()) {
        out.message(11, &value_type(&mut strings, valued, unit));
        out.number(12, 1_000_000_000 / u64::from(rate_hz.max(1)));
    }
    strings.all.iter().for_each(|text| out.bytes(6, text.as_bytes()));
    out.as_bytes().to_vec()
}

fn value_type(strings: &mut Strings, what: &str, unit: &str) -> ProtoMessage {
    let mut message = ProtoMessage::default();
    message.number(1, strings.number(what));
    message.number(2, strings.number(unit));
    message
}

/// Locations from the innermost frame outwards, both values, and who it was.
fn sample(profile: &Profile, stack: &ProfileStack, strings: &mut Strings) -> ProtoMessage {
    let mut message = ProtoMessage::default();
    message.packed(1, stack.frames.iter().rev().map(|frame| u64::from(*frame) + 1));
    message.packed(2, [stack.count, stack.weight.amount()].into_iter());
    let process = profile.process_of(stack);
    let mut name = ProtoMessage::default();
    name.number(1, strings.number("process"));
    name.number(2, strings.number(&process.name));
    message.message(3, &name);
    let mut pid = ProtoMessage::default();
    pid.number(1, strings.number("pid"));
    pid.number(3, process.pid.into());
    message.message(3, &pid);
    message
}

/// One mapping per object, so that tools can show the file of a function.
fn mappings<'a>(
    profile: &'a Profile,
    strings: &mut Strings,
    out: &mut ProtoMessage,
) -> HashMap<&'a str, u64> {
    let mut numbers = HashMap::new();
    for frame in &profile.frames {
        let next = numbers.len() as u64 + 1;
        if numbers.contains_key(frame.object.as_str()) {
            continue;
        }
        numbers.insert(frame.object.as_str(), next);
        let mut mapping = ProtoMessage::default();
        mapping.number(1, next);
        mapping.number(5, strings.number(&frame.object));
        // Functions have names already, so that no tool looks for the file.
        mapping.number(7, 1);
        out.message(3, &mapping);
    }
    numbers
}

/// The table of texts; the first one is empty.
struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings { all: vec![String::new()], numbers: HashMap::from([(String::new(), 0)]) }
    }
}

impl Strings {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::folded::tests::{counted, sample};

    fn unpacked(profile: &Profile) -> Vec<u8> {
        use std::io::Read;
        let file = pprof(profile, WallNs(1));
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&file[..]).read_to_end(&mut bytes).expect("is gzip");
        bytes
    }

    fn has(bytes: &[u8], name: &str) -> bool {
        bytes.windows(name.len()).any(|window| window == name.as_bytes())
    }

    #[test]
    fn the_file_is_compressed_and_has_every_name() {
        let bytes = unpacked(&sample());
        for name in ["main", "tcp_sendmsg", "net_rx_action", "nginx", "nanoseconds"] {
            assert!(has(&bytes, name), "{name}");
        }
    }

    #[test]
    fn events_of_the_cpu_are_named_and_counted() {
        let bytes = unpacked(&counted());
        assert!(has(&bytes, "cache-misses") && has(&bytes, "count") && !has(&bytes, "nanoseconds"));
    }
}
