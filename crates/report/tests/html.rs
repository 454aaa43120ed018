//! The HTML of sample records, without a browser: what is embedded, that it cannot leave its place, and its size.
//!
//! What a browser makes of it is tested in `web/test/browser`.

use crate::fixture::{SampleRecord, hostile, variants};
use serde_json::Value;
use sysdyno_record::load::{Interval, LatencyWindow};
use sysdyno_record::units::MonoNs;
use sysdyno_report::html::render;

/// The embedded document of a page.
fn embedded(page: &str) -> Value {
    let begin = page.find("id=\"record\">").expect("the page has a data block") + "id=\"record\">".len();
    let end = page[begin..].find("</script>").expect("the data block ends");
    serde_json::from_str(&page[begin..begin + end]).expect("the data block is JSON")
}

#[test]
fn the_record_is_embedded_whole() {
    let record = SampleRecord::run();
    let data = embedded(&render(&record.input()));
    assert_eq!(data["schema"], "sysdyno.report/1");
    assert_eq!(data["analysis"]["headline"], record.analysis.headline.as_str());
    assert_eq!(data["capacity"]["claim"], "estimate");
    assert_eq!(data["trials"].as_array().map(Vec::len), Some(record.trials.len()));
    assert_eq!(data["series"]["columns"].as_array().map(Vec::len), Some(record.series.columns().len()));
    assert_eq!(data["series"]["rows"], record.series.windows().len());
    assert_eq!(data["events"].as_array().map(Vec::len), Some(record.events.len()));
    assert!(data["analysis"]["generator"].get("gap_sample_ns").is_none());
}

#[test]
fn a_series_read_from_the_page_is_that_of_the_record() {
    let record = SampleRecord::run();
    let data = embedded(&render(&record.input()));
    let position =
        record.series.columns().iter().position(|column| column.name == "cpu.user_us").expect("has CPUs");
    let deltas =
        data["series"]["columns"][position]["values"]["deltas"].as_array().expect("a moving counter");
    let mut total = 0;
    let decoded: Vec<Option<f64>> = deltas
        .iter()
        .map(|delta| {
            total += delta.as_i64().expect("whole numbers");
            Some(total as f64)
        })
        .collect();
    assert_eq!(decoded, record.series.values_at(position));
}

#[test]
fn an_estimate_of_an_invalid_run_is_not_even_in_the_data() {
    let page = render(&variants::wrong_content().input());
    assert_eq!(embedded(&page)["capacity"]["claim"], "withheld");
    assert!(!page.contains("4121.7") && !page.contains("4,120 req"));
    assert_eq!(embedded(&render(&variants::generator_bound().input()))["capacity"]["claim"], "at_least");
}

#[test]
fn hostile_text_opens_and_closes_no_element() {
    let (clean, hostile) = (render(&SampleRecord::run().input()), render(&hostile::record().input()));
    for tag in
        ["<script", "</script", "<img", "<svg", "<iframe", "<!--", "</title", "</pre", "<base", "<meta"]
    {
        let count = |page: &str| page.to_ascii_lowercase().matches(tag).count();
        assert_eq!(count(&hostile), count(&clean), "{tag}");
    }
}

#[test]
fn the_page_without_a_record_is_small() {
    let page = render(&SampleRecord::run().input());
    let data = serde_json::to_string(&embedded(&page)).expect("serialises").len();
    assert!(page.len() - data < 500_000, "{} bytes besides the data", page.len() - data);
    assert!(data < 300_000, "{data} bytes of data for 600 readings of 96 columns");
}

#[test]
fn latency_over_time_is_embedded_in_cells_few_enough_for_a_run_of_any_length() {
    let mut record = SampleRecord::run();
    let windows: usize = record.latency_windows.values().map(Vec::len).sum();
    let data = embedded(&render(&record.input()));
    assert_eq!(data["heat"]["cells"].as_array().map(Vec::len), Some(windows));
    let (interval, window) = (record.intervals[1].clone(), record.latency_windows[&1][0].clone());
    record.intervals.clear();
    record.latency_windows.clear();
    for second in 0..20_000 {
        let [begin_mono_ns, end_mono_ns] = [second, second + 1].map(|at| MonoNs(at * 1_000_000_000));
        record.intervals.push(Interval { begin_mono_ns, end_mono_ns, ..interval.clone() });
        let windows = record.latency_windows.entry(1).or_default();
        windows.push(LatencyWindow { begin_mono_ns, ..window.clone() });
    }
    let heat = &embedded(&render(&record.input()))["heat"];
    let cells = heat["cells"].as_array().expect("has columns");
    assert_eq!(cells.len(), 400);
    let requests = |column: &Value| {
        column
            .as_array()
            .expect("has ranges")
            .iter()
            .skip(1)
            .step_by(2)
            .filter_map(Value::as_u64)
            .sum::<u64>()
    };
    let of_a_window: u64 = window.steps.iter().map(|step| step.count).sum();
    assert_eq!(cells.iter().map(requests).sum::<u64>(), 20_000 * of_a_window, "no request is left out");
}
