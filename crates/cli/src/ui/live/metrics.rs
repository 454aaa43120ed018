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
use sysdyno_record::metrics::{MetricFamily, MetricLabel, ended};
use sysdyno_record::units::WallNs;
use sysdyno_report::metrics::otlp::{self, OtlpSource};
use sysdyno_report::metrics::remote_write;
use sysdyno_report::metrics::text::{self, MetricsText};
use sysdyno_run::clock;
use sysdyno_serve::{MetricsPusher, PushError, PushProtocol, ScrapeServer, ScrapedText};

/// Between two messages.
const PUSH_INTERVAL: Duration = Duration::from_secs(2);

/// A meter that a thread writes, and others read.
type SharedMeter = Arc<Mutex<RunMeter>>;

/// Where the metrics of a load go.
#[derive(Debug)]
pub struct MetricsOutput {
    meter: SharedMeter,
    _server: Option<ScrapeServer>,
    pushers: Vec<Pusher>,
}

/// A thread that pushes to a URL.
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
        let LiveOptions { prometheus, remote_write, otlp } = options;
        let pushed = [(remote_write, PushProtocol::RemoteWrite), (otlp, PushProtocol::Otlp)];
        let pushed: Vec<(&str, PushProtocol)> =
            pushed.iter().filter_map(|(url, protocol)| Some((url.as_deref()?, *protocol))).collect();
        if prometheus.is_none() && pushed.is_empty() {
            return Ok(None);
        }
        let meter = SharedMeter::default();
        let pushers = pushed.into_iter().map(|(url, protocol)| Pusher::start(url, protocol, &meter));
        let pushers = pushers.collect::<anyhow::Result<Vec<_>>>()?;
        let server = prometheus.map(|listen| {
            let meter = Arc::clone(&meter);
            ScrapeServer::start(listen, Arc::new(move |accept| scraped(&meter, accept)))
        });
        let server = server.transpose()?;
        if let Some(server) = &server {
            ui.note(&format!("metrics: http://{}/metrics", server.address()));
        }
        Ok(Some(MetricsOutput { meter, _server: server, pushers }))
    }

    /// The meter, to be told what happens.
    pub fn meter(&self) -> MutexGuard<'_, RunMeter> {
        locked(&self.meter)
    }

    /// Pushes the last values and ends the series; says what could not be pushed.
    pub fn finish(self, ui: &Ui) {
        for pusher in &self.pushers {
            pusher.is_over.store(true, Ordering::Relaxed);
            let thread: &Thread = pusher.thread.thread();
            thread.unpark();
        }
        for pusher in self.pushers {
            let Ok(pushed) = pusher.thread.join() else { continue };
            if let Some(failure) = pushed.failure {
                let all = pushed.sent_count + pushed.failed_count;
                let mut text = String::new();
                let _ = write!(text, "warning: cannot push metrics to '{}': {failure}", pusher.url);
                let _ = write!(text, " ({} of {all} messages were lost)", pushed.failed_count);
                ui.note(&text);
            }
        }
    }
}

impl Pusher {
    fn start(url: &str, protocol: PushProtocol, meter: &SharedMeter) -> anyhow::Result<Pusher> {
        let pushing = Pushing {
            writer: MetricsPusher::new(url, protocol)?,
            protocol,
            labels: labels(protocol),
            began: clock::wall(),
            pushed: Pushed::default(),
        };
        let meter = Arc::clone(meter);
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::Builder::new()
            .name("push".into())
            .spawn(move || pushing.until(&meter, &over))
            .context("cannot start a thread that pushes metrics")?;
        Ok(Pusher { url: url.to_owned(), is_over, thread })
    }
}

/// Who the series are of; Prometheus calls `service.name` the job, and the id of the instance the instance.
fn labels(protocol: PushProtocol) -> Vec<MetricLabel> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let [job, instance] = match protocol {
        PushProtocol::RemoteWrite => ["job", "instance"],
        PushProtocol::Otlp => ["service.name", "service.instance.id"],
    };
    [(job, "sysdyno".to_owned()), (instance, host)].map(|(name, value)| MetricLabel { name, value }).into()
}

/// What a thread that pushes works with.
struct Pushing {
    writer: MetricsPusher,
    protocol: PushProtocol,
    labels: Vec<MetricLabel>,
    began: WallNs,
    pushed: Pushed,
}

impl Pushing {
    /// Pushes until it is over, then the last values, and the end of the series.
    fn until(mut self, meter: &SharedMeter, over: &AtomicBool) -> Pushed {
        let mut before: Vec<MetricFamily> = Vec::new();
        loop {
            let is_over = over.load(Ordering::Relaxed);
            let (families, now) = (locked(meter).families(), clock::wall());
            let gone = ended(&before, &families);
            self.send(&[families.clone(), gone].concat(), now);
            if is_over {
                self.send(&ended(&families, &[]), WallNs(now.0 + 1_000_000));
                return self.pushed;
            }
            before = families;
            std::thread::park_timeout(PUSH_INTERVAL);
        }
    }

    fn send(&mut self, families: &[MetricFamily], at: WallNs) {
        let message = match self.protocol {
            PushProtocol::RemoteWrite => remote_write::render(families, &self.labels, at),
            PushProtocol::Otlp => {
                let source = OtlpSource { resource: &self.labels, began: self.began, at };
                otlp::render(families, source)
            }
        };
        match self.writer.send(message) {
            Ok(()) => self.pushed.sent_count += 1,
            Err(error) => {
                self.pushed.failed_count += 1;
                self.pushed.failure = Some(error);
            }
        }
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
