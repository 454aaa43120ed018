//! Merges several samples of the kernel into one row.

use crate::series::{Column, Condensed, GaugeSpread, RateRange, ReadingKind, Row, Series, SeriesLine};
use crate::units::MonoNs;

/// Samples that are becoming one row.
#[derive(Clone, Debug, Default)]
pub struct ReadingsCell {
    columns: Vec<Part>,
    begin: MonoNs,
    end: MonoNs,
    samples_count: u32,
}

/// One column of a cell.
#[derive(Clone, Debug)]
struct Part {
    kind: ReadingKind,
    /// The last reading of this cell or an earlier one, and its instant: rates reach from there to the next reading.
    last: Option<(f64, MonoNs)>,
    /// The last reading of this cell.
    value: Option<f64>,
    low: f64,
    high: f64,
    sum: f64,
    present: f64,
    weight: f64,
}

impl Part {
    fn new(kind: ReadingKind) -> Part {
        Part { kind, last: None, value: None, low: 0.0, high: 0.0, sum: 0.0, present: 0.0, weight: 0.0 }
    }

    fn clear(&mut self) {
        *self = Part { last: self.last, ..Part::new(self.kind) };
    }

    fn widen(&mut self, low: f64, high: f64) {
        if self.weight == 0.0 {
            (self.low, self.high) = (low, high);
        } else {
            (self.low, self.high) = (self.low.min(low), self.high.max(high));
        }
    }

    /// A counter's reading; `range` is there if it is the last of several.
    fn count(&mut self, value: f64, at: MonoNs, range: Option<RateRange>) {
        let rate = self.last.and_then(|(before, since)| {
            let seconds = at.seconds_since(since);
            (value >= before && seconds > 0.0).then(|| (value - before) / seconds)
        });
        if let Some(RateRange { low, high }) = range.or(rate.map(|rate| RateRange { low: rate, high: rate }))
        {
            self.widen(low, high);
            self.weight += 1.0;
        }
        (self.value, self.last) = (Some(value), Some((value, at)));
    }

    /// A gauge's reading; `spread` is there if it is the last of several, `weight` of them.
    fn gauge(&mut self, value: f64, at: MonoNs, (spread, weight): (Option<GaugeSpread>, f64)) {
        let present_ratio = f64::from(value > 0.0);
        let same = GaugeSpread { low: value, high: value, mean: value, present_ratio };
        let spread = spread.unwrap_or(same);
        self.widen(spread.low, spread.high);
        self.sum += spread.mean * weight;
        self.present += spread.present_ratio * weight;
        self.weight += weight;
        (self.value, self.last) = (Some(value), Some((value, at)));
    }
}

/// A series with at most so many rows, neighbors condensed alike; `None`: it has no more than that.
pub fn thinned(series: &Series, rows_max: usize) -> Option<Series> {
    let per_cell = series.windows().len().div_ceil(rows_max.max(1));
    if per_cell <= 1 {
        return None;
    }
    let mut thin = Series::default();
    thin.push(SeriesLine::header(series.columns().to_vec()));
    let columns: Vec<usize> = (0..series.columns().len()).collect();
    let mut cell = ReadingsCell::new(series.columns());
    for (number, row) in series.rows(&columns).enumerate() {
        cell.add(&row);
        if (number + 1).is_multiple_of(per_cell) {
            thin.extend(cell.take());
        }
    }
    thin.extend(cell.take());
    Some(thin)
}

/// A counter that fell below this share of what it was has begun anew; a smaller fall is the noise of some counters.
const RESTART_RATIO: f64 = 0.5;

impl ReadingsCell {
    /// An empty cell of rows with these columns.
    pub fn new(columns: &[Column]) -> ReadingsCell {
        let columns = columns.iter().map(|column| Part::new(column.kind)).collect();
        ReadingsCell { columns, ..ReadingsCell::default() }
    }

    /// Whether it holds no sample.
    pub fn is_empty(&self) -> bool {
        self.samples_count == 0
    }

    /// When the window of its first sample began.
    pub fn begin(&self) -> MonoNs {
        self.begin
    }

    /// When the window of its last sample ended.
    pub fn end(&self) -> MonoNs {
        self.end
    }

    /// Whether some counter has begun anew with this row, so that what it was before must be kept.
    pub fn restarts_with(&self, row: &Row) -> bool {
        let pairs = self.columns.iter().zip(&row.values);
        pairs.filter(|(part, _)| part.kind == ReadingKind::Counter).any(|(part, value)| {
            let value = value.filter(|value| value.is_finite());
            part.last.zip(value).is_some_and(|((before, _), value)| value < before * RESTART_RATIO)
        })
    }

    /// Adds a row, which may be condensed itself.
    pub fn add(&mut self, row: &Row) {
        if self.is_empty() {
            self.begin = row.begin_mono_ns;
        }
        self.end = row.end_mono_ns;
        self.samples_count = self.samples_count.saturating_add(row.samples_count());
        let weight = f64::from(row.samples_count());
        let condensed = row.condensed.as_deref();
        let mut rates = condensed.map(|condensed| condensed.rates.iter().peekable());
        let mut gauges = condensed.map(|condensed| condensed.gauges.iter().peekable());
        for (position, (part, value)) in self.columns.iter_mut().zip(&row.values).enumerate() {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            match part.kind {
                ReadingKind::Counter => {
                    let range = rates.as_mut().and_then(|rates| entry_of(rates, position));
                    part.count(value, row.end_mono_ns, range);
                }
                ReadingKind::Gauge => {
                    let spread = gauges.as_mut().and_then(|gauges| entry_of(gauges, position));
                    part.gauge(value, row.end_mono_ns, (spread, weight));
                }
            }
        }
    }

