//! What is at which URL.
//!
//! | URL | what |
//! |---|---|
//! | `/` | the list of runs, as a page |
//! | `/list` | the list, as JSON for the page's script |
//! | `/runs/NAME` | a run: its report, or what it does while it goes on |
//! | `/runs/NAME/growth` | events of a run that goes on |
//! | `/experiments/NAME` | an experiment, as far as it has come |
//! | `/compare?run=A&run=B` | the comparison of two runs |
//! | `/labs` | the labs of this host, as JSON for the page's script |
//! | `/fleet` | the agents of a fleet, as JSON for the page's script |
//! | `/job` | the command that was started last; `POST` starts one, `POST /job/stop` interrupts it |
//! | `/trend` | the newest runs of a list in the order of time |

use crate::answer;
use crate::experiments::ExperimentRow;
use crate::gate::gate;
use crate::live;
use crate::orders::{BrowserOrder, Declined};
use crate::shelf::{Listed, Shelf};
use crate::site::ServedSite;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use sysdyno_index::{IndexedRun, RunQuery, RunSort};
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::effect::{Comparison, word_name};
use sysdyno_record::manifest::RunKind;
use sysdyno_report::{escape, html};

/// Most runs in one answer.
const LISTED_MAX: usize = 200;

/// Most runs that are compared at once.
const COMPARED_MAX: usize = 8;

/// Most runs in one trend.
const TREND_MAX: usize = 200;

/// Longest order. Unit: bytes.
const ORDER_BYTES: usize = 8 << 10;

type Shared = State<Arc<ServedSite>>;

type Words = Query<Vec<(String, String)>>;

pub(crate) fn router(site: Arc<ServedSite>) -> Router {
    Router::new()
        .route("/", get(home))
        .route("/list", get(list))
        .route("/runs/{name}", get(run))
        .route("/runs/{name}/growth", get(growth))
        .route("/experiments/{name}", get(experiment))
        .route("/compare", get(compare))
        .route("/trend", get(trend))
        .route("/labs", get(labs))
        .route("/fleet", get(fleet))
        .route("/job", get(job).post(start))
        .route("/job/stop", post(stop))
        .fallback(|| async { answer::notice(StatusCode::NOT_FOUND, "cannot find this page") })
        .layer(DefaultBodyLimit::max(ORDER_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), gate))
        .with_state(site)
}

/// A part of the list, for the page.
#[derive(Serialize)]
struct RunsPage {
    schema: &'static str,
    folder: String,
    total_count: u64,
    unreadable_count: usize,
    left_count: usize,
    offset: usize,
    runs: Vec<IndexedRun>,
    experiments: Vec<ExperimentRow>,
    /// What an order carries; `None`: none is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl RunsPage {
    fn new(shelf: &Shelf, listed: Listed, offset: usize, key: Option<String>) -> RunsPage {
        RunsPage {
            schema: "sysdyno.runs/1",
            folder: shelf.runs_dir().to_string_lossy().into_owned(),
            total_count: listed.found.total_count,
            unreadable_count: listed.unreadable_count,
            left_count: listed.left_count,
            offset,
            runs: listed.found.runs,
            experiments: shelf.experiments().list(),
            key,
        }
    }

    /// For readers without scripts.
    fn text(&self) -> String {
        let mut text = format!("{} runs in {}\n\n", self.total_count, escape::terminal(&self.folder, 400));
        for run in &self.runs {
            let answer = run.answer.clone().unwrap_or_default();
            let said = answer.reason.as_ref().unwrap_or(&answer.limit);
            let _ = writeln!(text, "{}  {}", escape::terminal(&run.name, 60), escape::terminal(said, 200));
        }
        text
    }
}

async fn home(State(site): Shared, Query(words): Words) -> Response {
    let key = site.key().map(str::to_owned);
    site.read(move |shelf| {
        let query = query(&words);
        match shelf.list(&query) {
            Ok(listed) => {
                let page = RunsPage::new(shelf, listed, query.offset, key);
                let data = serde_json::to_string(&page).unwrap_or_default();
                answer::page(StatusCode::OK, html::render_served("sysdyno runs", &page.text(), &data))
            }
            Err(error) => unavailable(&error.to_string()),
        }
    })
    .await
}

