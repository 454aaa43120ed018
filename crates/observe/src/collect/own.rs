//! The sampler's own cost: CPU time of the thread that takes the samples.

use super::{Collector, Pass, Table};
use crate::clock;
use sysdyno_record::column::{self, HOST};

pub(crate) fn collector() -> Box<dyn Collector> {
    let mut table = Table::default();
    table.replace(vec![column::SELF_CPU.of(HOST)]);
    Box::new(Own { table })
}

struct Own {
    table: Table,
}

impl Collector for Own {
    fn read(&mut self, _pass: &mut Pass<'_>) {
        self.table.set(0, clock::thread_cpu_ns() as f64 / 1e3);
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
