//! Values of settings: which ones are valid, and when two texts mean the same.

mod cpus;

use crate::setting::{control_group, ethtool, mount, qdisc};
use crate::text::one_line;
use std::collections::BTreeSet;
use sysdyno_record::units::Bytes;

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// One integer within bounds.
    Integer {
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
    },
    /// A power of two within bounds; the kernel would round others.
    PowerOfTwo {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
        /// Whether 0 is allowed too.
        has_zero: bool,
    },
    /// A multiple of a number; the kernel would round others.
    Stepped {
        /// The number.
        step: u32,
        /// Greatest value.
        max: u32,
    },
    /// Integers that do not decrease, each within bounds.
    Rising {
        /// How many.
        count: usize,
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
    },
    /// One integer within bounds, or this word.
    IntegerOr {
        /// The word.
        word: &'static str,
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
    },
    /// A number of bytes as services write it, with K, M or G behind it where that is meant; written as it is typed.
    Size {
        /// Least value. Unit: bytes.
        min: i128,
        /// Greatest value. Unit: bytes.
        max: i128,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of the words that another file lists.
    Listed {
        /// The file, from the root.
        file: &'static str,
    },
    /// One of the words that the setting itself lists, with the one in force in brackets.
    Bracketed {
        /// A word that can be neither left nor chosen; empty if all can.
        except: &'static str,
    },
    /// CPUs that are online, as a list.
    CpuList,
    /// CPUs that are online, or none, typed as a list and written as a mask.
    CpuMask,
    /// A queueing discipline, of which the kernel decides the rest.
    Discipline,
    /// Names and values in turn, of those that the device has.
    Pairs,
    /// The same with on and off, where the kernel decides what comes with it.
    Switches,
    /// Options of a mount, with commas between them.
    MountOptions,
    /// A number of CPUs with at most three decimals, or one of two words.
    CpuShare,
    /// A soft limit; the hard limit is raised with it where it has to be, and never lowered.
    SoftLimit,
}

/// What a value is understood by.
pub(crate) struct ValueContext<'a> {
    /// Unit of the numbers.
    pub(crate) unit: &'a str,
    /// The text of the setting now.
    pub(crate) old: &'a str,
    /// Gives the text of a file.
    pub(crate) file: &'a dyn Fn(&str) -> Option<String>,
}

/// Which CPUs are online.
const ONLINE: &str = "/sys/devices/system/cpu/online";