async fn list(State(site): Shared, Query(words): Words) -> Response {
    site.read(move |shelf| {
        let query = query(&words);
        match shelf.list(&query) {
            Ok(listed) => answer::document(&RunsPage::new(shelf, listed, query.offset, None)),
            Err(error) => answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    })
    .await
}

async fn run(State(site): Shared, Path(name): Path<String>) -> Response {
    let key = site.key().map(str::to_owned);
    site.read(move |shelf| match shelf.run(&name) {
        Ok(Some((run, _))) if live::goes_on(&run) => live::page(&run, key.as_deref()),
        Ok(Some((_, folder))) => made(shelf.pages().run(&folder)),
        Ok(None) => not_found("run", &name),
        Err(error) => unavailable(&error.to_string()),
    })
    .await
}

async fn growth(State(site): Shared, Path(name): Path<String>) -> Response {
    live::stream(&site, name).await
}

async fn experiment(State(site): Shared, Path(name): Path<String>) -> Response {
    site.read(move |shelf| match shelf.experiments().find(&name) {
        Some((folder, row)) => {
            let page = made(shelf.pages().experiment(&folder));
            if row.may_grow(shelf.pages().now()) { answer::again(page) } else { page }
        }
        None => not_found("experiment", &name),
    })
    .await
}

async fn compare(State(site): Shared, Query(words): Words) -> Response {
    let names: Vec<String> = values(&words, "run").map(str::to_owned).take(COMPARED_MAX).collect();
    site.read(move |shelf| match folders(shelf, &names) {
        Ok(folders) => made(shelf.pages().comparison(&folders)),
        Err(response) => *response,
    })
    .await
}

async fn trend(State(site): Shared, Query(words): Words) -> Response {
    site.read(move |shelf| {
        let query = RunQuery { sort: RunSort::Time, offset: 0, limit: Some(TREND_MAX), ..query(&words) };
        match shelf.list(&query) {
            Ok(listed) => {
                let ended = listed.found.runs.iter().filter(|run| run.answer.is_some());
                let folders: Vec<PathBuf> = ended.map(|run| shelf.runs_dir().join(&run.name)).collect();
                made(shelf.pages().trend(&folders))
            }
            Err(error) => unavailable(&error.to_string()),
        }
    })
    .await
}

async fn labs(State(site): Shared) -> Response {
    site.read(|shelf| answer::document(&shelf.pages().labs())).await
}

async fn fleet(State(site): Shared) -> Response {
    site.read(|shelf| answer::document(&shelf.pages().fleet())).await
}

async fn job(State(site): Shared) -> Response {
    let Some(ordered) = &site.orders else { return no_orders() };
    answer::document(&ordered.orders.status())
}

async fn start(State(site): Shared, headers: HeaderMap, body: Bytes) -> Response {
    let Some(ordered) = &site.orders else { return no_orders() };
    if !ordered.key.fits(&headers) {
        return not_from_here();
    }
    let Ok(order) = serde_json::from_slice::<BrowserOrder>(&body) else {
        return answer::refusal(StatusCode::BAD_REQUEST, "cannot read the order");
    };
    match ordered.orders.start(&order) {
        Ok(status) => answer::document(&status),
        Err(Declined::Busy) => {
            let text = "cannot start it: another command runs; a host measures one thing at a time";
            answer::refusal(StatusCode::CONFLICT, text)
        }
        Err(Declined::Wrong(why)) => answer::refusal(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(Declined::Failed(why)) => answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, &why),
    }
}

async fn stop(State(site): Shared, headers: HeaderMap) -> Response {
    let Some(ordered) = &site.orders else { return no_orders() };
    if !ordered.key.fits(&headers) {
        return not_from_here();
    }
    ordered.orders.stop();
    answer::document(&ordered.orders.status())
}

fn no_orders() -> Response {
    answer::refusal(StatusCode::NOT_FOUND, "cannot start anything: `sysdyno serve --allow-runs` may")
}

fn not_from_here() -> Response {
    answer::refusal(
        StatusCode::FORBIDDEN,
        "cannot change anything: the request is not from a page of this server",
    )
}

/// The folders of these runs, or what to say of the one that is not there.
fn folders(shelf: &Shelf, names: &[String]) -> Result<Vec<PathBuf>, Box<Response>> {
    let folder = |name: &String| match shelf.run(name) {
        Ok(Some((_, folder))) => Ok(folder),
        Ok(None) => Err(Box::new(not_found("run", name))),
        Err(error) => Err(Box::new(unavailable(&error.to_string()))),
    };
    names.iter().map(folder).collect()
}

fn made(page: Result<String, String>) -> Response {
    match page {
        Ok(page) => answer::page(StatusCode::OK, html::served(page)),
        Err(why) => answer::notice(StatusCode::UNPROCESSABLE_ENTITY, &why),
    }
}

fn not_found(what: &str, name: &str) -> Response {
    let text = format!("cannot find {what} '{}'", escape::terminal(name, 60));
    answer::notice(StatusCode::NOT_FOUND, &text)
}

fn unavailable(why: &str) -> Response {
    answer::notice(StatusCode::INTERNAL_SERVER_ERROR, why)
}

fn values<'a>(words: &'a [(String, String)], name: &'a str) -> impl Iterator<Item = &'a str> {
    words.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The parameters of a URL; unknown ones are ignored.
fn query(words: &[(String, String)]) -> RunQuery {
    let value = |name| values(words, name).next().unwrap_or_default();
    let number = |name| value(name).parse::<usize>().ok();
    let state = value("verdict");
    RunQuery {
        texts: value("text").split_whitespace().map(str::to_owned).take(10).collect(),
        kind: RunKind::ALL.into_iter().find(|kind| kind.name() == value("kind")),
        verdict: VerdictStatus::ALL.into_iter().find(|verdict| verdict.name() == state),
        word: [Comparison::Better, Comparison::Worse, Comparison::Same, Comparison::CannotTell]
            .into_iter()
            .find(|word| word_name(*word) == state),
        tags: values(words, "tag").map(str::to_owned).take(10).collect(),
        sort: match value("sort") {
            "rate" => RunSort::Rate,
            "p99" => RunSort::P99,
            "verdict" => RunSort::Verdict,
            _ => RunSort::Time,
        },
        offset: number("offset").unwrap_or(0),
        limit: Some(number("limit").unwrap_or(100).min(LISTED_MAX)),
    }
}
