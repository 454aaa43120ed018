//! Cycles between the modules of a crate: how many files are in one, and what would have to be cut.

use super::Crate;
use std::collections::{BTreeMap, BTreeSet};

/// From one file to another, by their places in the crate.
type Links = BTreeSet<(usize, usize)>;

impl Crate {
    /// The edges that count: those between a module and its parent do not.
    fn links(&self) -> Links {
        let is_parent = |child: usize, parent: usize| self.files[child].parent == Some(parent);
        let counts = |(from, to): &(usize, usize)| !is_parent(*from, *to) && !is_parent(*to, *from);
        self.edges.keys().copied().filter(counts).collect()
    }

    /// The files of each cycle.
    pub(super) fn cycles(&self) -> Vec<Vec<usize>> {
        cycles(&self.links())
    }

    /// What to print of the crate, line by line.
    pub(super) fn report(&self) -> Vec<String> {
        let found = self.cycles();
        let files: usize = found.iter().map(Vec::len).sum();
        let mut lines = vec![format!(
            "{}: cycles: {}, files in them: {files} of {}",
            self.name,
            found.len(),
            self.files.len()
        )];
        for cycle in found {
            lines.push(format!("  a cycle of {} files", cycle.len()));
            self.report_cycle(&cycle, &mut lines);
        }
        lines
    }

    fn report_cycle(&self, cycle: &[usize], lines: &mut Vec<String>) {
        let is_inside = |(from, to): &(usize, usize)| cycle.contains(from) && cycle.contains(to);
        let links: Links = self.links().into_iter().filter(is_inside).collect();
        for from in cycle {
            lines.push(format!("    {}", self.short(*from)));
            for link in links.iter().filter(|link| link.0 == *from) {
                let edge = &self.edges[link];
                let without: Links = links.iter().copied().filter(|other| other != link).collect();
                let left: usize = cycles(&without).iter().map(Vec::len).sum();
                let cut =
                    if left < cycle.len() { format!(" [without it: {left} files]") } else { String::new() };
                let to = self.short(link.1);
                lines.push(format!("      -> {to}: {} (line {}){cut}", edge.names.join(", "), edge.line));
            }
        }
    }

    /// The path of a file below `src/`.
    fn short(&self, file: usize) -> &str {
        let path = &self.files[file].path;
        path.split_once("/src/").map_or(path, |(_, rest)| rest)
    }
}

/// Sets of two or more files, each of which reaches each other one.
fn cycles(links: &Links) -> Vec<Vec<usize>> {
    let files: BTreeSet<usize> = links.iter().map(|link| link.0).collect();
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        files.into_iter().map(|file| (file, reachable(links, file))).collect();
    let reaches = |from: usize, to: usize| reached.get(&from).is_some_and(|files| files.contains(&to));
    let mut found: Vec<Vec<usize>> = Vec::new();
    for file in reached.keys().copied().filter(|file| reaches(*file, *file)) {
        match found.iter_mut().find(|cycle| reaches(cycle[0], file) && reaches(file, cycle[0])) {
            Some(cycle) => cycle.push(file),
            None => found.push(vec![file]),
        }
    }
    found
}

/// The files that can be reached from one by at least one link.
fn reachable(links: &Links, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        let next = links.range((file, 0)..=(file, usize::MAX)).map(|link| link.1);
        open.extend(next.filter(|to| reached.insert(*to)));
    }
    reached
}
