//! What the server's logs and the kernel log said while requests failed: servers log most of the reasons for which they
//! fail.

pub(super) mod known;

use super::effect::{EXPLAINED, Slow};
use super::gateway;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, confidence, evidence, excluded, seen_in};
use crate::format::{counted, name, percent};
use crate::logged::LoggedMessage;
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use known::{Known, OF_KERNEL, OF_SERVERS};
use sysdyno_record::analysis::{Confidence, Evidence, EvidenceRole, Finding};
use sysdyno_record::column::{self, Quantity, log_scope};

const LINES: Threshold = Threshold::new("lines of one message in a log of the server", 5.0, "count", HOUSE);
const FAILED: Threshold =
    Threshold::new("lines of the message ÷ requests that failed or timed out", 0.5, "ratio", HOUSE);

/// Failed requests that confirm a line that is written once a second. Unit: count.
const FAILED_MIN: f64 = 5.0;

/// What speaks against a line that tells what follows from a cause.
const NOT_WHY: &str = "it tells that another tier failed or was slow, not why";

/// L01.
pub(super) const SERVER: Rule = Rule {
    id: "L01",
    name: "server-log",
    meaning: "The server says in its own log why requests fail.",
    thresholds: &[LINES, FAILED],
    place: Place::Server,
    needs: &[column::LOG_ERRORS],
    remedy: "read the line: it says what failed, and where",
    counterfactual: "without that line in the log as many requests would fail",
    examine: Examination::By(examine_server),
};

/// L02.
pub(super) const KERNEL: Rule = Rule {
    id: "L02",
    name: "kernel-log",
    meaning: "The kernel's log names a limit that was reached, or hardware that fails.",
    thresholds: &[],
    place: Place::Server,
    needs: &[column::LOG_LINES],
    remedy: "read the line: it says what failed",
    counterfactual: "without that line in the log rate and tail would be the same",
    examine: Examination::By(examine_kernel),
};

/// A message with what it is known to mean.
struct Said<'a> {
    message: LoggedMessage<'a>,
    /// Its lines, those included that were too many to be read, as far as they are like the others.
    count: f64,
    known: Option<&'static Known>,
}

impl<'a> Said<'a> {
    fn new(message: LoggedMessage<'a>, window: &Window, list: &'static [Known]) -> Said<'a> {
        let scope = log_scope(&message.lines.log);
        let grown = |counter: Quantity| window.growth(counter, &scope).map_or(0.0, |growth| growth.amount);
        let skipped = grown(column::LOG_SKIPPED) / (message.lines.example.len() + 1) as f64;
        let read = grown(column::LOG_LINES);
        let times = ratio(read + skipped, read).unwrap_or(1.0);
        let count = (message.likely_count as f64 * times).round();
        Said { message, count, known: known::find(&message.lines.example, list) }
    }
}

impl Said<'_> {
    /// Whether it is known to be a cause, and not what follows from one.
    fn is_cause(&self) -> bool {
        self.known.is_some_and(|known| !known.is_symptom)
    }

    /// Whether there are fewer such lines than there are reasons for them.
    fn is_rationed(&self) -> bool {
        self.known.is_some_and(|known| known.is_rationed)
    }

    /// `nginx logged it 1,204 times`.
    fn counted(&self, what: &str) -> String {
        let lines = self.message.lines;
        let who = if self.message.is_of_kernel() {
            "the kernel".to_owned()
        } else {
            lines.command.as_deref().map_or_else(|| name(&lines.log), name)
        };
        let about = if self.count > self.message.most_count as f64 { "about " } else { "" };
        let count = counted(self.count.max(1.0), "time");
        format!("{who} logged {what}{about}{count}")
    }

    /// `nginx logged 1,204 times: connect() to …`.
    fn text(&self) -> String {
        format!("{}: {}", self.counted(""), line(&self.message.lines.example))
    }

    fn evidence(&self, role: EvidenceRole, scene: &Scene) -> Evidence {
        let window = scene.focus.server_steady();
        let seen = evidence(role, &window, &name(&self.message.lines.log), self.text());
        seen_in(column::LOG_LINES.at(&log_scope(&self.message.lines.log)), seen)
    }
}

fn examine_server<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let counts = view.counts();
    let failed = counts.failed as f64 + counts.timed_out as f64;
    let all = view.logged_by_server().into_iter().filter(|message| !message.is_of_kernel());
    let said = all.map(|message| Said::new(message, &window, OF_SERVERS));
    // Where no request failed, only what is known to hold requests up is told: other lines are of somebody else's.
    let said = said.filter(|said| failed > 0.0 || said.is_cause());
    let rank =
        |said: &Said| (said.is_cause(), said.is_rationed(), said.message.lines.severity, said.count as u64);
    let enough = said.filter(|said| said.count >= LINES.value || said.is_rationed());
    let Some(worst) = enough.max_by_key(rank) else {
        let scopes = window.scopes(column::LOG_ERRORS);
        let lines = scopes.iter().filter_map(|scope| window.growth(column::LOG_ERRORS, scope));
        let lines: f64 = lines.map(|growth| growth.amount).sum();
        let text =
            format!("{} in {} of the server", counted(lines, "error"), counted(scopes.len() as f64, "log"));
        let against =
            (!scopes.is_empty()).then(|| evidence(EvidenceRole::Against, &window, "/proc/PID/fd", text));
        return excluded("The server's logs name no cause", against.into_iter().collect());
    };
    let lines = worst.count;
    let mut found = vec![worst.evidence(EvidenceRole::Mechanism, scene)];
    if worst.is_rationed() && failed >= FAILED_MIN {
        let text = format!("{} failed meanwhile", counted(failed, "request"));
        found.push(evidence(EvidenceRole::Confirmer, &view.steady(), ENGINE, text));
    } else if let Some(part) = ratio(lines, failed).filter(|part| *part >= FAILED.value) {
        let text = format!(
            "{} failed, for {} of which there is such a line",
            counted(failed, "request"),
            percent(part.min(1.0))
        );
        found.push(evidence(EvidenceRole::Confirmer, &view.steady(), ENGINE, text));
    }
    if worst.known.is_some_and(|known| known.is_symptom) {
        found.push(evidence(EvidenceRole::Against, &window, "the server's log", NOT_WHY.to_owned()));
    }
    let slow = Slow::Delayed { count: lines, most_ns: f64::INFINITY };
    let reach = match worst.is_rationed() {
        true => Reach { failures: failed, ..Reach::used_up(view, 1.0) },
        false => Reach { failures: lines, slow, events: Some(lines) },
    };
    Some(case(&worst, "The server's log says why", found, reach))
}

