//! Suggests changes: remedies whose setting was found, whose diagnosis was seen, and that were not tried yet.

use super::remedy::{Remedy, RemedyChange, StepBasis};
use super::table::remedies;
use std::collections::BTreeSet;
use sysdyno_record::allowance::Allowance;
use sysdyno_record::analysis::Confidence;
use sysdyno_record::autotune::{CandidateChange, SeenFinding, SeenServer, SeenSetting};
use sysdyno_record::change::SettingChange;
use sysdyno_record::experiment::ServiceChange;

/// Services that read their files only when they start.
const RESTARTED: &[&str] = &["mariadb:", "memcached:"];

/// All that can be suggested, the most pressing first. `kept` is in force already; what is in `tried` is not suggested again.
pub fn propose(
    seen: &SeenServer,
    kept: &[CandidateChange],
    tried: &BTreeSet<String>,
) -> Vec<CandidateChange> {
    let server = KnownServer { seen, kept };
    let mut found: Vec<(usize, CandidateChange)> = Vec::new();
    for remedy in remedies() {
        let Some((pressing, finding)) = server.reason(remedy) else { continue };
        let reason = match finding {
            Some(finding) => format!("{}; {}", finding.title, remedy.why),
            None => remedy.why.to_owned(),
        };
        for group in server.groups(remedy.changes[0].setting, finding) {
            let candidate = server.candidate(remedy, &group, &reason);
            let is_new = |candidate: &CandidateChange| !tried.contains(&identity(candidate));
            found.extend(candidate.filter(is_new).map(|candidate| (pressing, candidate)));
        }
    }
    found.sort_by_key(|(pressing, _)| *pressing);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// What tells a candidate from others: all that it changes, with the new values.
pub fn identity(candidate: &CandidateChange) -> String {
    let settings = candidate.settings.iter().map(SettingChange::text);
    let services = candidate.services.iter().map(ServiceChange::text);
    settings.chain(services).collect::<Vec<_>>().join(" ")
}

/// A server with what was kept on top of what was found.
struct KnownServer<'a> {
    seen: &'a SeenServer,
    kept: &'a [CandidateChange],
}

