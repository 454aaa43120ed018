//! The queueing discipline at the root of a device, over rtnetlink.
//!
//! Its place is `qdisc:INDEX:NAME`; its text is `KIND HANDLE: OPTIONS`, then, for each discipline below the root, the same
//! after its parent. Options are the bytes of the kernel's `TCA_OPTIONS` in hexadecimal digits, omitted if there are none. A
//! handle of 0 means that the kernel chose the discipline itself, and will choose it again when the root is deleted
//! (`net/sched/sch_api.c`, `net/sched/sch_generic.c`). A discipline with its own classes or filters is refused: it could not
//! be restored. Of a token bucket (`tbf`) the rate alone is a setting too, [`LinkRates`].

use super::device::{INTERFACE, NetworkDevice};
use super::token_bucket::TokenBucket;
use super::{Setting, SettingFamily, SettingPlace};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use crate::text::one_line;
use std::fmt::{self, Write};
use std::io;
use sysdyno_netlink::{CREATE, NetlinkSocket, REPLACE, find, put, text, word};

pub(super) const PREFIX: &str = "qdisc:";

const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_GETQDISC: u16 = 38;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TC_H_ROOT: u32 = 0xFFFF_FFFF;
/// The parent of `ingress` and `clsact`, which have nothing to do with what is sent.
const TC_H_INGRESS: u32 = 0xFFFF_FFF1;

/// Length of `struct tcmsg`. Unit: bytes. Source: `include/uapi/linux/rtnetlink.h`.
const HEAD: usize = 20;

/// Disciplines without classes whose options can be sent back as they were read.
const PLAIN: [&str; 8] = ["noqueue", "pfifo", "bfifo", "pfifo_fast", "fq", "fq_codel", "codel", "pie"];

/// Those whose only option is a limit, a 32-bit number.
const FIFOS: [&str; 2] = ["pfifo", "bfifo"];

/// Those that every kernel has; the others may be modules.
const BUILT_IN: [&str; 4] = ["noqueue", "pfifo", "bfifo", "pfifo_fast"];

/// Handles that ours get: the second where the first is taken. Unit: major numbers.
const HANDLES: [u16; 2] = [0x5d00, 0x5d01];

/// The discipline whose rate is a setting of its own.
const BUCKET: &str = "tbf";

/// One discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Qdisc {
    kind: String,
    handle: u32,
    parent: u32,
    options: Vec<u8>,
}

/// Disciplines at the root of devices, by the names of the devices.
#[derive(Debug)]
pub(crate) struct Qdiscs;

impl SettingFamily for Qdiscs {
    fn place(&self, _: &str) -> String {
        "rtnetlink(7): the root of the device".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        Ok(vec![SettingPlace::of(RootQdisc(NetworkDevice::find(name.first(), roots)?))])
    }

    fn witnesses(&self) -> &'static [&'static str] {
        INTERFACE
    }
}

/// Rates of token buckets at the root of devices, by the names of the devices, which may be in a namespace that has a name.
#[derive(Debug)]
pub(crate) struct LinkRates;

impl SettingFamily for LinkRates {
    fn place(&self, _: &str) -> String {
        "rtnetlink(7): the token bucket at the root of the device".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        Ok(vec![SettingPlace::of(RootQdisc(NetworkDevice::find_in(name.first(), roots)?))])
    }

    fn witnesses(&self) -> &'static [&'static str] {
        INTERFACE
    }

    fn edited(&self, _: &SettingName<'_>, text: &str, value: String) -> Result<String, String> {
        let found = root(text).filter(|root| root.kind == BUCKET);
        let found = found.ok_or("it has no token bucket (tbf) at its root, whose rate could be changed")?;
        let rate_kbps = value.parse().map_err(|_| format!("'{value}' is not a number"))?;
        let bucket = TokenBucket::parse(&found.options)?.at_rate(rate_kbps)?;
        Ok(text.replacen(&digits(&found.options), &digits(&bucket.options()), 1))
    }
}