/// What the kernel counts and the server's log says as well is certain: the line confirms the counter.
pub(super) fn confirm(findings: &mut [Finding]) {
    let cause = |finding: &Finding| finding.title.split_once(": ").map(|(cause, _)| cause.to_owned());
    let said = findings.iter().find(|one| one.id == SERVER.id && one.confidence > Confidence::Excluded);
    let Some((said, line)) = said.and_then(|said| Some((cause(said)?, said.evidence.first()?.clone())))
    else {
        return;
    };
    let is_same = |one: &&mut Finding| one.id != SERVER.id && cause(one).is_some_and(|cause| cause == said);
    for finding in findings.iter_mut().filter(is_same).filter(|one| one.confidence == Confidence::Possible) {
        finding.evidence.push(Evidence { role: EvidenceRole::Confirmer, ..line.clone() });
        finding.evidence.sort_by_key(|evidence| evidence.role as u8);
        finding.confidence = confidence(&finding.evidence).unwrap_or(finding.confidence);
    }
}

/// A line that tells what another tier did is the best answer where nothing else explains what failed.
pub(super) fn settle(findings: &mut [Finding]) {
    let explains = |finding: &Finding| {
        let explained = finding.explained_ratio.is_none_or(|explained| explained >= EXPLAINED.value);
        finding.confidence > Confidence::Excluded && explained
    };
    let is_same = |finding: &Finding| [SERVER.id, gateway::BAD_GATEWAY.id].contains(&finding.id.as_str());
    if findings.iter().any(|finding| explains(finding) && !is_same(finding)) {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| finding.id == SERVER.id) {
        finding.evidence.retain(|seen| seen.text != NOT_WHY);
        finding.confidence = confidence(&finding.evidence).unwrap_or(finding.confidence);
    }
}

fn examine_kernel<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let all = view.logged_by_server().into_iter().filter(LoggedMessage::is_of_kernel);
    let window = view.server_steady();
    let said = all.map(|message| Said::new(message, &window, OF_KERNEL)).filter(|said| said.known.is_some());
    let worst = said.max_by(|a, b| a.count.total_cmp(&b.count))?;
    // The kernel writes few of its lines: how many there are says little.
    let reach = Reach { events: None, ..Reach::used_up(view, 1.0) };
    let found = vec![worst.evidence(EvidenceRole::Mechanism, scene)];
    Some(case(&worst, "The kernel's log says why", found, reach))
}

fn case<'a>(said: &Said, otherwise: &str, found: Vec<Evidence>, reach: Reach) -> Case<'a> {
    let title = match said.known {
        Some(known) => format!("{}: {}", known.cause, said.counted("it ")),
        None => format!("{otherwise}: {}", said.text()),
    };
    let remedy = said.known.map(|known| known.remedy.to_owned());
    Case { remedy, ..Case::new(title, found, reach) }
}

/// The line as it is quoted: in quotes, without line ends, and without the time and the process in front of its words.
fn line(example: &str) -> String {
    let example = words_of(example);
    let kept: String = example
        .chars()
        .take(LINE_CHARS_MAX)
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect();
    let more = if example.chars().count() > LINE_CHARS_MAX { "…" } else { "" };
    format!("'{kept}{more}'")
}

/// A line without what most of its log's lines begin with: `2026/11/27 09:52:44 [error] 32601#32601: *12`,
/// `[Fri Nov 27 09:52:44 2026] [proxy:error] [pid 7:tid 8]`, `Nov 27 09:52:44`; all of it, if nothing else is left.
fn words_of(line: &str) -> &str {
    const MARKS: &[u8] = b"/-:.,+#*TZ";
    const NAMES: [&str; 19] = [
        "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
        "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    // A number by itself belongs to the words, unless more of the prefix follows.
    let is_prefix = |(word, after): (&str, &str)| {
        let next = after.split(' ').nth(1).unwrap_or_default();
        let goes_on = next.starts_with('[') || next.split(':').all(|part| part.parse::<u8>().is_ok());
        let is_marked = word.bytes().any(|byte| MARKS.contains(&byte)) || goes_on;
        let is_part = |byte: u8| byte.is_ascii_digit() || MARKS.contains(&byte);
        let has_digits = word.bytes().any(|byte| byte.is_ascii_digit());
        has_digits && is_marked && word.bytes().all(is_part) || NAMES.contains(&word)
    };
    let mut rest = line.trim_start();
    loop {
        let end = match rest.starts_with('[') {
            true => rest.find(']').map(|end| end + 1),
            false => rest.find(' ').filter(|end| is_prefix(rest.split_at(*end))),
        };
        match end.map(|end| rest[end..].trim_start()).filter(|after| !after.is_empty()) {
            Some(after) => rest = after,
            None => return rest,
        }
    }
}

/// Of a line that is quoted. Unit: characters.
const LINE_CHARS_MAX: usize = 200;

#[cfg(test)]
mod tests;
