//! A collector's columns with their latest values.

use sysdyno_record::series::Column;

/// Columns and one value for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    values: Vec<Option<f64>>,
    is_changed: bool,
    is_new: bool,
}

impl Table {
    /// The columns.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The latest values, one per column.
    pub(crate) fn values(&self) -> &[Option<f64>] {
        &self.values
    }

    /// Forgets the values.
    pub(crate) fn clear(&mut self) {
        self.values.fill(None);
    }

    /// Puts other columns in place of these, and forgets the values.
    pub(crate) fn replace(&mut self, columns: Vec<Column>) {
        self.is_changed |= self.columns != columns;
        self.columns = columns;
        self.is_new = true;
        self.values.clear();
        self.values.resize(self.columns.len(), None);
    }

    /// Sets one value.
    pub(crate) fn set(&mut self, position: usize, value: f64) {
        self.values[position] = Some(value);
    }

    /// Sets one value to a count of the kernel, which is exact below 2^53.
    pub(crate) fn set_count(&mut self, position: usize, count: Option<u64>) {
        self.values[position] = count.map(|count| count as f64);
    }

    /// Says of one column why it cannot be read, or that it can.
    pub(crate) fn explain(&mut self, position: usize, reason: Option<&str>) {
        let column = &mut self.columns[position];
        if column.unavailable.as_deref() != reason {
            column.unavailable = reason.map(str::to_owned);
            self.is_changed = true;
        }
    }

    /// Says of all columns why they cannot be read, or that they can.
    pub(crate) fn explain_all(&mut self, reason: Option<&str>) {
        (0..self.columns.len()).for_each(|position| self.explain(position, reason));
    }

    /// Takes back all reasons; the columns count as new ones.
    pub(crate) fn renew(&mut self) {
        self.columns.iter_mut().for_each(|column| column.unavailable = None);
        (self.is_new, self.is_changed) = (true, true);
    }

    /// Gives this reason to the columns that have neither value nor reason, if they were just put here.
    pub(crate) fn explain_missing(&mut self, reason: impl FnOnce() -> String) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        let values = self.values.iter().zip(&mut self.columns);
        let missing = values.filter(|(value, column)| value.is_none() && column.unavailable.is_none());
        let reason = reason();
        missing.for_each(|(_, column)| column.unavailable = Some(reason.clone()));
    }

    /// Whether the columns changed since this was last asked.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::column::{FILES_LIMIT, HOST};

    #[test]
    fn only_real_changes_count() {
        let mut table = Table::default();
        table.replace(vec![FILES_LIMIT.of(HOST)]);
        assert!(table.take_change() && !table.take_change());
        table.set(0, 1.0);
        table.replace(vec![FILES_LIMIT.of(HOST)]);
        assert!(!table.take_change());
        assert_eq!(table.values(), [None]);
        table.explain_all(Some("gone"));
        assert!(table.take_change());
        table.explain_all(Some("gone"));
        assert!(!table.take_change());
    }
}