/// The discipline at the root of a device.
#[derive(Debug)]
pub(super) struct RootQdisc(NetworkDevice);

impl RootQdisc {
    pub(super) fn parse(rest: &str) -> Option<RootQdisc> {
        NetworkDevice::parse(rest).map(RootQdisc)
    }
}

impl fmt::Display for RootQdisc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}", self.0)
    }
}

impl Setting for RootQdisc {
    fn read(&self, _: &TuneRoots) -> io::Result<String> {
        self.0.within(|| {
            let mut found = Vec::new();
            let of_device = |message: &[u8]| found.extend(parse(message, self.0.index));
            NetlinkSocket::route()?.list(RTM_GETQDISC, &head(0, 0, 0), of_device)?;
            // A device that is not there and one without any discipline look the same in a dump.
            self.0.check_there()?;
            Ok(listed(found))
        })
    }

    fn write(&self, _: &TuneRoots, text: &str) -> io::Result<()> {
        let wrong = || io::Error::from(io::ErrorKind::InvalidInput);
        let root = root(text).ok_or_else(wrong)?;
        let mut request = head(self.0.index, root.handle, TC_H_ROOT);
        if root.handle == 0 {
            return self.0.within(|| NetlinkSocket::route()?.change(RTM_DELQDISC, 0, &request));
        }
        put(&mut request, TCA_KIND, format!("{}\0", root.kind).as_bytes());
        let options = match root.kind == BUCKET {
            true => TokenBucket::parse(&root.options).map_err(|_| wrong())?.request(),
            false => root.options,
        };
        if !options.is_empty() {
            put(&mut request, TCA_OPTIONS, &options);
        }
        self.0.within(|| NetlinkSocket::route()?.change(RTM_NEWQDISC, CREATE | REPLACE, &request))
    }

    fn shell_line(&self, _: &TuneRoots, text: &str) -> String {
        let (name, tc) = (&self.0.name, self.0.shell("tc"));
        match root(text) {
            Some(root) if root.handle == 0 => format!("{tc} qdisc delete dev {name} root"),
            Some(root) if root.kind == BUCKET => match TokenBucket::parse(&root.options) {
                Ok(bucket) => {
                    let handle = root.handle >> 16;
                    format!("{tc} qdisc change dev {name} root handle {handle:x}: {BUCKET} {bucket}")
                }
                Err(cause) => format!("# {cause}"),
            },
            Some(root) => {
                let handle = root.handle >> 16;
                let limit = word(&root.options, 0).filter(|_| FIFOS.contains(&root.kind.as_str()));
                let limit = limit.map_or(String::new(), |limit| format!(" limit {limit}"));
                let line =
                    format!("{tc} qdisc replace dev {name} root handle {handle:x}: {}{limit}", root.kind);
                let is_said = root.options.is_empty() || !limit.is_empty();
                if is_said { line } else { format!("{line} # and its options, which were {text}") }
            }
            None => format!("# cannot parse the old discipline of {name}: {text}"),
        }
    }

    fn shown(&self, text: &str, _: &str) -> String {
        let bucket = root(text).filter(|root| root.kind == BUCKET);
        match bucket.and_then(|root| TokenBucket::parse(&root.options).ok()) {
            Some(bucket) => format!("{BUCKET} {bucket}"),
            None => one_line(text),
        }
    }
}

