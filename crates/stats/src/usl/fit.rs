//! Fit of the Universal Scalability Law to measured points, with intervals.
//!
//! Start: the quadratic N/X = α0 + α1·N + α2·N² by least squares gives λ = 1/(α0+α1+α2), κ = α2·λ, σ = 1 − α0·λ
//! (Gunther 2007). Then Levenberg–Marquardt with Marquardt's diagonal scaling (*SIAM Journal* 11, 1963) inside
//! the bounds 0 ≤ σ < 1, κ ≥ 0, λ > 0; a coefficient that presses against its bound is held there. Intervals:
//! covariance s²(JᵀJ)⁻¹ with n − 3 degrees of freedom, for the peak by the delta method. Limits: [`LOADS_MIN`] loads;
//! κ is not identified before [`PAST_PEAK_MIN`] loads lie past the peak.

use super::Usl;
use crate::descriptive::{is_usable, sorted};
use crate::distribution::student_t_quantile;
use crate::estimate::{Estimate, is_level};

/// Fewest different loads for a fit.
pub const LOADS_MIN: usize = 6;

/// Fewest loads past the peak for κ to be called identified.
pub const PAST_PEAK_MIN: usize = 2;

/// Where the errors are taken to have equal size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidualScale {
    /// On ln X: noise is a share of the throughput, as it usually is.
    Logarithmic,
    /// On X itself.
    Linear,
}

/// Intervals of the coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UslIntervals {
    /// Unit: requests per second.
    pub lambda_hz: Estimate,
    /// Contention.
    pub sigma: Estimate,
    /// Coherency cost.
    pub kappa: Estimate,
    /// Standard errors in the order σ, κ, λ.
    pub standard_errors: [f64; 3],
    /// Clients at the peak. `None`: the interval of κ reaches 0, so that no peak has been seen.
    pub peak_clients: Option<Estimate>,
}

/// A fitted law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UslFit {
    /// The coefficients.
    pub law: Usl,
    /// `None`: a coefficient lies at its bound, so that the usual intervals do not hold.
    pub intervals: Option<UslIntervals>,
    /// Standard deviation of the residuals, with n − 3; of ln X or of X.
    pub residual_sd: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// Different loads beyond the peak; below [`PAST_PEAK_MIN`] κ is not identified.
    pub loads_past_peak: usize,
}

/// Fits the law to numbers of clients and their throughputs. Unit: requests per second.
///
/// `None`: fewer than [`LOADS_MIN`] different loads, slices of different length, a value that is not positive and
/// finite, or `level` is not strictly between 0 and 1.
pub fn fit(clients: &[f64], throughputs_hz: &[f64], scale: ResidualScale, level: f64) -> Option<UslFit> {
    let points = Points::new(clients, throughputs_hz, scale)?;
    if !is_level(level) {
        return None;
    }
    let start = starting_point(clients, throughputs_hz).unwrap_or_else(|| points.plain_start());
    let coefficients = points.descend(into_bounds([start.sigma, start.kappa, start.lambda_hz]));
    let law = law_of(coefficients);
    let freedom = (clients.len() - 3) as f64;
    let residual_sd = (points.square_sum(coefficients) / freedom).sqrt();
    let is_inside = coefficients[0] > 0.0 && coefficients[0] < SIGMA_MAX && coefficients[1] > 0.0;
    let intervals =
        if is_inside { points.intervals(coefficients, residual_sd * residual_sd, level) } else { None };
    let mut past: Vec<f64> = match law.peak_clients() {
        Some(peak) => sorted(clients).into_iter().filter(|clients| *clients > peak).collect(),
        None => Vec::new(),
    };
    past.dedup();
    Some(UslFit { law, intervals, residual_sd, freedom, loads_past_peak: past.len() })
}

