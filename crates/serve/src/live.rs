//! A run while it goes on: a page, and what was added to its folder, as server-sent events.
//!
//! | event | data |
//! |---|---|
//! | `begin` | all intervals so far; sent first, again after a browser has reconnected |
//! | `grown` | intervals since the last event |
//! | `now` | the server's host in the last second: who uses its CPUs, and which limits it shows |
//! | `ended` | the run has ended: its report can be asked for |
//! | `gone` | the folder is gone, or cannot be read any more, with the reason |
//!
//! Each stream follows the folder itself, so that any number of browsers see the same from their first event on.

use crate::answer;
use crate::site::ServedSite;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use sysdyno_index::IndexedRun;
use sysdyno_record::load::Interval;
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::progress::RunNow;
use sysdyno_record::store::{Follower, RunGrowth};
use sysdyno_report::{escape, html};
use tokio::sync::OwnedSemaphorePermit;

/// How often a run is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// After so many looks without anything new, a comment keeps the connection alive, or finds that nobody listens any more.
const QUIET_LOOKS: u32 = 20;

/// A run that nobody on this host writes, and that did not grow for so long, has ended without a word.
const STALE: Duration = Duration::from_secs(15);

/// Maximum number of intervals in the first event: the last hour of a load.
const INTERVALS_MAX: usize = 3_600;

/// Most tiers, and most limits, that are sent at a time, and the longest texts of them.
const LINES_MAX: usize = 16;
const NAME_CHARS: usize = 40;
const TITLE_CHARS: usize = 300;

/// Whether it is shown as it grows.
pub(crate) fn goes_on(run: &IndexedRun) -> bool {
    run.status == Some(RunStatus::Running) && !run.is_incomplete
}

/// The page of a run that goes on.
pub(crate) fn page(run: &IndexedRun, key: Option<&str>) -> Response {
    #[derive(Serialize)]
    struct Live<'a> {
        schema: &'static str,
        run: &'a IndexedRun,
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<&'a str>,
    }
    let data = serde_json::to_string(&Live { schema: "sysdyno.live/1", run, key }).unwrap_or_default();
    let text =
        format!("{} is running. Its report is here when it has ended.\n", escape::terminal(&run.name, 60));
    answer::page(StatusCode::OK, html::render_served(&format!("running – {}", run.name), &text, &data))
}

/// An interval as the page draws it.
#[derive(Serialize)]
struct Point {
    trial: u32,
    phase: &'static str,
    begin_mono_ns: u64,
    end_mono_ns: u64,
    /// Arrivals of an open load, and all that were sent of a closed one.
    scheduled: u64,
    ok: u64,
    failed: u64,
    timed_out: u64,
    in_flight: u64,
    /// Failed requests by class.
    failures: BTreeMap<&'static str, u64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
}

/// The state of a stream between two events.
struct Watch {
    site: Arc<ServedSite>,
    folder: PathBuf,
    follower: Option<Follower>,
    has_begun: bool,
    has_ended: bool,
    /// What a look has found besides, to be sent next.
    waiting: VecDeque<Event>,
    _place: OwnedSemaphorePermit,
}

/// The result of a look at the folder.
enum Seen {
    Grown(Vec<Interval>, Option<RunNow>),
    Ended,
    Gone(String),
}

/// The events of a run.
pub(crate) async fn stream(site: &Arc<ServedSite>, name: String) -> Response {
    let Ok(place) = Arc::clone(&site.streams).try_acquire_owned() else {
        return answer::refusal(StatusCode::SERVICE_UNAVAILABLE, "cannot follow the run: too many pages do");
    };
    let shelf = Arc::clone(&site.shelf);
    let found = tokio::task::spawn_blocking(move || shelf.run(&name)).await;
    let Ok(Ok(Some((_, folder)))) = found else {
        return answer::refusal(StatusCode::NOT_FOUND, "cannot find this run");
    };
    let watch = Watch {
        site: Arc::clone(site),
        folder,
        follower: None,
        has_begun: false,
        has_ended: false,
        waiting: VecDeque::new(),
        _place: place,
    };
    let events = stream::unfold(watch, |mut watch| async {
        let event = watch.next().await?;
        Some((Ok::<_, Infallible>(event), watch))
    });
    Sse::new(events).into_response()
}