impl ValueKind {
    /// Whether `typed` can be a value at all, where that does not depend on the host.
    ///
    /// # Errors
    /// Why it is none.
    pub fn check(&self, typed: &str, unit: &str) -> Result<(), String> {
        match self {
            ValueKind::Integer { .. }
            | ValueKind::PowerOfTwo { .. }
            | ValueKind::Stepped { .. }
            | ValueKind::Rising { .. }
            | ValueKind::IntegerOr { .. }
            | ValueKind::Size { .. }
            | ValueKind::CpuShare
            | ValueKind::OneOf(_) => {
                self.parse(typed, &ValueContext { unit, old: "", file: &|_| None }).map(drop)
            }
            // The hard limit is raised with it, where it is lower.
            ValueKind::SoftLimit => {
                self.parse(typed, &ValueContext { unit, old: "0 unlimited", file: &|_| None }).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// The value that `typed` means, as it is written to the kernel.
    ///
    /// A size is taken as `16MiB` too where the unit is bytes. The error says why it is no value.
    pub(crate) fn parse(&self, typed: &str, context: &ValueContext<'_>) -> Result<String, String> {
        match *self {
            ValueKind::Integer { .. }
            | ValueKind::PowerOfTwo { .. }
            | ValueKind::Stepped { .. }
            | ValueKind::Rising { .. } => self.number(&integers(typed, context.unit)?),
            ValueKind::IntegerOr { word, .. } if typed == word => Ok(typed.to_owned()),
            ValueKind::IntegerOr { min, max, .. } => {
                ValueKind::Integer { min, max }.number(&integers(typed, context.unit)?)
            }
            ValueKind::Size { min, max } => size(typed, min, max),
            ValueKind::OneOf(words) => one_of(typed, words.iter().copied()),
            ValueKind::Listed { file } => {
                let words = (context.file)(file)
                    .ok_or_else(|| format!("cannot read '{file}', which lists its values"))?;
                one_of(typed, words.split_whitespace())
            }
            ValueKind::Bracketed { except } => {
                if !except.is_empty() && (typed == except || one_line(context.old) == except) {
                    return Err(format!("changing to or from '{except}' also changes other settings"));
                }
                one_of(typed, context.old.split_whitespace().map(|word| word.trim_matches(['[', ']'])))
            }
            ValueKind::CpuList => online(typed, context).map(|cpus| cpus::list(&cpus)),
            ValueKind::CpuMask => {
                let cpus = if typed == "none" { BTreeSet::new() } else { online(typed, context)? };
                cpus::mask(&cpus, context.old).ok_or_else(|| format!("'{typed}' does not fit into its mask"))
            }
            ValueKind::CpuShare => control_group::typed(typed),
            ValueKind::SoftLimit => soft_limit(typed, context),
            ValueKind::Discipline => qdisc::typed(typed, context.old, |kind| has_discipline(kind, context)),
            ValueKind::Pairs | ValueKind::Switches => ethtool::typed(typed, context.old),
            ValueKind::MountOptions => mount::typed(typed, context.old),
        }
    }

    /// The text of numbers, if they are those that it takes.
    fn number(&self, numbers: &[i128]) -> Result<String, String> {
        let one = || match numbers {
            [number] => Ok(*number),
            _ => Err("it takes a single number".to_owned()),
        };
        let text = |number: i128| Ok(number.to_string());
        match *self {
            ValueKind::Integer { min, max } => within(one()?, min, max).and_then(text),
            ValueKind::PowerOfTwo { has_zero: true, .. } if one()? == 0 => text(0),
            ValueKind::PowerOfTwo { min, max, .. } => {
                let number = within(one()?, i128::from(min), i128::from(max))?;
                if number.count_ones() != 1 {
                    return Err("it takes a power of two; the kernel would round another number".into());
                }
                text(number)
            }
            ValueKind::Stepped { step, max } => {
                let number = within(one()?, 0, i128::from(max))?;
                if number % i128::from(step) != 0 {
                    return Err(format!(
                        "it takes a multiple of {step}; the kernel would round another number"
                    ));
                }
                text(number)
            }
            ValueKind::Rising { count, min, max } => {
                if numbers.len() != count {
                    return Err(format!("it takes {count} numbers, not {}", numbers.len()));
                }
                for number in numbers {
                    within(*number, min, max)?;
                }
                if !numbers.is_sorted() {
                    return Err("its numbers must not decrease".into());
                }
                Ok(numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
            _ => Err("it takes no number".into()),
        }
    }

    /// Whether the kernel decides the rest of what is written.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, ValueKind::Discipline | ValueKind::Switches)
    }

    /// What may be typed, in words.
    pub fn describe(&self) -> String {
        match *self {
            ValueKind::Integer { min: 0, max: 1 } => "0 or 1".into(),
            ValueKind::Integer { min, max } => format!("{min} to {max}"),
            ValueKind::PowerOfTwo { min, max, has_zero } => {
                format!("{}a power of two, {min} to {max}", if has_zero { "0 or " } else { "" })
            }
            ValueKind::Stepped { step, max } => format!("a multiple of {step}, up to {max}"),
            ValueKind::Rising { count, min, max } => format!("{count} rising numbers, {min} to {max}"),
            ValueKind::IntegerOr { word, min, max } => format!("{min} to {max}, or {word}"),
            ValueKind::Size { min, max } => format!("{min} to {max} bytes, optionally with K, M, or G"),
            ValueKind::OneOf(words) => words.join(" or "),
            ValueKind::Listed { file } => format!("a word of {file}"),
            ValueKind::Bracketed { except: "" } => "one of the words that it lists".into(),
            ValueKind::Bracketed { except } => format!("one of the words that it lists, except {except}"),
            ValueKind::CpuList => "online CPUs, such as 0-2,5".into(),
            ValueKind::CpuMask => "online CPUs, such as 0-2,5, or none".into(),
            ValueKind::CpuShare => "0.01 to 1024 CPUs, such as 0.9; placed, or unlimited".into(),
            ValueKind::SoftLimit => "a number, or unlimited".into(),
            ValueKind::Discipline => {
                "noqueue, pfifo, bfifo, pfifo_fast, fq, fq_codel, codel, or pie; optionally a limit after \
                 pfifo and bfifo"
                    .into()
            }
            ValueKind::Pairs => "names and numbers in turn, such as 'rx 512 tx 512'".into(),
            ValueKind::MountOptions => "comma-separated options, such as 'noatime,commit=30'".into(),
            ValueKind::Switches => "names and on or off in turn, such as 'rx-gro off'".into(),
        }
    }
}

/// Whether the kernel has a discipline without loading a module for it.
fn has_discipline(kind: &str, context: &ValueContext<'_>) -> bool {
    let file = |path: &str| (context.file)(path);
    let built_in = format!("kernel/net/sched/sch_{kind}.ko");
    file(&format!("/sys/module/sch_{kind}/refcnt")).is_some()
        || file("/proc/sys/net/core/default_qdisc").is_some_and(|text| text.trim() == kind)
        || file(&modules_builtin()).is_some_and(|text| text.contains(&built_in))
}

/// Where modules are listed that were built into the kernel that runs.
fn modules_builtin() -> String {
    format!("/lib/modules/{}/modules.builtin", rustix::system::uname().release().to_string_lossy())
}

/// A number of bytes as it was typed, if it is within bounds.
fn size(typed: &str, min: i128, max: i128) -> Result<String, String> {
    let (digits, factor) = match typed.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']) {
        None => (typed, 1),
        Some(digits) if typed.ends_with(['k', 'K']) => (digits, 1 << 10),
        Some(digits) if typed.ends_with(['m', 'M']) => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
    };
    let number = digits.parse::<u32>().map_err(|_| format!("'{typed}' is not a size"))?;
    within(i128::from(number) * factor, min, max).map(|_| typed.to_owned())
}

fn one_of<'a>(typed: &str, words: impl Iterator<Item = &'a str>) -> Result<String, String> {
    let words: Vec<&str> = words.collect();
    if words.contains(&typed) {
        return Ok(typed.to_owned());
    }
    Err(format!("'{typed}' is not available here; available: {}", words.join(", ")))
}

/// How many CPUs a list such as `0-2,5` has; `None`: it is none.
pub(crate) fn cpus_count(list: &str) -> Option<u64> {
    cpus::parse(list).map(|cpus| cpus.len() as u64)
}

fn online(typed: &str, context: &ValueContext<'_>) -> Result<BTreeSet<u32>, String> {
    let cpus = cpus::parse(typed).ok_or_else(|| format!("'{typed}' is not a list of CPUs"))?;
    let online = (context.file)(ONLINE).and_then(|text| cpus::parse(&text));
    let online = online.ok_or_else(|| format!("cannot read '{ONLINE}'"))?;
    if cpus.is_subset(&online) {
        return Ok(cpus);
    }
    Err(format!("not all of '{typed}' is online, only {}", cpus::list(&online)))
}

/// A soft limit with the hard limit that is there, or that it needs.
fn soft_limit(typed: &str, context: &ValueContext<'_>) -> Result<String, String> {
    let hard = context.old.split_whitespace().nth(1).ok_or("its hard limit cannot be read")?;
    if typed == "unlimited" {
        return Ok("unlimited unlimited".into());
    }
    let [soft] = integers(typed, context.unit)?[..] else { return Err("it takes a single number".into()) };
    let soft = within(soft, 0, i128::from(i64::MAX))?;
    let is_enough = hard.parse::<i128>().map_or(true, |hard| hard >= soft);
    Ok(if is_enough { format!("{soft} {hard}") } else { format!("{soft} {soft}") })
}

fn within(number: i128, min: i128, max: i128) -> Result<i128, String> {
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    Err(format!("{number} is out of range ({min} to {max})"))
}

fn integers(typed: &str, unit: &str) -> Result<Vec<i128>, String> {
    let read = |word: &str| {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let size = || word.parse::<Bytes>().ok().filter(|_| unit == "bytes").map(|size| i128::from(size.0));
        let number = if is_plain { word.parse::<i128>().ok() } else { size() };
        number.ok_or_else(|| format!("'{word}' is not a number"))
    };
    typed.split_whitespace().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_over(kind: ValueKind, typed: &str, old: &str) -> Result<String, String> {
        let file = |path: &str| Some(if path == ONLINE { "0-1\n" } else { "reno bbr\n" }.to_owned());
        kind.parse(typed, &ValueContext { unit: "bytes", old, file: &file })
    }

    fn parse(kind: ValueKind, typed: &str) -> Result<String, String> {
        parse_over(kind, typed, "")
    }

    #[test]
    fn values_that_depend_on_the_present_one_are_completed_from_it() {
        let words = "always defer [madvise] never";
        assert_eq!(parse_over(ValueKind::Bracketed { except: "" }, "never", words).as_deref(), Ok("never"));
        assert!(parse_over(ValueKind::Bracketed { except: "never" }, "never", words).is_err());
        assert!(parse_over(ValueKind::Bracketed { except: "never" }, "always", "always [never]").is_err());
        assert_eq!(parse_over(ValueKind::CpuList, "0,1", "0\n").as_deref(), Ok("0-1"));
        assert_eq!(parse_over(ValueKind::CpuMask, "1", "00\n").as_deref(), Ok("02"));
        assert_eq!(parse_over(ValueKind::CpuMask, "none", "03\n").as_deref(), Ok("00"));
        assert!(parse_over(ValueKind::CpuList, "0-2", "0\n").expect_err("is offline").contains("only 0-1"));
        assert_eq!(parse_over(ValueKind::SoftLimit, "100", "50 4096").as_deref(), Ok("100 4096"));
        assert_eq!(parse_over(ValueKind::SoftLimit, "9000", "50 4096").as_deref(), Ok("9000 9000"));
        assert_eq!(parse_over(ValueKind::SoftLimit, "9000", "50 unlimited").as_deref(), Ok("9000 unlimited"));
    }

    #[test]
    fn what_no_host_takes_is_refused_beforehand() {
        let check = |kind: ValueKind, typed: &str| kind.check(typed, "descriptors").is_ok();
        assert!(check(ValueKind::SoftLimit, "256") && check(ValueKind::SoftLimit, "unlimited"));
        assert!(!check(ValueKind::SoftLimit, "-1") && !check(ValueKind::SoftLimit, "lots"));
        assert!(check(ValueKind::CpuShare, "0.5") && !check(ValueKind::CpuShare, "-1"));
        // These depend on the host.
        assert!(check(ValueKind::CpuList, "900-901"));
    }

    #[test]
    fn only_values_that_the_kernel_takes_as_they_are_pass() {
        let integer = ValueKind::Integer { min: -1, max: 65_536 };
        assert_eq!(parse(integer, "4096").as_deref(), Ok("4096"));
        assert_eq!(parse(integer, "64KiB").as_deref(), Ok("65536"));
        assert_eq!(parse(integer, "007").as_deref(), Ok("7"));
        for wrong in
            ["-2", "65537", "0x10", "many", "1 2", "", "1.5", "99999999999999999999999999999999999999999"]
        {
            assert!(parse(integer, wrong).is_err(), "{wrong}");
        }
        let power = ValueKind::PowerOfTwo { min: 1, max: 1 << 29, has_zero: true };
        assert_eq!(parse(power, "32768").as_deref(), Ok("32768"));
        assert_eq!(parse(power, "0").as_deref(), Ok("0"));
        assert!(parse(power, "32767").is_err());
        let rising = ValueKind::Rising { count: 3, min: 1, max: i128::from(i32::MAX) };
        assert_eq!(parse(rising, "4096\t131072  33554432").as_deref(), Ok("4096 131072 33554432"));
        for wrong in ["4096 131072", "4096 131072 1", "0 1 2", "1 2 2147483648"] {
            assert!(parse(rising, wrong).is_err(), "{wrong}");
        }
        let word = ValueKind::Listed { file: "proc/sys/net/ipv4/tcp_available_congestion_control" };
        assert_eq!(parse(word, "reno").as_deref(), Ok("reno"));
        assert!(parse(word, "cubic").expect_err("is not there").contains("available: reno, bbr"));
    }
}