/// The law by a quadratic fitted to N/X: exact for exact points, biased for noisy ones.
///
/// `None`: fewer than three points, slices of different length, or points that no such law passes near.
pub fn starting_point(clients: &[f64], throughputs_hz: &[f64]) -> Option<Usl> {
    if clients.len() != throughputs_hz.len() || !are_positive(clients, 3) || !are_positive(throughputs_hz, 3)
    {
        return None;
    }
    let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for (clients, throughput) in clients.iter().zip(throughputs_hz) {
        let row = [1.0, *clients, clients * clients];
        accumulate(&mut matrix, &mut right, row, clients / throughput);
    }
    let [constant, linear, square] = solve(matrix, right)?;
    let lambda_hz = 1.0 / (constant + linear + square);
    let is_law = lambda_hz.is_finite() && lambda_hz > 0.0;
    is_law.then_some(Usl { lambda_hz, sigma: 1.0 - constant * lambda_hz, kappa: square * lambda_hz })
}

fn are_positive(values: &[f64], least_count: usize) -> bool {
    is_usable(values, least_count) && values.iter().all(|value| *value > 0.0)
}

/// Coefficients in the order σ, κ, λ.
type Coefficients = [f64; 3];

/// σ stays below 1: at 1 one client does all the work.
const SIGMA_MAX: f64 = 1.0 - 1e-9;

/// Steps after which the descent ends; it takes about ten.
const STEPS_MAX: usize = 500;

fn into_bounds(coefficients: Coefficients) -> Coefficients {
    let [sigma, kappa, lambda] = coefficients;
    [sigma.clamp(0.0, SIGMA_MAX), kappa.max(0.0), lambda.max(f64::MIN_POSITIVE)]
}

fn law_of([sigma, kappa, lambda_hz]: Coefficients) -> Usl {
    Usl { lambda_hz, sigma, kappa }
}

/// Measured points with the scale of their errors.
struct Points<'a> {
    clients: &'a [f64],
    throughputs_hz: &'a [f64],
    scale: ResidualScale,
}

