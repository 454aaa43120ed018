//! `/proc/PID/cgroup`: where a process stands in the hierarchies of control groups.
//!
//! Lines are `ID:CONTROLLERS:PATH`; the line of version 2 is `0::PATH`. Source: cgroups(7).

use super::lines;
use crate::error::ParseError;

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership<'a> {
    /// The controllers of a version 1 hierarchy, separated by commas; empty for version 2.
    pub controllers: &'a [u8],
    /// The path below the hierarchy's root, beginning with `/`. Untrusted text.
    pub path: &'a [u8],
}

impl Membership<'_> {
    /// Whether the line is that of version 2.
    pub fn is_unified(&self) -> bool {
        self.controllers.is_empty()
    }

    /// Whether this version 1 hierarchy has the controller.
    pub fn has_controller(&self, name: &str) -> bool {
        self.controllers.split(|byte| *byte == b',').any(|controller| controller == name.as_bytes())
    }
}

/// Hands each line to `each`.
pub fn parse(text: &[u8], mut each: impl FnMut(Membership<'_>)) -> Result<(), ParseError> {
    for (index, line) in lines(text).enumerate() {
        let mut parts = line.splitn(3, |byte| *byte == b':');
        let id = parts.next().and_then(super::decimal);
        match (id, parts.next(), parts.next()) {
            (Some(_), Some(controllers), Some(path)) if path.starts_with(b"/") => {
                each(Membership { controllers, path })
            }
            _ => return Err(ParseError::at(index, "a control group")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_one_and_two_are_told_apart() {
        let mut seen = Vec::new();
        parse(b"4:cpu,cpuacct:/a:b\n0::/c\n", |line| {
            seen.push((
                line.is_unified(),
                line.has_controller("cpu"),
                line.has_controller("cpua"),
                line.path.to_vec(),
            ));
        })
        .expect("parses");
        assert_eq!(seen, [(false, true, false, b"/a:b".to_vec()), (true, false, false, b"/c".to_vec())]);
        for wrong in ["x\n", "1:cpu\n", "1:cpu:relative\n", "a:cpu:/x\n"] {
            assert!(parse(wrong.as_bytes(), |_| {}).is_err(), "{wrong:?}");
        }
    }
}
