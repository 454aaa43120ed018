//! Facts of the interrupt lines: which device each belongs to, and which CPUs take it.

use super::sheet::Sheet;
use crate::source::interrupts::{self, Scratch};

/// At most this many lines are listed.
const MAX_LINES: usize = 512;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("interrupts");
    let Ok(text) = sheet.read(&path) else { return };
    let mut used: Vec<(String, String)> = Vec::new();
    let parsed = interrupts::parse(text.as_bytes(), &mut Scratch::default(), |row| {
        let is_numbered = row.label.iter().all(u8::is_ascii_digit);
        if is_numbered && used.len() < MAX_LINES && row.cells().any(|(_, count)| count > 0) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            used.push((text(row.label), text(row.description)));
        }
    });
    if parsed.is_err() {
        return;
    }
    for (line, description) in used {
        sheet.text(format!("irq.{line}.device"), Ok(description));
        let folder = sheet.roots.in_proc("irq").join(&line);
        let affinity = sheet.read(&folder.join("effective_affinity_list"));
        let affinity = affinity.or_else(|_| sheet.read(&folder.join("smp_affinity_list")));
        sheet.text(format!("irq.{line}.cpus"), affinity);
    }
}