impl<'a> Points<'a> {
    fn new(clients: &'a [f64], throughputs_hz: &'a [f64], scale: ResidualScale) -> Option<Points<'a>> {
        let mut loads = sorted(clients);
        loads.dedup();
        let is_usable = clients.len() == throughputs_hz.len()
            && loads.len() >= LOADS_MIN
            && are_positive(clients, 1)
            && are_positive(throughputs_hz, 1);
        is_usable.then_some(Points { clients, throughputs_hz, scale })
    }

    /// The rate per client at the first point, with a little contention.
    fn plain_start(&self) -> Usl {
        Usl { lambda_hz: self.throughputs_hz[0] / self.clients[0], sigma: 0.05, kappa: 1e-4 }
    }

    /// Model minus measured at each point.
    fn residuals(&self, coefficients: Coefficients) -> impl Iterator<Item = f64> {
        let law = law_of(coefficients);
        self.clients.iter().zip(self.throughputs_hz).map(move |(clients, measured)| {
            let model = law.throughput_hz(*clients);
            match self.scale {
                ResidualScale::Logarithmic => (model / measured).ln(),
                ResidualScale::Linear => model - measured,
            }
        })
    }

    fn square_sum(&self, coefficients: Coefficients) -> f64 {
        self.residuals(coefficients).map(|residual| residual * residual).sum()
    }

    /// Derivatives of the residual at a point: ∂σ = −X(N−1)/D, ∂κ = −XN(N−1)/D, ∂λ = X/λ, divided by X on the
    /// logarithmic scale.
    fn gradient(&self, coefficients: Coefficients, clients: f64) -> [f64; 3] {
        let law = law_of(coefficients);
        let factor = match self.scale {
            ResidualScale::Logarithmic => 1.0,
            ResidualScale::Linear => law.throughput_hz(clients),
        };
        let share = factor * (clients - 1.0) / law.slowdown(clients);
        [-share, -share * clients, factor / law.lambda_hz]
    }

    /// JᵀJ and Jᵀr.
    fn normal_equations(&self, coefficients: Coefficients) -> ([[f64; 3]; 3], [f64; 3]) {
        let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for (clients, residual) in self.clients.iter().zip(self.residuals(coefficients)) {
            accumulate(&mut matrix, &mut right, self.gradient(coefficients, *clients), residual);
        }
        (matrix, right)
    }

    /// Levenberg–Marquardt from a start within the bounds.
    fn descend(&self, start: Coefficients) -> Coefficients {
        let mut best = start;
        let mut best_sum = self.square_sum(best);
        let mut damping = 1e-3;
        for _ in 0..STEPS_MAX {
            let Some(next) = self.step(best, damping) else { break };
            let sum = self.square_sum(next);
            if sum.is_finite() && sum <= best_sum {
                let is_settled = best.iter().zip(next).all(|(a, b)| (a - b).abs() <= 1e-13 * b.abs());
                (best, best_sum) = (next, sum);
                damping = (damping / 10.0).max(1e-15);
                if is_settled {
                    break;
                }
            } else if damping > 1e12 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        best
    }

    /// One damped step, kept within the bounds; a coefficient that is pressed against its bound does not move.
    fn step(&self, from: Coefficients, damping: f64) -> Option<Coefficients> {
        let (mut matrix, mut right) = self.normal_equations(from);
        for index in 0..2 {
            // The right side is the gradient: the step goes against it.
            let is_held = (from[index] <= 0.0 && right[index] > 0.0)
                || (index == 0 && from[index] >= SIGMA_MAX && right[index] < 0.0);
            if is_held {
                matrix[index] = [0.0; 3];
                matrix.iter_mut().for_each(|row| row[index] = 0.0);
                matrix[index][index] = 1.0;
                right[index] = 0.0;
            }
        }
        (0..3).for_each(|index| matrix[index][index] *= 1.0 + damping);
        let step = solve(matrix, right)?;
        // λ keeps its sign by moving at most to a tenth of itself.
        let lambda = (from[2] - step[2]).max(from[2] / 10.0);
        Some(into_bounds([from[0] - step[0], from[1] - step[1], lambda]))
    }

    fn intervals(&self, coefficients: Coefficients, variance: f64, level: f64) -> Option<UslIntervals> {
        let matrix = self.normal_equations(coefficients).0;
        let unit = |index: usize| std::array::from_fn(|row| f64::from(u8::from(row == index)));
        let columns = [solve(matrix, unit(0))?, solve(matrix, unit(1))?, solve(matrix, unit(2))?];
        let covariance = columns.map(|column| column.map(|value| value * variance));
        let standard_errors: [f64; 3] = std::array::from_fn(|index| covariance[index][index].max(0.0).sqrt());
        let t = student_t_quantile(1.0 - (1.0 - level) / 2.0, (self.clients.len() - 3) as f64);
        let around = |point: f64, error: f64| Estimate {
            point,
            low: point - t * error,
            high: point + t * error,
            level,
        };
        let [sigma, kappa, lambda_hz] =
            std::array::from_fn(|index| around(coefficients[index], standard_errors[index]));
        let peak_clients = law_of(coefficients).peak_clients().filter(|_| kappa.low > 0.0).map(|peak| {
            let gradient = [-1.0 / (2.0 * kappa.point * peak), -peak / (2.0 * kappa.point)];
            let square: f64 = (0..2)
                .map(|row| {
                    (0..2)
                        .map(|column| gradient[row] * covariance[row][column] * gradient[column])
                        .sum::<f64>()
                })
                .sum();
            around(peak, square.max(0.0).sqrt())
        });
        Some(UslIntervals { lambda_hz, sigma, kappa, standard_errors, peak_clients })
    }
}

/// Adds one row of a least-squares problem to its normal equations.
fn accumulate(matrix: &mut [[f64; 3]; 3], right: &mut [f64; 3], row: [f64; 3], value: f64) {
    for index in 0..3 {
        right[index] += row[index] * value;
        for column in 0..3 {
            matrix[index][column] += row[index] * row[column];
        }
    }
}

