//! What is compared while it is measured, as metrics: which variant the load is of now, pairs, effect, and changes of settings.

use std::collections::BTreeMap;
use sysdyno_record::effect::{Effect, EffectScale};
use sysdyno_record::event::EventKind;
use sysdyno_record::metrics::{FamilyKind, MetricFamily};

/// Most variants that have a series.
const VARIANTS_MAX: usize = 64;

/// Longest name of a variant in a label. Unit: characters.
const NAME_CHARS_MAX: usize = 80;

/// What can be done to a setting.
const STEPS: [&str; 4] = ["changed", "undone", "kept", "left"];

/// A comparison while it is measured; nothing is known of it where single runs are made.
#[derive(Clone, Debug, Default)]
pub struct ComparedMeter {
    /// Names of what is compared.
    variants: Vec<String>,
    /// Position of the one that is measured now.
    now: Option<usize>,
    /// Number of the present pair of a tryout, from 1.
    pair: Option<u32>,
    /// Number of the present block of an experiment, from 1.
    block: Option<u32>,
    /// Pairs of the present comparison: those that count, and those that were dropped.
    pairs: Option<[u32; 2]>,
    effect: Option<Effect>,
    /// Changes of settings by what was done to them.
    steps: BTreeMap<&'static str, u64>,
}

