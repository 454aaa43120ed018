//! Interrupts by line and CPU: `/proc/interrupts`.
//!
//! A large host has tens of thousands of cells, nearly all zero. A cell gets its column when it is first seen above
//! zero, since a counter that is not zero never becomes zero again.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::Shape;
use crate::source::interrupts::{self, InterruptRow, Scratch};
use sysdyno_record::column;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Proc("interrupts"), IrqFormat::default())
}

/// At most this many cells have columns; those further down are left out.
const MAX_CELLS: usize = 4096;

#[derive(Default)]
struct IrqFormat {
    scratch: Scratch,
    /// Cells that have columns, in the order of the file.
    cells: Vec<Cell>,
}

struct Cell {
    label: Vec<u8>,
    cpu: u32,
}

impl IrqFormat {
    /// Sets the values; returns whether the cells above zero are those that have columns.
    fn try_fill(&mut self, text: &[u8], table: &mut Table) -> Result<bool, ParseError> {
        let (mut position, mut is_same) = (0, true);
        let cells = &self.cells;
        interrupts::parse(text, &mut self.scratch, |row| {
            for (cpu, count) in above_zero(&row) {
                match cells.get(position) {
                    Some(cell) if cell.cpu == cpu && cell.label == row.label => {
                        table.set_count(position, Some(count))
                    }
                    Some(_) => is_same = false,
                    None => is_same &= cells.len() == MAX_CELLS,
                }
                position += 1;
            }
        })?;
        Ok(is_same && position >= cells.len())
    }

    fn learn(&mut self, text: &[u8], table: &mut Table) -> Result<(), ParseError> {
        let cells = &mut self.cells;
        cells.clear();
        interrupts::parse(text, &mut self.scratch, |row| {
            let label = row.label;
            cells.extend(above_zero(&row).map(|(cpu, _)| Cell { label: label.to_vec(), cpu }));
        })?;
        cells.truncate(MAX_CELLS);
        let scope = |cell: &Cell| format!("irq:{}/cpu:{}", String::from_utf8_lossy(&cell.label), cell.cpu);
        table.replace(cells.iter().map(|cell| column::IRQ.of(scope(cell))).collect());
        Ok(())
    }
}

fn above_zero<'a>(row: &InterruptRow<'a>) -> impl Iterator<Item = (u32, u64)> + use<'a> {
    row.cells().filter(|(_, count)| *count > 0)
}

impl Format for IrqFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        if !self.try_fill(text, table)? {
            self.learn(text, table)?;
            self.try_fill(text, table)?;
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape::Records
    }

    fn absent(&self) -> Vec<Column> {
        vec![column::IRQ.of("irq:*/cpu:*")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_appears_when_it_leaves_zero() {
        let roots = Roots::host();
        let (mut format, mut table) = (IrqFormat::default(), Table::default());
        let mut read = |text: &str| {
            format.fill(text.as_bytes(), &mut table, &roots).expect("parses");
            let values = table.columns().iter().zip(table.values());
            let shown =
                values.map(|(column, value)| format!("{}={value:?}", column.scope)).collect::<Vec<_>>();
            (shown.join(" "), table.take_change())
        };
        let text = "      CPU0 CPU1\n 24: 5 0 eth0\n 25: 0 0 eth1\nERR: 0\n";
        assert_eq!(read(text), ("irq:24/cpu:0=Some(5.0)".into(), true));
        assert_eq!(read(&text.replace(" 5 ", " 6 ")), ("irq:24/cpu:0=Some(6.0)".into(), false));
        let more = text.replace("25: 0 0", "25: 0 9");
        assert_eq!(read(&more), ("irq:24/cpu:0=Some(5.0) irq:25/cpu:1=Some(9.0)".into(), true));
        assert_eq!(read(text), ("irq:24/cpu:0=Some(5.0)".into(), true), "a device may go");
    }
}
