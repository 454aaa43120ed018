//! The report as one HTML file that opens from disk without a network.
//!
//! The page is made in `web/` and committed as `assets/report.html`: markup, style and script in one file, with three
//! places to fill. Its Content-Security-Policy allows nothing but this one script and this one style, by their hashes;
//! the record is put into a data block that is not executed. Without scripts the reader sees the terminal's screen.
//!
//! Invariants: no byte of the record can end the element that it stands in (tested with hostile records); every value
//! of the record is text in the page, never markup.

mod autotune;
mod encode;
mod heat;
mod payload;
mod probe;
mod squeeze;
mod tryout;

use crate::autotune::AutotuneInput;
use crate::input::ReportInput;
use crate::probe::{self as probe_text, ProbeInput};
use crate::squeeze::SqueezeInput;
use crate::terminal::{self, Style};
use crate::tryout::{TryInput, action_text, word_badge};
use crate::watch::{RecordedInput, recorded_screen};
use serde::Serialize;
use sysdyno_record::comparison::RunsComparison;
use sysdyno_record::manifest::Tool;
use sysdyno_record::plan::Plan;
use sysdyno_record::profile::{Profile, ProfileSummary};
use sysdyno_record::units::WallNs;

/// The page without a record. Made by `npm run build` in `web/`.
const PAGE: &str = include_str!("../../assets/report.html");

/// Stands where the title goes.
const TITLE: &str = "<!--sysdyno:title-->";
/// Stands where the terminal's screen goes, for readers without scripts.
const TEXT: &str = "<!--sysdyno:text-->";
/// Stands where the record goes, inside a data block.
const DATA: &str = "<!--sysdyno:data-->";

/// Columns of the terminal's screen in the page.
const TEXT_COLUMNS: usize = 100;

/// The report of a record: a complete HTML document.
pub fn render(input: &ReportInput<'_>) -> String {
    let style = Style { width_columns: TEXT_COLUMNS, ..Style::default() };
    let (screen, subject) = match input.run.plan {
        Some(plan @ Plan::Watch(watch)) => {
            let recorded = RecordedInput { folder: input.folder, plan: Some(plan), analysis: input.analysis };
            (recorded_screen(&recorded, &style), watch.host.as_deref().unwrap_or("watched host"))
        }
        _ => (terminal::render(input, &style), input.url()),
    };
    let title = format!("{} – {subject}", input.analysis.verdict.status.name());
    let data =
        serde_json::to_string(&payload::payload(input)).expect("string keys and no custom serialisers");
    document(&title, &screen, &data)
}

/// The report of a tryout: a complete HTML document.
pub fn render_tryout(input: &TryInput<'_>) -> String {
    let screen = terminal::render_tryout(input, &Style { width_columns: TEXT_COLUMNS, ..Style::default() });
    let about = input.variants().map_or_else(String::new, |[_, b]| action_text(&b.action));
    let title = format!("{} – {about}", word_badge(input.conclusion.verdict.word));
    let data = serde_json::to_string(&tryout::payload(input)).expect("string keys and no custom serialisers");
    document(&title, &screen, &data)
}

/// The report of a squeeze: a complete HTML document.
pub fn render_squeeze(input: &SqueezeInput<'_>) -> String {
    let style = Style { width_columns: TEXT_COLUMNS, ..Style::default() };
    let screen = terminal::render_squeeze(input, &style);
    let title = format!("Squeeze – {}", input.url());
    let data =
        serde_json::to_string(&squeeze::payload(input)).expect("string keys and no custom serialisers");
    document(&title, &screen, &data)
}

/// The report of an autotune: a complete HTML document.
pub fn render_autotune(input: &AutotuneInput<'_>) -> String {
    let style = Style { width_columns: TEXT_COLUMNS, ..Style::default() };
    let screen = terminal::render_autotune(input, &style);
    let title = format!("Autotune – {}", input.url());
    let data =
        serde_json::to_string(&autotune::payload(input)).expect("string keys and no custom serialisers");
    document(&title, &screen, &data)
}

/// The report of a probe that ran alone: a complete HTML document.
pub fn render_probe(input: &ProbeInput<'_>) -> String {
    let style = Style { width_columns: TEXT_COLUMNS, ..Style::default() };
    let text = probe_text::result(input, &style);
    let title = format!("probe – {}", input.conclusion.headline);
    let data = serde_json::to_string(&probe::payload(input)).expect("string keys and no custom serialisers");
    document(&title, &text, &data)
}

/// The page of a comparison of runs: a complete HTML document. `profiles`: those of the first and the second run, where each has one.
pub fn render_comparison(comparison: &RunsComparison, profiles: Option<[&Profile; 2]>) -> String {
    let style = Style { width_columns: TEXT_COLUMNS, ..Style::default() };
    let screen = crate::compare::render(comparison, None, &style);
    let title = format!("Comparison – {}", comparison.headline);
    let payload = ComparisonPayload { comparison, profiles };
    let data = serde_json::to_string(&payload).expect("string keys and no custom serialisers");
    document(&title, &screen, &data)
}