/// Solves three symmetric positive equations, scaled to a unit diagonal first, by elimination with pivots.
///
/// `None`: they are singular.
fn solve(matrix: [[f64; 3]; 3], right: [f64; 3]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = std::array::from_fn(|index| matrix[index][index].sqrt());
    if scale.iter().any(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return None;
    }
    let mut rows: [[f64; 4]; 3] = std::array::from_fn(|row| {
        std::array::from_fn(|column| match column {
            3 => right[row] / scale[row],
            _ => matrix[row][column] / (scale[row] * scale[column]),
        })
    });
    for pivot in 0..3 {
        let best = (pivot..3).max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()))?;
        rows.swap(pivot, best);
        if rows[pivot][pivot].abs() < 1e-14 {
            return None;
        }
        let pivot_row = rows[pivot];
        for row in rows.iter_mut().skip(pivot + 1) {
            let factor = row[pivot] / pivot_row[pivot];
            (pivot..4).for_each(|column| row[column] -= factor * pivot_row[column]);
        }
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][3] - known) / rows[row][row];
    }
    let unscaled: [f64; 3] = std::array::from_fn(|index| solution[index] / scale[index]);
    unscaled.iter().all(|value| value.is_finite()).then_some(unscaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    fn points_of(law: Usl) -> Vec<f64> {
        LOADS.iter().map(|clients| law.throughput_hz(*clients)).collect()
    }

    #[test]
    fn exact_points_give_their_law_back() {
        let law = Usl { lambda_hz: 5000.0, sigma: 0.03, kappa: 0.0004 };
        for scale in [ResidualScale::Logarithmic, ResidualScale::Linear] {
            let found = fit(&LOADS, &points_of(law), scale, 0.95).expect("enough loads");
            assert!((found.law.lambda_hz / law.lambda_hz - 1.0).abs() < 1e-9);
            assert!((found.law.sigma - law.sigma).abs() < 1e-9 && (found.law.kappa - law.kappa).abs() < 1e-9);
            assert_eq!(found.loads_past_peak, 2);
        }
    }

    #[test]
    fn points_without_a_peak_hold_the_cost_at_its_bound() {
        let serial = Usl { lambda_hz: 100.0, sigma: 0.1, kappa: 0.0 };
        let mut throughputs = points_of(serial);
        throughputs[7] *= 1.05;
        let found = fit(&LOADS, &throughputs, ResidualScale::Logarithmic, 0.95).expect("enough loads");
        assert_eq!((found.law.kappa, found.intervals, found.loads_past_peak), (0.0, None, 0));
        assert!((found.law.sigma - 0.1).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn superlinear_points_end_at_the_bound_of_contention() {
        let throughputs: Vec<f64> = LOADS.iter().map(|clients| 100.0 * clients.powf(1.1)).collect();
        let found = fit(&LOADS, &throughputs, ResidualScale::Logarithmic, 0.95).expect("enough loads");
        assert_eq!((found.law.sigma, found.law.kappa), (0.0, 0.0));
        assert!(found.law.lambda_hz > 100.0);
    }

    #[test]
    fn too_few_or_senseless_points_are_not_fitted() {
        let law = Usl { lambda_hz: 5000.0, sigma: 0.03, kappa: 0.0004 };
        let throughputs = points_of(law);
        assert_eq!(fit(&LOADS[..5], &throughputs[..5], ResidualScale::Linear, 0.95), None);
        assert_eq!(fit(&[8.0; 8], &throughputs, ResidualScale::Linear, 0.95), None);
        assert_eq!(fit(&LOADS, &[0.0; 8], ResidualScale::Linear, 0.95), None);
        assert_eq!(fit(&LOADS, &throughputs, ResidualScale::Linear, 1.0), None);
    }
}
