//! Files of one named number per line: `/proc/vmstat` (`name value`) and `/proc/meminfo` (`Name: value kB`).
//!
//! Source: `mm/vmstat.c`, `vmstat_show`; `fs/proc/meminfo.c`.

use super::{Fields, lines};
use crate::error::ParseError;

/// Picks chosen names out of such a file.
///
/// It remembers on which line each name was, so that in the usual case each name is compared once. *Cost*: no
/// allocation after the first reading.
#[derive(Clone, Debug)]
pub struct Picker {
    names: &'static [&'static str],
    /// Line of each name at the last reading.
    places: Vec<Option<usize>>,
    values: Vec<Option<u64>>,
}

impl Picker {
    /// A picker of these names.
    pub fn new(names: &'static [&'static str]) -> Picker {
        Picker { names, places: vec![None; names.len()], values: vec![None; names.len()] }
    }

    /// The names, in the order of the values.
    pub fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Values of the last reading; `None`: the kernel has no such line.
    pub fn values(&self) -> &[Option<u64>] {
        &self.values
    }

    /// Reads the text.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ParseError> {
        self.values.fill(None);
        let mut is_empty = true;
        for (index, line) in lines(text).enumerate() {
            let mut fields = Fields::of(line);
            let name = fields.next().ok_or(ParseError::at(index, "a name"))?;
            is_empty = false;
            let name = name.strip_suffix(b":").unwrap_or(name);
            if let Some(position) = self.find(name, index) {
                self.values[position] = Some(fields.decimal().ok_or(ParseError::at(index, "a number"))?);
            }
        }
        if is_empty { Err(ParseError::at(0, "a name")) } else { Ok(()) }
    }

    fn find(&mut self, name: &[u8], index: usize) -> Option<usize> {
        let known = self.places.iter().position(|place| *place == Some(index));
        if let Some(position) = known.filter(|position| self.names[*position].as_bytes() == name) {
            return Some(position);
        }
        let position = self.names.iter().position(|wanted| wanted.as_bytes() == name)?;
        self.places[position] = Some(index);
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_names_are_found_wherever_they_are() {
        let mut picker = Picker::new(&["pswpin", "oom_kill", "absent"]);
        picker.parse(b"nr_free 1\npswpin 2\noom_kill 3\n").expect("parses");
        assert_eq!(picker.values(), [Some(2), Some(3), None]);
        picker.parse(b"oom_kill 4\nnr_free 1\npswpin 5\n").expect("parses");
        assert_eq!(picker.values(), [Some(5), Some(4), None]);
        picker.parse(b"pswpin 6\n").expect("parses");
        assert_eq!(picker.values(), [Some(6), None, None]);
        let mut picker = Picker::new(&["MemTotal"]);
        picker.parse(b"MemTotal:       24684092 kB\nHugePages_Total:       0\n").expect("parses");
        assert_eq!(picker.values(), [Some(24_684_092)]);
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in ["", "a 1\n\nb 2\n", "wanted\n", "wanted x\n", "wanted -1\n"] {
            assert!(Picker::new(&["wanted"]).parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
