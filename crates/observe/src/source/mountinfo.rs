//! `/proc/PID/mountinfo`: the mounts that a process sees.
//!
//! Spaces, tabs, newlines and backslashes stand in paths as `\` and three octal digits. Source: `fs/proc_namespace.c`,
//! `show_mountinfo`; proc(5).

use super::{Fields, lines};
use crate::error::ParseError;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount<'a> {
    /// Device of the file system, `major:minor`; the major number is 0 where there is none.
    pub device: &'a [u8],
    /// Where it is mounted, below the root of the process. Untrusted.
    pub point: Vec<u8>,
    /// Options of this mount.
    pub options: &'a [u8],
    /// Kind of the file system, such as `ext4`.
    pub kind: &'a [u8],
    /// Options of the file system, which all its mounts share. Untrusted: they may hold addresses and names.
    pub common_options: &'a [u8],
}

/// Hands each mount to `each`; of several at one point the last is the one that is seen.
pub fn parse(text: &[u8], mut each: impl FnMut(Mount<'_>)) -> Result<(), ParseError> {
    for (index, line) in lines(text).enumerate() {
        each(parse_line(line).ok_or(ParseError::at(index, "a mount"))?);
    }
    Ok(())
}

fn parse_line(line: &[u8]) -> Option<Mount<'_>> {
    let mut fields = Fields::of(line);
    let device = fields.nth(2)?;
    let point = unescape(fields.nth(1)?);
    let options = fields.next()?;
    // Optional fields end with a hyphen.
    fields.find(|field| *field == b"-")?;
    let kind = fields.next()?;
    let _source = fields.next()?;
    Some(Mount { device, point, options, kind, common_options: fields.next().unwrap_or_default() })
}

fn unescape(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((first, tail)) = rest.split_first() {
        let octal = tail
            .get(..3)
            .filter(|digits| *first == b'\\' && digits.iter().all(|digit| (b'0'..b'8').contains(digit)));
        match octal {
            Some(digits) => {
                let value = digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                out.push(u8::try_from(value).unwrap_or(b'?'));
                rest = &tail[3..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_read_with_its_escapes() {
        let text = b"36 35 98:0 /sub /mnt/a\\040b rw,noatime master:1 shared:2 - ext4 /dev/root rw,errors=continue\n";
        let mut seen = Vec::new();
        parse(text, |mount| {
            assert_eq!((mount.device, mount.options), (b"98:0".as_slice(), b"rw,noatime".as_slice()));
            assert_eq!(
                (mount.kind, mount.common_options),
                (b"ext4".as_slice(), b"rw,errors=continue".as_slice())
            );
            seen.push(mount.point);
        })
        .expect("parses");
        assert_eq!(seen, [b"/mnt/a b"]);
        assert_eq!(unescape(b"a\\9\\0\\134\\777"), b"a\\9\\0\\?");
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in ["x\n", "36 35 98:0 / /mnt rw - \n", "36 35 98:0 / /mnt rw shared:1 ext4 /dev/a rw\n"] {
            assert!(parse(wrong.as_bytes(), |_| {}).is_err(), "{wrong}");
        }
    }
}