impl ComparedMeter {
    /// What is compared, in the order in which it is numbered.
    pub fn variants<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let cut = |name: &str| name.chars().take(NAME_CHARS_MAX).collect();
        self.variants = names.take(VARIANTS_MAX).map(cut).collect();
    }

    /// A comparison of two variants begins.
    pub fn stage(&mut self) {
        (self.pairs, self.effect) = (None, None);
    }

    /// A trial of a tryout begins.
    pub fn pair(&mut self, pair: u32, variant: u32) {
        (self.pair, self.now) = (Some(pair), Some(variant as usize));
    }

    /// A trial of an experiment begins; `block` is from 0.
    pub fn block(&mut self, block: u32, variant: u32) {
        (self.block, self.now) = (Some(block.saturating_add(1)), Some(variant as usize));
    }

    /// The trial is over: no variant is measured.
    pub fn rest(&mut self) {
        self.now = None;
    }

    /// How a tryout stands after a pair.
    pub fn standing(&mut self, counted: u32, dropped: u32, effect: Option<Effect>) {
        (self.pairs, self.effect) = (Some([counted, dropped]), effect);
    }

    /// A mark on the time axis, which may be a change of a setting.
    pub fn mark(&mut self, event: &EventKind) {
        let step = match event {
            EventKind::SettingChanged(_) => "changed",
            // In a lab: what the run is made under.
            EventKind::Setting(held) if held.before != held.after => "changed",
            EventKind::SettingUndone(_) => "undone",
            EventKind::SettingKept(_) => "kept",
            EventKind::SettingLeft(_) => "left",
            _ => return,
        };
        *self.steps.entry(step).or_default() += 1;
    }

    /// All of it; families without series are empty.
    pub(super) fn families(&self) -> Vec<MetricFamily> {
        let mut variants = MetricFamily::gauge("sysdyno_variant", "Whether this variant is measured now.");
        for (position, name) in self.variants.iter().enumerate() {
            let is_now = f64::from(u8::from(self.now == Some(position)));
            let position = position.to_string();
            variants = variants.with(&[("variant", name), ("position", &position)], Some(is_now));
        }
        let mut pairs = MetricFamily::gauge("sysdyno_pairs", "Pairs of the present comparison, by result.");
        for (position, result) in ["counted", "dropped"].into_iter().enumerate() {
            let count = self.pairs.map(|pairs| f64::from(pairs[position]));
            pairs = pairs.with(&[("result", result)], count);
        }
        let ratio = self.effect.as_ref().filter(|effect| effect.scale == EffectScale::Ratio);
        let mut effects =
            MetricFamily::gauge("sysdyno_effect_ratio", "B / A of the deciding metric so far; 95% interval.");
        let ends = ratio.map(|effect| [("low", effect.low), ("point", effect.point), ("high", effect.high)]);
        for (bound, value) in ends.into_iter().flatten() {
            effects = effects.with(&[("bound", bound)], Some(value).filter(|value| value.is_finite()));
        }
        let help = "Changes of settings, by what was done.";
        let mut steps = MetricFamily::new(FamilyKind::Counter, "sysdyno_setting_changes", help);
        for step in STEPS.into_iter().filter(|_| !self.variants.is_empty()) {
            let count = self.steps.get(step).copied().unwrap_or_default();
            steps = steps.with(&[("step", step)], Some(count as f64));
        }
        vec![
            variants,
            MetricFamily::gauge("sysdyno_pair", "Number of the present pair of a tryout.")
                .with(&[], self.pair.map(f64::from)),
            MetricFamily::gauge("sysdyno_block", "Number of the present block of an experiment.")
                .with(&[], self.block.map(f64::from)),
            pairs,
            effects,
            steps,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::event::{SettingHeld, undone};
    use sysdyno_record::metrics::MetricValue;

    fn series(meter: &ComparedMeter) -> Vec<(String, f64)> {
        let mut series = Vec::new();
        for family in meter.families() {
            for point in &family.points {
                let MetricValue::Number(value) = point.value else { panic!("no number") };
                let label = point.labels.first().map_or("", |label| label.value.as_str());
                series.push((format!("{}:{label}", family.name), value));
            }
        }
        series
    }

    #[test]
    fn the_variant_that_is_measured_is_1_and_between_trials_none_is() {
        let mut meter = ComparedMeter::default();
        assert!(series(&meter).is_empty(), "a single run compares nothing");
        meter.variants(["A", "B"].into_iter());
        meter.pair(3, 1);
        let of = |meter: &ComparedMeter, name: &str| {
            series(meter).iter().find(|(known, _)| known == name).map(|(_, value)| *value)
        };
        assert_eq!(
            [of(&meter, "sysdyno_variant:A"), of(&meter, "sysdyno_variant:B")],
            [Some(0.0), Some(1.0)]
        );
        assert_eq!(of(&meter, "sysdyno_pair:"), Some(3.0));
        meter.rest();
        assert_eq!(of(&meter, "sysdyno_variant:B"), Some(0.0));
    }

    #[test]
    fn a_new_comparison_begins_without_an_effect_and_changes_are_counted_on() {
        let mut meter = ComparedMeter::default();
        meter.variants(["A", "B"].into_iter());
        let held =
            SettingHeld { host: "here".into(), key: "k".into(), before: "1".into(), after: "2".into() };
        meter.mark(&EventKind::SettingChanged(held.clone()));
        undone(&[held], &[]).for_each(|event| meter.mark(&event));
        meter.mark(&EventKind::Note { text: String::new() });
        let effect = Effect {
            scale: EffectScale::Ratio,
            point: 1.1,
            low: 1.0,
            high: f64::INFINITY,
            confidence_ratio: 0.95,
            narrow: None,
            pairs_count: 6,
        };
        meter.standing(6, 1, Some(effect));
        let counted = |meter: &ComparedMeter| {
            let mut series = series(meter);
            series.retain(|(name, _)| !name.starts_with("sysdyno_variant"));
            series.into_iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>()
        };
        let steps = ["changed 1", "undone 1", "kept 0", "left 0"];
        let steps = steps.map(|step| format!("sysdyno_setting_changes:{step}"));
        let told = ["sysdyno_pairs:counted 6", "sysdyno_pairs:dropped 1"].map(str::to_owned);
        let effects = ["sysdyno_effect_ratio:low 1", "sysdyno_effect_ratio:point 1.1"].map(str::to_owned);
        let all: Vec<String> = told.into_iter().chain(effects).chain(steps.clone()).collect();
        assert_eq!(counted(&meter), all);
        meter.stage();
        assert_eq!(counted(&meter), steps);
    }
}
