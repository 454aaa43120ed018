//! Settings that were held during the run, with their hosts.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use sysdyno_record::event::{EventKind, SettingHeld};

/// Longest host, name or value. Unit: characters.
const MAX_CHARS: usize = 400;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let held = input.run.events.iter().filter_map(|event| match &event.event {
        EventKind::Setting(setting) => Some(setting),
        _ => None,
    });
    for (position, setting) in held.enumerate() {
        let label = if position == 0 { "Settings" } else { "" };
        screen.row(Rank::Useful, (Tone::Plain, label), &[(Tone::Plain, &sentence(setting))]);
    }
}

fn sentence(setting: &SettingHeld) -> String {
    let [host, key, before, after] = [&setting.host, &setting.key, &setting.before, &setting.after]
        .map(|text| escape::terminal(text, MAX_CHARS));
    match before == after {
        true => format!("{key} = {after} on {host} (unchanged)"),
        false => format!("{key} = {after} on {host} (was {before})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_told_with_its_host_and_what_another_machine_says_moves_no_cursor() {
        let setting = |before: &str| SettingHeld {
            host: "ssh://root@10.0.0.7".into(),
            key: "net.core.somaxconn".into(),
            before: before.into(),
            after: "64".into(),
        };
        let told = "net.core.somaxconn = 64 on ssh://root@10.0.0.7";
        assert_eq!(sentence(&setting("4096")), format!("{told} (was 4096)"));
        assert_eq!(sentence(&setting("64")), format!("{told} (unchanged)"));
        assert!(!sentence(&setting("\x1b[2J")).contains('\x1b'));
    }
}
