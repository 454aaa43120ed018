//! What a remedy is: the change that it suggests, and what has to be seen for it.

use sysdyno_record::allowance::Allowance;
use sysdyno_record::autotune::SeenFinding;

/// A change that helped others with what is seen here.
#[derive(Clone, Copy, Debug)]
pub struct Remedy {
    /// Its name: `nginx-workers`.
    pub id: &'static str,
    /// What it is, with `{}` for the new value of its first change.
    pub title: &'static str,
    /// What it changes; the first change decides whether there is anything to suggest.
    pub changes: &'static [RemedyChange],
    /// Rules whose diagnosis points to it, where one of many causes does by the beginning of its title, `L01: All workers of`;
    /// empty: it is worth a try wherever the setting is found.
    pub when: &'static [&'static str],
    /// A setting, by its definition, and the value that it has to have beside the first change; `None`: nothing has to be so.
    pub only_if: Option<(&'static str, &'static str)>,
    /// What has to be allowed besides changing the setting.
    pub gives_up: Option<Allowance>,
    /// Why it helps, in a sentence without its subject.
    pub why: &'static str,
    /// Where that is known from.
    pub source: &'static str,
}

impl Remedy {
    /// Whether a diagnosis points to it.
    pub(crate) fn answers(&self, finding: &SeenFinding) -> bool {
        self.when.iter().any(|when| {
            let (id, begin) = when.split_once(": ").unwrap_or((when, ""));
            finding.id == id && finding.title.starts_with(begin)
        })
    }

    /// The rules that point to it, each once.
    pub fn rules(&self) -> Vec<&'static str> {
        let mut rules: Vec<&str> =
            self.when.iter().map(|when| when.split(':').next().unwrap_or(when)).collect();
        rules.dedup();
        rules
    }
}

/// One setting that a remedy changes.
#[derive(Clone, Copy, Debug)]
pub struct RemedyChange {
    /// The definition of the setting, or `RECIPE.PARAMETER` of a lab's service.
    pub setting: &'static str,
    /// The next value.
    pub step: ValueStep,
    /// The value that it has where it is not set; empty: nobody knows, and the step is made from nothing.
    pub default: &'static str,
}

/// How the next value follows from the one that there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueStep {
    /// This value.
    To(&'static str),
    /// As many times as much, up to the most; made again as long as it helps.
    Times(u64, u64),
    /// As many times less, down to as many for each CPU.
    Divide(u64, u64),
    /// This at least.
    AtLeast(u64),
    /// This at most.
    AtMost(u64),
    /// One for each CPU, if there are fewer.
    Cpus,
    /// The list of all CPUs.
    AllCpus,
    /// As many times as much, as far as memory reaches at so many bytes for each.
    InMemory(u64, u64),
    /// As many times the new value of the first change, if it is less.
    OfFirst(u64),
}

/// What a step starts from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepBasis<'a> {
    /// The value in force; `None`: not set, and no default is known.
    pub value: Option<&'a str>,
    /// The new value of the first change, where that is another one.
    pub first: Option<u64>,
    /// CPUs of the host.
    pub cpus_count: Option<f64>,
    /// Memory of the host. Unit: bytes.
    pub memory_bytes: Option<f64>,
}

impl ValueStep {
    /// The next value; `None`: there is none, or what it follows from is not known.
    pub(super) fn next(self, from: StepBasis<'_>) -> Option<String> {
        let number: Option<u64> = from.value.and_then(|value| value.trim().parse().ok());
        let raised = |target: u64| (from.value.is_none() || number? < target).then_some(target);
        let next = match self {
            ValueStep::To(value) => return (from.value != Some(value)).then(|| value.to_owned()),
            ValueStep::Times(factor, most) => {
                number.map(|now| now.saturating_mul(factor).min(most)).filter(|next| Some(*next) > number)
            }
            ValueStep::Divide(divisor, per_cpu) => {
                let least = from.cpus_count? as u64 * per_cpu;
                number.map(|now| (now / divisor).max(least)).filter(|next| Some(*next) < number)
            }
            ValueStep::AtLeast(least) => raised(least),
            ValueStep::AtMost(most) => number.is_some_and(|now| now > most).then_some(most),
            ValueStep::Cpus => {
                let cpus = from.cpus_count? as u64;
                number.filter(|now| *now < cpus).map(|_| cpus)
            }
            ValueStep::AllCpus => {
                let last = from.cpus_count.filter(|count| *count >= 2.0)? as u64 - 1;
                let all = format!("0-{last}");
                return (from.value != Some(all.as_str())).then_some(all);
            }
            ValueStep::InMemory(factor, bytes_each) => {
                let room = from.memory_bytes? as u64 / 2 / bytes_each.max(1);
                let next = number?.saturating_mul(factor).min(number?.saturating_add(room));
                Some(next).filter(|next| Some(*next) > number)
            }
            ValueStep::OfFirst(factor) => raised(from.first?.saturating_mul(factor)),
        };
        next.map(|next| next.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(step: ValueStep, value: &str) -> Option<String> {
        let value = (!value.is_empty()).then_some(value);
        let (cpus_count, memory_bytes) = (Some(4.0), Some(1e9));
        step.next(StepBasis { value, first: Some(1000), cpus_count, memory_bytes })
    }

    #[test]
    fn the_next_value_follows_from_the_one_that_there_is() {
        let check = |step, value: &str, expected: Option<&str>| {
            assert_eq!(next(step, value).as_deref(), expected, "{step:?} of '{value}'");
        };
        check(ValueStep::To("on"), "off", Some("on"));
        check(ValueStep::To("on"), "on", None);
        check(ValueStep::Times(4, 65_536), "512", Some("2048"));
        check(ValueStep::Times(4, 65_536), "65536", None);
        check(ValueStep::Times(4, 65_536), "auto", None);
        check(ValueStep::Divide(2, 2), "32", Some("16"));
        check(ValueStep::Divide(2, 2), "10", Some("8"));
        check(ValueStep::Divide(2, 2), "8", None);
        check(ValueStep::AtLeast(4096), "128", Some("4096"));
        check(ValueStep::AtLeast(4096), "", Some("4096"));
        check(ValueStep::AtLeast(4096), "4096", None);
        check(ValueStep::AtMost(1), "6", Some("1"));
        check(ValueStep::AtMost(1), "", None);
        check(ValueStep::Cpus, "1", Some("4"));
        check(ValueStep::Cpus, "auto", None);
        check(ValueStep::Cpus, "8", None);
        check(ValueStep::AllCpus, "none", Some("0-3"));
        check(ValueStep::AllCpus, "0-3", None);
        check(ValueStep::InMemory(2, 50_000_000), "4", Some("8"));
        check(ValueStep::InMemory(2, 50_000_000), "100", Some("110"));
        check(ValueStep::InMemory(2, 2_000_000_000), "4", None);
        check(ValueStep::OfFirst(2), "512", Some("2000"));
        check(ValueStep::OfFirst(2), "4000", None);
    }

    #[test]
    fn what_is_not_known_suggests_nothing() {
        let nothing = StepBasis { value: Some("1"), ..StepBasis::default() };
        for step in [
            ValueStep::Cpus,
            ValueStep::AllCpus,
            ValueStep::Divide(2, 2),
            ValueStep::InMemory(2, 1),
            ValueStep::OfFirst(2),
        ] {
            assert_eq!(step.next(nothing), None, "{step:?}");
        }
    }
}