#[derive(Serialize)]
struct ComparisonPayload<'a> {
    #[serde(flatten)]
    comparison: &'a RunsComparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    profiles: Option<[&'a Profile; 2]>,
}

/// The page of a profile: a complete HTML document.
pub fn render_profile(profile: &Profile, summary: &ProfileSummary, made: &ProfileMade<'_>) -> String {
    let style = Style { width_columns: TEXT_COLUMNS, ..Style::default() };
    let screen = crate::profile::screen(profile, summary, None, &style);
    let title = format!("Profile – {}", made.subject);
    let payload = ProfilePayload { schema: "sysdyno.report-profile/1", made, profile, summary };
    let data = serde_json::to_string(&payload).expect("string keys and no custom serialisers");
    document(&title, &screen, &data)
}

/// Where and when a profile on its own was taken.
#[derive(Debug, Serialize)]
pub struct ProfileMade<'a> {
    /// What was profiled: the host, or processes. Untrusted.
    pub subject: &'a str,
    /// The program that took it.
    pub tool: &'a Tool,
    /// When it began.
    pub started_unix_ns: WallNs,
}

#[derive(Serialize)]
struct ProfilePayload<'a> {
    schema: &'static str,
    #[serde(flatten)]
    made: &'a ProfileMade<'a>,
    profile: &'a Profile,
    summary: &'a ProfileSummary,
}

/// A page of `sysdyno serve`, whose data is made where it is served: a complete HTML document.
///
/// `json` is what the page's script draws, by its `schema`.
pub fn render_served(title: &str, text: &str, json: &str) -> String {
    served(document(title, text, json))
}

/// A page of the report as it is served: it may ask the server that it came from, and nobody else, and links back to it.
pub fn served(page: String) -> String {
    // Both stand before anything that a record says.
    page.replacen("default-src 'none';", "default-src 'none'; connect-src 'self';", 1).replacen(
        "<div id=\"page\">",
        "<div id=\"page\" data-served>",
        1,
    )
}

/// The page with this title, this text for readers without scripts, and this JSON for the script.
fn document(title: &str, text: &str, json: &str) -> String {
    fill(&[(TITLE, &markup(title)), (TEXT, &markup(text)), (DATA, &data_block(json))])
}

/// The page with each placeholder replaced once, in the order in which they stand in it.
fn fill(parts: &[(&str, &str)]) -> String {
    let mut rest = PAGE;
    let mut page =
        String::with_capacity(PAGE.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    for (placeholder, part) in parts {
        let (before, after) = rest.split_once(placeholder).expect("the committed page has every placeholder");
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page + rest
}

/// Text as it must stand between the tags of an element.
fn markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ if letter.is_control() && letter != '\n' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// JSON as it must stand in a `script` element: without any character that could end it or begin a comment.
///
/// All of these stand only inside strings of JSON, where `\u` escapes mean the same. Source: HTML standard,
/// "Restrictions for contents of script elements".
fn data_block(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(letter)))
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_each_placeholder_once_and_in_order() {
        let positions = [TITLE, TEXT, DATA].map(|placeholder| {
            assert_eq!(PAGE.matches(placeholder).count(), 1, "{placeholder}");
            PAGE.find(placeholder)
        });
        assert!(positions.is_sorted());
    }

    #[test]
    fn the_page_allows_only_its_own_script_and_style() {
        let policy =
            PAGE.split("Content-Security-Policy\" content=\"").nth(1).expect("the page has a policy");
        let policy = policy.split('"').next().expect("the attribute ends");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(PAGE.len() < 500_000, "{}", PAGE.len());
        for forbidden in
            ["http-equiv=\"refresh\"", "<link", "<iframe", "<img", " onload=", " onclick=", "src=\"http"]
        {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn a_served_page_may_ask_its_server_and_nobody_else() {
        let page = render_served("default-src 'none'; <div id=\"page\">", "a < b", "{}");
        let policy = page.split("Content-Security-Policy\" content=\"").nth(1).expect("a policy");
        assert!(
            policy.starts_with("default-src 'none'; connect-src 'self'; script-src 'sha256-"),
            "{policy}"
        );
        assert_eq!(page.matches("connect-src").count(), 1);
        assert_eq!(page.matches("<div id=\"page\" data-served>").count(), 1);
        assert_eq!(page.matches("<div id=\"page\">").count(), 0);
    }

    #[test]
    fn no_text_can_leave_its_element() {
        let text = "</script><script>alert(1)</script><!--&\u{2028}\"'\u{1b}";
        assert_eq!(
            markup(text),
            "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&amp;\u{2028}&quot;&#39;\u{fffd}"
        );
        let json = serde_json::to_string(text).expect("serialises");
        let block = data_block(&json);
        assert!(!block.contains(['<', '>', '&', '\u{2028}']), "{block}");
        assert_eq!(serde_json::from_str::<String>(&block).expect("parses"), text);
    }
}