impl KnownServer<'_> {
    /// How pressing a remedy is, less being more, and the finding that suggests it, if one has to; `None`: nothing points to it.
    fn reason(&self, remedy: &Remedy) -> Option<(usize, Option<&SeenFinding>)> {
        if let Some((id, value)) = remedy.only_if {
            let of_id = self.seen.settings.iter().find(|setting| setting.id == id);
            // A lab tells what a server is for; elsewhere nobody knows, and it is tried.
            if of_id.is_some_and(|setting| self.value(setting).as_deref() != Some(value)) {
                return None;
            }
        }
        let found = self.seen.findings.iter().enumerate().find(|(_, finding)| remedy.answers(finding));
        match found {
            Some((rank, finding)) => {
                let certain = if finding.confidence >= Confidence::Likely { 0 } else { 100 };
                Some((certain + rank, Some(finding)))
            }
            None => remedy.when.is_empty().then_some((200, None)),
        }
    }

    /// The settings of a definition, those together that are changed together: the queues of a device, and the limits of all
    /// processes. Of disks only those that the finding names.
    fn groups(&self, id: &str, finding: Option<&SeenFinding>) -> Vec<Vec<&SeenSetting>> {
        let is_named = |setting: &&SeenSetting| {
            let Some(disk) = disk(&setting.key) else { return true };
            finding.is_some_and(|finding| has_word(&finding.title, disk))
        };
        let mut groups: Vec<Vec<&SeenSetting>> = Vec::new();
        for setting in self.seen.settings.iter().filter(|setting| setting.id == id).filter(is_named) {
            match groups.iter_mut().find(|group| holder(&group[0].key) == holder(&setting.key)) {
                Some(group) => group.push(setting),
                None => groups.push(vec![setting]),
            }
        }
        groups
    }

    /// The value in force of a setting: that of the last kept change of it, or else as it was found.
    fn value(&self, setting: &SeenSetting) -> Option<String> {
        let of_setting = |candidate: &CandidateChange| {
            let changed = candidate.settings.iter().find(|change| change.key == setting.key);
            let changed = changed.map(|change| change.value.clone());
            let is_of = |change: &&ServiceChange| {
                setting.is_parameter && format!("{}.{}", change.service, change.key) == setting.key
            };
            changed.or_else(|| candidate.services.iter().find(is_of).map(ServiceChange::value_text))
        };
        self.kept.iter().rev().find_map(of_setting).or_else(|| setting.value.clone())
    }

    fn candidate(&self, remedy: &Remedy, group: &[&SeenSetting], reason: &str) -> Option<CandidateChange> {
        let mut candidate = CandidateChange {
            remedy: remedy.id.into(),
            title: String::new(),
            reason: reason.into(),
            settings: Vec::new(),
            services: Vec::new(),
            needs: remedy.gives_up.into_iter().collect(),
        };
        let step = &remedy.changes[0];
        let changed = group.iter().filter_map(|setting| Some((*setting, self.next(step, setting, None)?)));
        let changed: Vec<(&SeenSetting, String)> = changed.collect();
        let (first, new) = changed.first()?;
        let number = new.parse().ok();
        for (setting, value) in &changed {
            add(&mut candidate, setting, value);
        }
        for change in &remedy.changes[1..] {
            let Some(beside) = self.beside(first, change.setting) else { continue };
            if let Some(next) = self.next(change, beside, number) {
                add(&mut candidate, beside, &next);
            }
        }
        candidate.title = remedy.title.replace("{}", new);
        candidate.needs.sort();
        candidate.needs.dedup();
        Some(candidate)
    }

    fn next(&self, change: &RemedyChange, setting: &SeenSetting, first: Option<u64>) -> Option<String> {
        let value = self.value(setting);
        let default = (!change.default.is_empty()).then_some(change.default);
        change.step.next(StepBasis {
            value: value.as_deref().or(default),
            first,
            cpus_count: self.seen.cpus_count,
            memory_bytes: self.seen.memory_bytes,
        })
    }

    /// The setting of a definition that belongs to another one: in the same file, or of the kernel.
    fn beside(&self, first: &SeenSetting, id: &str) -> Option<&SeenSetting> {
        let file = |key: &str| {
            key.split_once(':').and_then(|(_, rest)| rest.split_once(':')).map(|(file, _)| file.to_owned())
        };
        let is_of = |setting: &&SeenSetting| {
            setting.id == id && (!id.contains(':') || file(&setting.key) == file(&first.key))
        };
        self.seen.settings.iter().find(is_of)
    }
}

/// What has a setting, and is changed as a whole.
fn holder(key: &str) -> &str {
    match key.starts_with("process.") {
        true => "process",
        false => key.split_once(".rx-").map_or(key, |(device, _)| device),
    }
}

/// The disk that a setting belongs to; `None`: it is none of a disk.
fn disk(key: &str) -> Option<&str> {
    key.strip_prefix("block.")?.rsplit_once('.').map(|(disk, _)| disk)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_')
        .any(|one| one == word)
}

/// Adds a change of a setting, and what has to be allowed for it.
fn add(candidate: &mut CandidateChange, setting: &SeenSetting, value: &str) {
    if setting.is_parameter {
        let Some((service, key)) = setting.key.split_once('.') else { return };
        candidate.services.push(ServiceChange::typed(service, key, value));
        candidate.needs.push(Allowance::Restart);
        return;
    }
    candidate.settings.push(SettingChange { key: setting.key.clone(), value: value.into() });
    match setting.id.contains(':') {
        true => {
            candidate.needs.push(Allowance::ServiceConfig);
            let is_restarted = RESTARTED.iter().any(|service| setting.id.starts_with(service));
            candidate.needs.push(if is_restarted { Allowance::Restart } else { Allowance::ServiceReload });
        }
        false => candidate.needs.push(Allowance::Kernel),
    }
}

/// What has to be allowed for a candidate and is not.
pub fn is_allowed(candidate: &CandidateChange, allow: &[Allowance]) -> bool {
    candidate.needs.iter().all(|need| allow.contains(need))
}
