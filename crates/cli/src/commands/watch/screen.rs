//! The full screen of `watch`: samples are kept for ten minutes, keys go back in them.

use super::host::WatchedHost;
use super::{Watching, is_full};
use crate::exit::Exit;
use crate::ui::{FullScreen, Key};
use std::time::Duration;
use sysdyno_report::terminal::Style;
use sysdyno_report::watch::{WatchOverlay, WatchScreen, WatchedSample, screen};
use sysdyno_run::execute::RunJournal;

/// Between two looks for keys, samples, signals, and another size of the terminal.
const TICK: Duration = Duration::from_millis(100);

/// Samples that are kept: ten minutes of one per second.
const SAMPLES_MAX: usize = 600;

/// Samples of a minute at one per second.
const MINUTE: usize = 60;

/// What is seen.
#[derive(Default)]
struct Scroll {
    samples: Vec<WatchedSample>,
    shown: usize,
    is_held: bool,
    chosen: usize,
    overlay: WatchOverlay,
}

/// A host on the screen.
struct Seen {
    watched: WatchedHost,
    scroll: Scroll,
    /// Why nothing more comes from it.
    lost: Option<String>,
}

/// Shows one of the hosts at a time until the end is asked for, or the last one is lost.
pub(super) fn show(
    Watching { hosts, signals, ui }: Watching<'_>,
    mut journal: Option<&mut RunJournal<'_>>,
) -> anyhow::Result<Exit> {
    let mut terminal = FullScreen::open()?;
    let begin = |watched| Seen { watched, scroll: Scroll::default(), lost: None };
    let mut hosts: Vec<Seen> = hosts.into_iter().map(begin).collect();
    let mut shown = 0;
    let mut drawn: Option<Style> = None;
    while !signals.is_interrupted() {
        let mut is_new = false;
        for (position, host) in hosts.iter_mut().enumerate() {
            is_new |= host.take(journal.as_deref_mut()) && position == shown;
        }
        if hosts.len() == 1
            && let Some(lost) = &hosts[0].lost
        {
            anyhow::bail!("{lost}");
        }
        if is_full(journal.as_deref()) {
            return Ok(Exit::Untrusted);
        }
        let style = ui.screen_style();
        if is_new || drawn != Some(style) {
            terminal.draw(&hosts[shown].lines(hosts.len(), &style));
            drawn = Some(style);
        }
        match terminal.key(TICK)? {
            None => continue,
            Some(Key::Char('q' | '\u{3}')) => break,
            Some(Key::Char('\t')) => shown = (shown + 1) % hosts.len(),
            Some(key) => hosts[shown].scroll.press(key),
        }
        drawn = None;
    }
    Ok(Exit::Done)
}

impl Seen {
    /// Takes the samples that have come; returns whether there is something new to be seen.
    fn take(&mut self, mut journal: Option<&mut RunJournal<'_>>) -> bool {
        let mut is_new = false;
        while self.lost.is_none() {
            match self.watched.poll(journal.as_deref_mut()) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    self.scroll.keep(WatchedSample { frame, findings: self.watched.host.findings() });
                    is_new |= !self.scroll.is_held;
                }
                Err(error) => {
                    self.lost = Some(format!("{error:#}"));
                    is_new = true;
                }
            }
        }
        is_new
    }

    fn lines(&self, hosts_count: usize, style: &Style) -> Vec<String> {
        let Scroll { samples, shown, is_held, chosen, overlay } = &self.scroll;
        let view = WatchScreen {
            host: self.watched.name.as_deref(),
            hosts_count,
            lost: self.lost.as_deref(),
            samples,
            shown: *shown,
            is_held: *is_held,
            chosen: *chosen,
            overlay: *overlay,
        };
        screen(&view, style)
    }
}

impl Scroll {
    /// Takes the next sample; what is seen stays if it is held.
    fn keep(&mut self, sample: WatchedSample) {
        if self.samples.len() == SAMPLES_MAX {
            self.samples.remove(0);
            self.shown = self.shown.saturating_sub(1);
        }
        self.samples.push(sample);
        if !self.is_held {
            self.shown = self.samples.len() - 1;
        }
    }