    /// The row that stands for all samples; the cell is empty after that, and knows where counters stand.
    ///
    /// `None`: it held none.
    pub fn take(&mut self) -> Option<Row> {
        if self.is_empty() {
            return None;
        }
        let mut condensed = Condensed { samples_count: self.samples_count, ..Condensed::default() };
        for (position, part) in self.columns.iter().enumerate() {
            if part.weight == 0.0 || part.low == part.high {
                continue;
            }
            let (low, high) = (rounded(part.low), rounded(part.high));
            match part.kind {
                ReadingKind::Counter => condensed.rates.push(position as u32, RateRange { low, high }),
                ReadingKind::Gauge => {
                    let (mean, present_ratio) = (part.sum / part.weight, part.present / part.weight);
                    let (mean, present_ratio) = (rounded(mean), rounded(present_ratio));
                    let spread = GaugeSpread { low: part.low, high: part.high, mean, present_ratio };
                    condensed.gauges.push(position as u32, spread);
                }
            }
        }
        let row = Row {
            begin_mono_ns: self.begin,
            end_mono_ns: self.end,
            values: self.columns.iter().map(|part| part.value).collect(),
            condensed: (self.samples_count > 1).then(|| Box::new(condensed)),
            logged: Vec::new(),
        };
        self.columns.iter_mut().for_each(Part::clear);
        self.samples_count = 0;
        Some(row)
    }
}

/// The entry of a column in a list that ascends by column.
fn entry_of<T: Copy>(
    entries: &mut std::iter::Peekable<impl Iterator<Item = (usize, T)>>,
    position: usize,
) -> Option<T> {
    while entries.next_if(|entry| entry.0 < position).is_some() {}
    entries.next_if(|entry| entry.0 == position).map(|entry| entry.1)
}

/// Six significant digits: what is derived is not written with more than it is worth.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: ReadingKind) -> Column {
        Column { name: "a".into(), scope: "host".into(), unit: "count".into(), kind, unavailable: None }
    }

    fn row(second: u64, values: &[Option<f64>]) -> Row {
        let at = second * 1_000_000_000;
        Row::sample(MonoNs(at), MonoNs(at), values.to_vec())
    }

    fn cell() -> ReadingsCell {
        ReadingsCell::new(&[column(ReadingKind::Counter), column(ReadingKind::Gauge)])
    }

    fn condensed(row: &Row) -> &Condensed {
        row.condensed.as_deref().expect("is condensed")
    }

    #[test]
    fn a_condensed_row_keeps_last_values_and_extremes() {
        let mut cell = cell();
        let samples = [(1, 10.0, 4.0), (2, 10.0, 0.0), (3, 40.0, 9.0), (4, 41.0, 3.0)];
        samples.iter().for_each(|(at, count, gauge)| cell.add(&row(*at, &[Some(*count), Some(*gauge)])));
        let taken = cell.take().expect("holds four");
        assert_eq!(taken.values, [Some(41.0), Some(3.0)]);
        assert_eq!((taken.begin_mono_ns, taken.end_mono_ns), (MonoNs(1_000_000_000), MonoNs(4_000_000_000)));
        let spread = condensed(&taken);
        assert_eq!(spread.samples_count, 4);
        let rates: Vec<_> = spread.rates.iter().collect();
        assert_eq!(rates, [(0, RateRange { low: 0.0, high: 30.0 })]);
        let gauges: Vec<_> = spread.gauges.iter().collect();
        assert_eq!(gauges, [(1, GaugeSpread { low: 0.0, high: 9.0, mean: 4.0, present_ratio: 0.75 })]);
        assert!(cell.take().is_none());
    }

    #[test]
    fn rates_reach_from_the_cell_before() {
        let mut cell = cell();
        cell.add(&row(1, &[Some(10.0), None]));
        cell.add(&row(2, &[Some(20.0), None]));
        cell.take().expect("holds two");
        cell.add(&row(3, &[Some(120.0), None]));
        cell.add(&row(4, &[Some(120.0), None]));
        let taken = cell.take().expect("holds two");
        let rates: Vec<_> = condensed(&taken).rates.iter().collect();
        assert_eq!(rates, [(0, RateRange { low: 0.0, high: 100.0 })]);
        assert_eq!(taken.values, [Some(120.0), None], "what was not read is not there");
    }

    #[test]
    fn condensing_twice_is_condensing_once() {
        let sample = |at: u64| row(at, &[Some((at * at) as f64), Some((at * 7 % 5) as f64)]);
        // A counter has a rate from its second sample on.
        let begun = || {
            let mut cell = cell();
            cell.add(&sample(0));
            cell.take().expect("holds one");
            cell
        };
        let mut once = begun();
        (1..=8).for_each(|at| once.add(&sample(at)));
        let (mut inner, mut outer) = (begun(), begun());
        for pair in [[1, 2], [3, 4], [5, 6], [7, 8]] {
            pair.iter().for_each(|at| inner.add(&sample(*at)));
            outer.add(&inner.take().expect("holds two"));
        }
        assert_eq!(outer.take(), once.take());
    }

    #[test]
    fn a_counter_that_begins_anew_is_noticed_and_noise_is_not() {
        let mut cell = cell();
        cell.add(&row(1, &[Some(1000.0), Some(9.0)]));
        assert!(!cell.restarts_with(&row(2, &[Some(998.0), Some(0.0)])));
        assert!(cell.restarts_with(&row(2, &[Some(3.0), Some(9.0)])));
    }

    #[test]
    fn derived_numbers_have_six_digits() {
        assert_eq!(rounded(1_234.567_89), 1_234.57);
        assert_eq!(rounded(0.000_123_456_789), 0.000_123_457);
        assert_eq!((rounded(0.0), rounded(1e300)), (0.0, 1e300));
    }
}