impl Watch {
    /// The next event, when there is one; `None`: there are no more.
    async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.waiting.pop_front() {
            return Some(event);
        }
        if self.has_ended {
            return None;
        }
        for _ in 0..QUIET_LOOKS {
            if self.has_begun {
                tokio::time::sleep(LOOK_INTERVAL).await;
            }
            let seen = self.look().await?;
            let is_first = !std::mem::replace(&mut self.has_begun, true);
            match seen {
                Seen::Gone(why) => return Some(self.last("gone", &why)),
                Seen::Ended => return Some(self.last("ended", "the run has ended")),
                Seen::Grown(intervals, now) => {
                    let name = if is_first { "begin" } else { "grown" };
                    let points: Vec<Point> = intervals.iter().map(point).collect();
                    let grown = (is_first || !points.is_empty()).then(|| event(name, &points));
                    self.waiting.extend(grown.into_iter().chain(now.map(|now| event("now", &plain(now)))));
                }
            }
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
        }
        Some(Event::default().comment("still running"))
    }

    fn last(&mut self, name: &str, text: &str) -> Event {
        self.has_ended = true;
        // A data field has one line, and browsers drop an event that has none.
        Event::default().event(name).data(escape::terminal(text, 400))
    }

    /// Looks at the folder, on a thread for work that blocks; `None`: the server ends.
    async fn look(&mut self) -> Option<Seen> {
        let (site, folder, follower) = (Arc::clone(&self.site), self.folder.clone(), self.follower.take());
        let looked = tokio::task::spawn_blocking(move || {
            let mut follower = match follower.map_or_else(|| Follower::open(&folder), Ok) {
                Ok(follower) => follower,
                Err(error) => return (None, Seen::Gone(error.to_string())),
            };
            let seen = match read_all(&mut follower) {
                Ok(growth) => judge(&site, &follower, growth),
                Err(error) => Seen::Gone(error.to_string()),
            };
            (Some(follower), seen)
        });
        let (follower, seen) = looked.await.ok()?;
        self.follower = follower;
        Some(seen)
    }
}

/// All that was added, which at first may take several looks.
fn read_all(follower: &mut Follower) -> Result<RunGrowth, sysdyno_record::RecordError> {
    let mut all = follower.look()?;
    let mut length = all.intervals.len();
    while length > 0 {
        let more = follower.look()?;
        length = more.intervals.len();
        all.intervals.extend(more.intervals);
        let surplus = all.intervals.len().saturating_sub(INTERVALS_MAX);
        all.intervals.drain(..surplus);
        all.written = more.written;
        all.now = more.now.or(all.now);
    }
    Ok(all)
}

/// Whether the run goes on.
fn judge(site: &ServedSite, follower: &Follower, growth: RunGrowth) -> Seen {
    let manifest = follower.manifest();
    let pages = site.shelf.pages();
    let is_stale = || {
        let age = growth.written.and_then(|written| pages.now().duration_since(written).ok());
        age.is_none_or(|age| age > STALE)
    };
    let is_living = || pages.is_living(manifest.pid, manifest.pid_start_ticks);
    match manifest.status {
        RunStatus::Running if is_living() || !is_stale() => Seen::Grown(growth.intervals, growth.now),
        _ => Seen::Ended,
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}

/// As much of it as a page has room for, and no more than plain text.
fn plain(mut now: RunNow) -> RunNow {
    now.uses.tiers.truncate(LINES_MAX);
    now.seen.truncate(LINES_MAX);
    for tier in &mut now.uses.tiers {
        tier.name = escape::terminal(&tier.name, NAME_CHARS);
    }
    for limit in &mut now.seen {
        limit.id = escape::terminal(&limit.id, NAME_CHARS);
        limit.name = escape::terminal(&limit.name, NAME_CHARS);
        limit.title = escape::terminal(&limit.title, TITLE_CHARS);
    }
    now
}

fn point(interval: &Interval) -> Point {
    Point {
        trial: interval.trial,
        phase: interval.phase.name(),
        begin_mono_ns: interval.begin_mono_ns.0,
        end_mono_ns: interval.end_mono_ns.0,
        scheduled: interval.counts.scheduled,
        ok: interval.counts.ok,
        failed: interval.counts.failed,
        timed_out: interval.counts.timed_out,
        in_flight: interval.in_flight_at_end,
        failures: interval.failures.iter().map(|(class, count)| (class.name(), *count)).collect(),
        p50_ns: interval.p50_ns,
        p99_ns: interval.p99_ns,
    }
}