    /// Does what a key asks for.
    fn press(&mut self, key: Key) {
        let last = self.samples.len().saturating_sub(1);
        match key {
            Key::Left => self.go(self.shown.saturating_sub(1)),
            Key::Right => self.go(self.shown + 1),
            Key::PageUp => self.go(self.shown.saturating_sub(MINUTE)),
            Key::PageDown => self.go(self.shown + MINUTE),
            Key::End => (self.shown, self.is_held) = (last, false),
            Key::Up => self.chosen = self.chosen.saturating_sub(1),
            Key::Down => {
                let findings = self.samples.get(self.shown).map_or(0, |sample| sample.findings.len());
                self.chosen = (self.chosen + 1).min(findings.saturating_sub(1));
            }
            Key::Char('p' | ' ') => {
                self.is_held = !self.is_held;
                self.shown = if self.is_held { self.shown } else { last };
            }
            Key::Char('e' | '\r' | '\n') => self.toggle(WatchOverlay::Finding),
            Key::Char('t') => self.toggle(WatchOverlay::Threads),
            Key::Char('?') => self.toggle(WatchOverlay::Keys),
            Key::Char(_) => self.overlay = WatchOverlay::Panels,
        }
    }

    /// Holds another sample; going beyond the last one is the present again.
    fn go(&mut self, to: usize) {
        let last = self.samples.len().saturating_sub(1);
        self.is_held = to < last;
        self.shown = to.min(last);
    }

    fn toggle(&mut self, overlay: WatchOverlay) {
        self.overlay = if self.overlay == overlay { WatchOverlay::Panels } else { overlay };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::live::HostFrame;
    use sysdyno_record::units::WallNs;

    fn scroll(samples: u64) -> Scroll {
        let mut scroll = Scroll::default();
        (0..samples).for_each(|number| scroll.keep(sample(number)));
        scroll
    }

    fn sample(number: u64) -> WatchedSample {
        WatchedSample {
            frame: HostFrame { unix_ns: WallNs(number), ..HostFrame::default() },
            findings: vec![],
        }
    }

    fn seen(scroll: &Scroll) -> (u64, bool) {
        (scroll.samples[scroll.shown].frame.unix_ns.0, scroll.is_held)
    }

    #[test]
    fn what_is_held_stays_until_it_is_forgotten() {
        let mut scroll = scroll(600);
        assert_eq!(seen(&scroll), (599, false));
        scroll.press(Key::Left);
        scroll.press(Key::PageUp);
        assert_eq!(seen(&scroll), (538, true));
        scroll.keep(sample(600));
        assert_eq!(seen(&scroll), (538, true), "the oldest one went, this one stays");
        (601..1300).for_each(|number| scroll.keep(sample(number)));
        assert_eq!((seen(&scroll), scroll.samples.len()), ((700, true), 600));
        scroll.press(Key::End);
        assert_eq!(seen(&scroll), (1299, false));
    }

    #[test]
    fn going_on_beyond_the_last_sample_is_the_present() {
        let mut scroll = scroll(3);
        scroll.press(Key::Char('p'));
        assert_eq!(seen(&scroll), (2, true));
        scroll.press(Key::Left);
        scroll.press(Key::Right);
        assert_eq!(seen(&scroll), (2, false));
        (0..5).for_each(|_| scroll.press(Key::Left));
        assert_eq!(seen(&scroll), (0, true));
        scroll.press(Key::PageDown);
        assert_eq!(seen(&scroll), (2, false));
    }

    #[test]
    fn any_other_key_leads_back_to_the_panels() {
        let mut scroll = scroll(1);
        scroll.press(Key::Char('?'));
        assert_eq!(scroll.overlay, WatchOverlay::Keys);
        scroll.press(Key::Char('e'));
        assert_eq!(scroll.overlay, WatchOverlay::Finding);
        scroll.press(Key::Char('x'));
        assert_eq!(scroll.overlay, WatchOverlay::Panels);
        scroll.press(Key::Down);
        assert_eq!(scroll.chosen, 0, "there is nothing to choose");
    }
}