fn listed(mut all: Vec<Qdisc>) -> String {
    all.retain(|qdisc| qdisc.parent != TC_H_INGRESS);
    all.sort_by_key(|qdisc| (qdisc.parent != TC_H_ROOT, qdisc.parent));
    if all.first().is_none_or(|root| root.parent != TC_H_ROOT) {
        return "default 0:".into();
    }
    let texts = all.iter().map(|qdisc| {
        let mut text = String::new();
        if qdisc.parent != TC_H_ROOT {
            let _ = write!(text, "{:x}:{:x} ", qdisc.parent >> 16, qdisc.parent & 0xffff);
        }
        let _ = write!(text, "{} {:x}:", qdisc.kind, qdisc.handle >> 16);
        if !qdisc.options.is_empty() {
            text.push(' ');
        }
        text + &digits(&qdisc.options)
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A discipline of a device; `None` if the message is about another one.
fn parse(message: &[u8], index: u32) -> Option<Qdisc> {
    if word(message, 4)? != index {
        return None;
    }
    let attributes = message.get(HEAD..)?;
    Some(Qdisc {
        kind: text(find(attributes, TCA_KIND)?)?.to_owned(),
        handle: word(message, 8)?,
        parent: word(message, 12)?,
        options: find(attributes, TCA_OPTIONS).unwrap_or_default().to_vec(),
    })
}

/// The root of a text.
fn root(text: &str) -> Option<Qdisc> {
    let mut words = text.split_whitespace();
    let kind = words.next()?.to_owned();
    let major = u16::from_str_radix(words.next()?.strip_suffix(':')?, 16).ok()?;
    // What follows is options, or the parent of the next one.
    let digits = words.next().filter(|word| !word.contains(':')).unwrap_or_default();
    let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let options = (0..digits.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>()?;
    Some(Qdisc { kind, handle: u32::from(major) << 16, parent: TC_H_ROOT, options })
}

fn head(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    [0, index, handle, parent, 0].iter().flat_map(|word: &u32| word.to_ne_bytes()).collect()
}

/// The text that `typed` stands for on a device whose text is `old`: how it begins, the rest is the kernel's choice.
///
/// # Errors
/// What is there could not be put back, or `typed` is no discipline that is taken.
pub(crate) fn typed(typed: &str, old: &str, is_there: impl Fn(&str) -> bool) -> Result<String, String> {
    let mut words = typed.split_whitespace();
    let (kind, rest) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
    if !PLAIN.contains(&kind) {
        return Err(format!("'{kind}' is not a supported discipline; supported: {}", PLAIN.join(", ")));
    }
    if !BUILT_IN.contains(&kind) && !is_there(kind) {
        return Err(format!(
            "the kernel would have to load its module, which stays: `modprobe sch_{kind}` first"
        ));
    }
    let found = check_restorable(old)?;
    let major =
        HANDLES.into_iter().find(|major| u32::from(*major) << 16 != found.handle).unwrap_or(HANDLES[0]);
    match rest[..] {
        [] => Ok(format!("{kind} {major:x}:")),
        ["limit", limit] if FIFOS.contains(&kind) => {
            let limit: u32 = limit.parse().map_err(|_| format!("'{limit}' is not a number"))?;
            Ok(format!("{kind} {major:x}: {}", digits(&limit.to_ne_bytes())))
        }
        _ => Err("it takes a discipline, and for pfifo and bfifo a limit, such as 'pfifo limit 1000'".into()),
    }
}

/// The root of a device, if it can be restored.
fn check_restorable(old: &str) -> Result<Qdisc, String> {
    let found = root(old).ok_or("the current discipline cannot be parsed")?;
    if found.handle != 0 && !PLAIN.contains(&found.kind.as_str()) {
        let cause =
            format!("a '{}' discipline was set up there, which could not be restored exactly", found.kind);
        return Err(cause);
    }
    // Words that are handles: the root's, then parent and own one of each below it.
    let handles: Vec<&str> = old.split_whitespace().filter(|word| word.contains(':')).skip(1).collect();
    let is_foreign = |pair: &[&str]| pair.get(1).is_none_or(|own| *own != "0:");
    if handles.chunks(2).any(is_foreign) {
        return Err("disciplines were set up below its root, which could not be restored exactly".into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT_IN_ONLY: fn(&str) -> bool = |_| false;

    #[test]
    fn texts_say_all_that_is_sent_back() {
        for text in ["noqueue 0:", "pfifo 8001: e8030000", "fq 5d00:", "fq_codel 1: 0800010000040000"] {
            let root = root(text).expect("is a discipline");
            assert_eq!(listed(vec![root]), text);
        }
        let below = |parent, kind: &str| Qdisc { kind: kind.into(), handle: 0, parent, options: vec![1] };
        let all = vec![
            below(2, "fq_codel"),
            below(TC_H_ROOT, "mq"),
            below(TC_H_INGRESS, "clsact"),
            below(1, "fq_codel"),
        ];
        assert_eq!(listed(all), "mq 0: 01 0:1 fq_codel 0: 01 0:2 fq_codel 0: 01");
        assert_eq!(listed(Vec::new()), "default 0:");
        for wrong in ["", "fq", "fq 5d00", "fq 5d00: 0x", "fq 5d00: 012"] {
            assert_eq!(root(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_what_can_be_put_back_is_replaced() {
        let check = |text: &str, old: &str| typed(text, old, BUILT_IN_ONLY);
        assert_eq!(check("pfifo limit 100", "noqueue 0:").as_deref(), Ok("pfifo 5d00: 64000000"));
        assert_eq!(check("pfifo", "pfifo 5d00: 64000000").as_deref(), Ok("pfifo 5d01:"));
        assert_eq!(
            check("bfifo", "mq 0: 0:1 pfifo_fast 0: 01 0:2 pfifo_fast 0: 01").as_deref(),
            Ok("bfifo 5d00:")
        );
        for (text, old, cause) in [
            ("htb", "noqueue 0:", "not a supported discipline"),
            ("fq", "noqueue 0:", "modprobe sch_fq"),
            ("pfifo limit many", "noqueue 0:", "'many' is not a number"),
            ("pfifo_fast limit 1", "noqueue 0:", "it takes a discipline"),
            ("pfifo", "htb 1: 00", "a 'htb' discipline was set up"),
            ("pfifo", "mq 0: 0:1 fq 8002: 01", "below its root"),
        ] {
            let refused = check(text, old).expect_err("is refused");
            assert!(refused.contains(cause), "{text} over {old}: {refused}");
        }
        assert_eq!(typed("fq", "noqueue 0:", |kind| kind == "fq").as_deref(), Ok("fq 5d00:"));
    }

    /// A token bucket of 100 Mbit/s and 128 KiB, as the kernel shows it.
    const BUCKET_TEXT: &str =
        "tbf 8001: 28000100000100000000000020bcbe00000000000000000000000000000012000080020000000000";

    #[test]
    fn of_a_token_bucket_the_rate_alone_is_changed() {
        let edit = |text: &str, rate: &str| {
            let name = SettingName::of("netdev.*.rate_kbps", "netdev.web:eth0.rate_kbps").expect("is one");
            LinkRates.edited(&name, text, rate.into())
        };
        assert_eq!(edit(BUCKET_TEXT, "100000").as_deref(), Ok(BUCKET_TEXT), "it has this rate");
        let slower = edit(BUCKET_TEXT, "80000").expect("is a rate");
        let shown = |text: &str| RootQdisc::parse("3:eth0").expect("is a device").shown(text, "");
        assert_eq!(shown(BUCKET_TEXT), "tbf rate 100000000bit burst 131072b limit 1179648b");
        assert!(shown(&slower).starts_with("tbf rate 80000000bit burst 131072b"), "{}", shown(&slower));
        assert_eq!(edit(&slower, "100000").as_deref(), Ok(BUCKET_TEXT), "and back");
        for (text, rate) in [("noqueue 0:", "100"), (BUCKET_TEXT, "99999999"), ("tbf 8001: 00", "100")] {
            assert!(edit(text, rate).is_err(), "{text} at {rate}");
        }
    }

    #[test]
    fn shells_are_told_what_undoes_it() {
        let shell_line =
            |text| RootQdisc::parse("3:eth0").expect("is a device").shell_line(&TuneRoots::host(), text);
        assert_eq!(shell_line("noqueue 0:"), "tc qdisc delete dev eth0 root");
        let line = shell_line("pfifo 8001: e8030000");
        assert_eq!(line, "tc qdisc replace dev eth0 root handle 8001: pfifo limit 1000");
    }
}
