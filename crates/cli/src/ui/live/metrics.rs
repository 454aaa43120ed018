//! Metrics of a running load: Prometheus asks for them, or they are pushed to it, from a thread of their own.

use super::super::Ui;
use crate::args::LiveOptions;
use anyhow::Context;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;
use sysdyno_analyze::live::RunMeter;
use sysdyno_record::metrics::{MetricFamily, MetricLabel};
use sysdyno_record::units::WallNs;
use sysdyno_report::metrics::remote_write::{self, SeriesState};
use sysdyno_report::metrics::text::{self, MetricsText};
use sysdyno_run::clock;
use sysdyno_serve::{PushError, RemoteWriter, ScrapeServer, ScrapedText};

/// Between two messages.
const PUSH_INTERVAL: Duration = Duration::from_secs(2);

/// A meter that a thread writes, and others read.
type SharedMeter = Arc<Mutex<RunMeter>>;

/// Where the metrics of a load go.
#[derive(Debug)]
pub struct MetricsOutput {
    meter: SharedMeter,
    _server: Option<ScrapeServer>,
    pusher: Option<Pusher>,
}

/// A thread that writes to a URL.
#[derive(Debug)]
struct Pusher {
    url: String,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Pushed>,
}

/// What came of pushing.
#[derive(Debug, Default)]
struct Pushed {
    sent_count: u64,
    failed_count: u64,
    failure: Option<PushError>,
}

impl MetricsOutput {
    /// The outputs that were asked for; `None`: there are none.
    ///
    /// # Errors
    /// The address cannot be listened on, or the URL cannot be written to.
    pub fn start(options: &LiveOptions, ui: &Ui) -> anyhow::Result<Option<MetricsOutput>> {
        if options.prometheus.is_none() && options.remote_write.is_none() {
            return Ok(None);
        }
        let meter = SharedMeter::default();
        let pusher = options.remote_write.as_deref().map(|url| Pusher::start(url, &meter)).transpose()?;
        let server = options.prometheus.map(|listen| {
            let meter = Arc::clone(&meter);
            ScrapeServer::start(listen, Arc::new(move |accept| scraped(&meter, accept)))
        });
        let server = server.transpose()?;
        if let Some(server) = &server {
            ui.note(&format!("metrics: http://{}/metrics", server.address()));
        }
        Ok(Some(MetricsOutput { meter, _server: server, pusher }))
    }

    /// The meter, to be told what happens.
    pub fn meter(&self) -> MutexGuard<'_, RunMeter> {
        locked(&self.meter)
    }

    /// Pushes the last values and ends the series; says what could not be pushed.
    pub fn finish(self, ui: &Ui) {
        let Some(pusher) = self.pusher else { return };
        pusher.is_over.store(true, Ordering::Relaxed);
        let thread: &Thread = pusher.thread.thread();
        thread.unpark();
        let Ok(pushed) = pusher.thread.join() else { return };
        if let Some(failure) = pushed.failure {
            let all = pushed.sent_count + pushed.failed_count;
            let mut text = String::new();
            let _ = write!(text, "warning: cannot write metrics to '{}': {failure}", pusher.url);
            let _ = write!(text, " ({} of {all} messages were lost)", pushed.failed_count);
            ui.note(&text);
        }
    }
}

impl Pusher {
    fn start(url: &str, meter: &SharedMeter) -> anyhow::Result<Pusher> {
        let writer = RemoteWriter::new(url)?;
        let meter = Arc::clone(meter);
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let labels = [("job", "sysdyno".to_owned()), ("instance", host)]
            .map(|(name, value)| MetricLabel { name, value });
        let thread = std::thread::Builder::new()
            .name("push".into())
            .spawn(move || push(&writer, &labels, &meter, &over))
            .context("cannot start a thread for --remote-write")?;
        Ok(Pusher { url: url.to_owned(), is_over, thread })
    }
}

fn push(writer: &RemoteWriter, labels: &[MetricLabel], meter: &SharedMeter, over: &AtomicBool) -> Pushed {
    let mut pushed = Pushed::default();
    let mut send = |families: &[MetricFamily], at: WallNs, state| match writer
        .send(remote_write::render(families, labels, at, state))
    {
        Ok(()) => pushed.sent_count += 1,
        Err(error) => {
            pushed.failed_count += 1;
            pushed.failure = Some(error);
        }
    };
    loop {
        let is_over = over.load(Ordering::Relaxed);
        let (families, now) = (locked(meter).families(), clock::wall());
        send(&families, now, SeriesState::Living);
        if is_over {
            send(&families, WallNs(now.0 + 1_000_000), SeriesState::Ended);
            return pushed;
        }
        std::thread::park_timeout(PUSH_INTERVAL);
    }
}

fn scraped(meter: &SharedMeter, accept: &str) -> ScrapedText {
    let families = locked(meter).families();
    let form = MetricsText::accepted(accept);
    ScrapedText { media_type: form.media_type(), text: text::render(&families, form) }
}

/// The meter is complete after each change, so that one who panicked has left no half of it.
fn locked(meter: &Mutex<RunMeter>) -> MutexGuard<'_, RunMeter> {
    meter.lock().unwrap_or_else(PoisonError::into_inner)
}
