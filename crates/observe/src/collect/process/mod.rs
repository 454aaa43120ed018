//! The watched processes and their threads.
//!
//! A process that has ended keeps its columns, without values, until other processes come. A counter that is summed over
//! threads keeps the last values of ended threads, so that it never falls.

mod columns;
mod reader;
mod threads;

use super::{Beat, Collector, Pass, Table};
use crate::turn::Turn;
use reader::ProcessReader;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(ProcessCollector::default())
}

/// At most this many threads of all processes are followed.
const MAX_THREADS_IN_ALL: usize = 512;
/// At most this many threads keep their files open, three each.
const MAX_OPEN_THREADS: usize = 48;

#[derive(Default)]
struct ProcessCollector {
    table: Table,
    processes: Vec<ProcessReader>,
    generation: u64,
    /// Whose turn it is to be asked for what costs most: limits, switches, counted descriptors.
    turn: Turn,
}

impl ProcessCollector {
    /// Takes up processes and threads that came; returns whether there are other ones than before.
    fn look(&mut self, pass: &mut Pass<'_>) -> bool {
        let mut is_changed = false;
        if self.generation != pass.scene.generation() {
            self.generation = pass.scene.generation();
            let mut old = std::mem::take(&mut self.processes);
            self.processes = pass
                .scene
                .processes()
                .map(|process| match old.iter().position(|reader| reader.is_of(process)) {
                    Some(position) => old.swap_remove(position),
                    None => ProcessReader::new(&pass.scene.roots, process),
                })
                .collect();
            is_changed = true;
        }
        let mut room = MAX_THREADS_IN_ALL;
        for process in &mut self.processes {
            is_changed |= process.look(room);
            room = room.saturating_sub(process.threads_count());
        }
        if is_changed {
            self.share_open_files();
        }
        is_changed
    }

    /// The first threads keep their files open; descriptors are the load engine's too.
    fn share_open_files(&mut self) {
        let mut left = MAX_OPEN_THREADS;
        for process in &mut self.processes {
            process.keep_open(left);
            left = left.saturating_sub(process.threads_count());
        }
    }
}

impl Collector for ProcessCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        let mut is_changed = pass.is_look() && self.look(pass);
        let turn = self.turn.of(self.processes.len());
        for (index, process) in self.processes.iter_mut().enumerate() {
            let was_gone = process.is_gone();
            let beat = if turn.is_of(index) { pass.beat } else { pass.beat.min(Beat::HalfSecond) };
            process.read(pass.buffer, beat);
            is_changed |= process.take_change();
            if process.is_gone() && !was_gone {
                pass.scene.note_gone(process.pid());
            }
        }
        if pass.is_look() {
            self.turn = turn.next();
        }
        if is_changed {
            self.table.replace(self.processes.iter().flat_map(ProcessReader::columns).collect());
        }
        self.table.clear();
        let mut position = 0;
        for process in &self.processes {
            process.write(&mut self.table, position);
            position += process.width();
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
