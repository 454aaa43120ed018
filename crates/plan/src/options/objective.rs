//! Objectives as typed.

use super::typed::read_as_text;
use std::str::FromStr;
use sysdyno_record::plan::Objective;

/// An objective as typed: `p99<20ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectiveOption(pub Objective);

/// Percentiles that every trial records, and that an objective can therefore limit.
const RECORDED_PERCENTS: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

impl FromStr for ObjectiveOption {
    type Err = String;

    fn from_str(text: &str) -> Result<ObjectiveOption, String> {
        let hint =
            || format!("cannot read objective '{text}': write a percentile and its limit, as in 'p99<20ms'");
        let (percentile, limit) = text.split_once('<').ok_or_else(hint)?;
        let percent: f64 =
            percentile.trim().strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(hint)?;
        let limit = limit.trim_start_matches('=').trim().parse().map_err(|_| hint())?;
        if !RECORDED_PERCENTS.contains(&percent) {
            return Err(format!(
                "cannot judge by p{percent}: only p50, p90, p95, p99, and p99.9 are recorded"
            ));
        }
        Ok(ObjectiveOption(Objective { percentile_ratio: percent / 100.0, limit, ..Objective::default() }))
    }
}

read_as_text!(ObjectiveOption);

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::units::SpanNs;

    #[test]
    fn objectives_are_read_as_written() {
        let objective = "p99.9<20ms".parse::<ObjectiveOption>().expect("reads").0;
        assert!((objective.percentile_ratio - 0.999).abs() < 1e-12);
        assert_eq!(objective.limit, SpanNs::from_millis(20));
        for wrong in ["p99", "99<20ms", "p0<1s", "p100<1s", "p97<1s", "p99<20", "p99<", ""] {
            assert!(wrong.parse::<ObjectiveOption>().is_err(), "{wrong}");
        }
    }
}
