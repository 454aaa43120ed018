//! How often something holds in seeded repetitions, and the noise that they are made of.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The error rate of a decision, or the coverage of an interval, with how often it was tried.
pub struct Rate {
    pub hits: u32,
    pub tries: u32,
}

impl Rate {
    /// How often `is_hit` holds in `short` repetitions, or 25 times as many.
    pub fn of(short: u32, seed: u64, mut is_hit: impl FnMut(&mut Random) -> bool) -> Rate {
        let is_slow = std::env::var_os("SYSDYNO_SLOW_TESTS").is_some_and(|value| value == "1");
        let tries = if is_slow { short * 25 } else { short };
        let mut random = Random { bits: Xoshiro256PlusPlus::seed_from_u64(seed) };
        Rate { hits: (0..tries).map(|_| u32::from(is_hit(&mut random))).sum(), tries }
    }

    pub fn ratio(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.tries)
    }

    fn standard_error(&self, promised: f64) -> f64 {
        (promised * (1.0 - promised) / f64::from(self.tries)).sqrt()
    }

    #[track_caller]
    pub fn is_about(&self, promised: f64) {
        let distance = (self.ratio() - promised).abs();
        assert!(distance <= 4.0 * self.standard_error(promised), "{} instead of {promised}", self.ratio());
    }

    #[track_caller]
    pub fn is_at_least(&self, promised: f64) {
        assert!(
            self.ratio() >= promised - 4.0 * self.standard_error(promised),
            "{} below {promised}",
            self.ratio()
        );
    }

    #[track_caller]
    pub fn is_at_most(&self, promised: f64) {
        assert!(
            self.ratio() <= promised + 4.0 * self.standard_error(promised),
            "{} above {promised}",
            self.ratio()
        );
    }
}

pub struct Random {
    pub bits: Xoshiro256PlusPlus,
}

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.bits.random()
    }

    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    /// Noise of one trial: mostly normal, now and then hit by something else on the machine.
    pub fn spiky(&mut self) -> f64 {
        let hit = if self.uniform() < 0.15 { 6.0 * self.exponential() } else { 0.0 };
        self.normal() + hit
    }

    pub fn many(&mut self, count: usize, draw: impl Fn(&mut Random) -> f64) -> Vec<f64> {
        (0..count).map(|_| draw(self)).collect()
    }

    /// A first-order autoregressive series around zero.
    pub fn autoregressive(&mut self, count: usize, memory: f64) -> Vec<f64> {
        let mut value = self.normal() / (1.0 - memory * memory).sqrt();
        let mut next = || {
            value = memory * value + self.normal();
            value
        };
        (0..count).map(|_| next()).collect()
    }
}
