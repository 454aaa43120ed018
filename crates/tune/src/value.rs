//! Values of settings: what may be typed, and when two texts mean the same.

use sysdyno_record::units::Bytes;

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// Integers that do not decrease, each within bounds.
    Rising {
        /// How many.
        count: usize,
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
    },
    /// One of the words that another file lists.
    Listed {
        /// The file, from the root.
        file: &'static str,
    },
}

impl Kind {
    /// The value that `typed` means, as it is written to the kernel; `listed` gives the contents of a file.
    ///
    /// A size is taken as `16MiB` too where the unit is bytes. The error says why it is no value.
    pub fn parse(
        &self,
        typed: &str,
        unit: &str,
        listed: &dyn Fn(&str) -> Option<String>,
    ) -> Result<String, String> {
        match *self {
            Kind::Integer { min, max } => {
                let [number] = integers(typed, unit)?[..] else {
                    return Err("it takes one number".into());
                };
                within(number, min, max).map(|number| number.to_string())
            }
            Kind::PowerOfTwo { min, max, has_zero } => {
                let [number] = integers(typed, unit)?[..] else {
                    return Err("it takes one number".into());
                };
                if number == 0 && has_zero {
                    return Ok("0".into());
                }
                let number = within(number, i128::from(min), i128::from(max))?;
                if number.count_ones() != 1 {
                    return Err("it takes a power of two; the kernel would round another number".into());
                }
                Ok(number.to_string())
            }
            Kind::Rising { count, min, max } => {
                let numbers = integers(typed, unit)?;
                if numbers.len() != count {
                    return Err(format!("it takes {count} numbers, not {}", numbers.len()));
                }
                for number in &numbers {
                    within(*number, min, max)?;
                }
                if !numbers.is_sorted() {
                    return Err("its numbers must not decrease".into());
                }
                Ok(numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
            Kind::Listed { file } => {
                let words =
                    listed(file).ok_or_else(|| format!("cannot read '{file}', which lists its values"))?;
                if words.split_whitespace().any(|word| word == typed) {
                    return Ok(typed.to_owned());
                }
                let words = words.split_whitespace().collect::<Vec<_>>().join(", ");
                Err(format!("'{typed}' is not available here; available: {words}"))
            }
        }
    }

    /// What may be typed, in words.
    pub fn describe(&self) -> String {
        match *self {
            Kind::Integer { min: 0, max: 1 } => "0 or 1".into(),
            Kind::Integer { min, max } => format!("{min} to {max}"),
            Kind::PowerOfTwo { min, max, has_zero } => {
                format!("{}a power of two, {min} to {max}", if has_zero { "0 or " } else { "" })
            }
            Kind::Rising { count, min, max } => format!("{count} rising numbers, {min} to {max}"),
            Kind::Listed { file } => format!("a word of {file}"),
        }
    }
}

fn within(number: i128, min: i128, max: i128) -> Result<i128, String> {
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    Err(format!("{number} is out of range, {min} to {max} are allowed"))
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

/// Whether two texts of a setting mean the same: blanks and line ends do not count.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// A text of a setting on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(kind: Kind, typed: &str) -> Result<String, String> {
        kind.parse(typed, "bytes", &|_| Some("reno bbr\n".into()))
    }

    #[test]
    fn only_values_that_the_kernel_takes_as_they_are_pass() {
        let integer = Kind::Integer { min: -1, max: 65_536 };
        assert_eq!(parse(integer, "4096").as_deref(), Ok("4096"));
        assert_eq!(parse(integer, "64KiB").as_deref(), Ok("65536"));
        assert_eq!(parse(integer, "007").as_deref(), Ok("7"));
        for wrong in
            ["-2", "65537", "0x10", "many", "1 2", "", "1.5", "99999999999999999999999999999999999999999"]
        {
            assert!(parse(integer, wrong).is_err(), "{wrong}");
        }
        let power = Kind::PowerOfTwo { min: 1, max: 1 << 29, has_zero: true };
        assert_eq!(parse(power, "32768").as_deref(), Ok("32768"));
        assert_eq!(parse(power, "0").as_deref(), Ok("0"));
        assert!(parse(power, "32767").is_err());
        let rising = Kind::Rising { count: 3, min: 1, max: i128::from(i32::MAX) };
        assert_eq!(parse(rising, "4096\t131072  33554432").as_deref(), Ok("4096 131072 33554432"));
        for wrong in ["4096 131072", "4096 131072 1", "0 1 2", "1 2 2147483648"] {
            assert!(parse(rising, wrong).is_err(), "{wrong}");
        }
        let word = Kind::Listed { file: "proc/sys/net/ipv4/tcp_available_congestion_control" };
        assert_eq!(parse(word, "reno").as_deref(), Ok("reno"));
        assert!(parse(word, "cubic").expect_err("is not there").contains("available: reno, bbr"));
    }

    #[test]
    fn blanks_do_not_make_a_difference() {
        assert!(is_same("4096\t131072\t33554432\n", "4096 131072 33554432"));
        assert!(!is_same("1", "10"));
    }
}
