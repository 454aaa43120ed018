//! Where a curve bends most: Kneedle, a descriptive mark on a chart and nothing more.
//!
//! V. Satopää, J. Albrecht, D. Irwin, B. Raghavan, *Finding a "Kneedle" in a Haystack* (2011): scale the curve to the
//! unit square, take its distance from the diagonal, and call a local maximum of it a knee once the distance has
//! fallen by `sensitivity` mean steps before it rises again. Limit: the answer depends on the range that was tested;
//! capacity is never derived from it.

use crate::descriptive::is_usable;

/// Which way the curve bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bend {
    /// Rises steeply, then levels off: throughput over clients.
    Concave,
    /// Rises slowly, then steeply: latency over rate.
    Convex,
}

/// A knee with what led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    /// Where it is. Unit: that of x.
    pub x: f64,
    /// Distance of each point of the scaled curve from the diagonal, in the order given.
    pub distances: Vec<f64>,
    /// The distance below which the curve had to fall.
    pub threshold: f64,
}

/// The knee of a rising curve with ascending x; the first that is met going from the steep end.
///
/// `sensitivity` is 1 in the paper; greater values ask for a clearer bend.
/// `None`: fewer than three points, slices of different length, x that does not rise, a flat curve, or no knee.
pub fn kneedle(x: &[f64], y: &[f64], bend: Bend, sensitivity: f64) -> Option<Knee> {
    let is_rising = x.windows(2).all(|pair| pair[0] < pair[1]);
    if x.len() != y.len() || !is_usable(x, 3) || !is_usable(y, 3) || !is_rising {
        return None;
    }
    let unit_x = scaled(x)?;
    let unit_y = scaled(y)?;
    let sign = match bend {
        Bend::Concave => 1.0,
        Bend::Convex => -1.0,
    };
    let distances: Vec<f64> = unit_x.iter().zip(&unit_y).map(|(x, y)| sign * (y - x)).collect();
    // A convex curve is a concave one seen from its other end.
    let walk: Vec<usize> = match bend {
        Bend::Concave => (0..x.len()).collect(),
        Bend::Convex => (0..x.len()).rev().collect(),
    };
    let along: Vec<f64> = walk.iter().map(|index| distances[*index]).collect();
    let mean_step = 1.0 / (x.len() - 1) as f64;
    let (position, threshold) = first_settled_peak(&along, sensitivity * mean_step)?;
    Some(Knee { x: x[walk[position]], distances, threshold })
}

fn scaled(values: &[f64]) -> Option<Vec<f64>> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let span = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    (span > 0.0 && span.is_finite()).then(|| values.iter().map(|value| (value - low) / span).collect())
}

/// The first local maximum after which the values fall by more than `fall` before the next one, with its threshold.
fn first_settled_peak(along: &[f64], fall: f64) -> Option<(usize, f64)> {
    let mut peak: Option<usize> = None;
    for position in 1..along.len() {
        let value = along[position];
        if let Some(at) = peak
            && value < along[at] - fall
        {
            return Some((at, along[at] - fall));
        }
        let is_peak =
            value > along[position - 1] && along.get(position + 1).is_some_and(|next| value >= *next);
        if is_peak {
            peak = Some(position);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hockey_stick_bends_at_its_joint_from_both_sides() {
        let x: Vec<f64> = (0..21).map(f64::from).collect();
        let convex: Vec<f64> =
            x.iter().map(|x| if *x < 15.0 { *x * 0.1 } else { 1.5 + (x - 15.0) * 3.0 }).collect();
        assert_eq!(kneedle(&x, &convex, Bend::Convex, 1.0).map(|knee| knee.x), Some(15.0));
        let concave: Vec<f64> = x.iter().map(|x| x.min(6.0)).collect();
        assert_eq!(kneedle(&x, &concave, Bend::Concave, 1.0).map(|knee| knee.x), Some(6.0));
    }

    #[test]
    fn a_straight_or_flat_line_has_no_knee() {
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(kneedle(&x, &x, Bend::Concave, 1.0), None);
        assert_eq!(kneedle(&x, &[1.0; 10], Bend::Concave, 1.0), None);
        assert_eq!(kneedle(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0], Bend::Concave, 1.0), None);
    }
}
