//! Values in requests: all errors in them, and in the tables that they come from, are reported with their place before the
//! first request.

use anyhow::{Context, anyhow, bail, ensure};
use std::path::Path;
use sysdyno_load::workload;
use sysdyno_load::workload::values::csv;
use sysdyno_load::workload::values::text::{self, Misread, TextPart, Value};
use sysdyno_record::plan::{LoadPlan, RequestSpec};
use sysdyno_record::workload::ValueFile;

/// Most tables of one load.
const MAX_FILES_COUNT: usize = 32;

/// Reads the tables that the values of a load come from, and checks all values.
pub fn add(plan: &mut LoadPlan) -> anyhow::Result<()> {
    if plan.wire.memcached.is_some() {
        return Ok(());
    }
    let mut files = Vec::new();
    let operations = &plan.workload.operations;
    if operations.is_empty() {
        let path = ("the URL".to_owned(), plan.target.path.as_str());
        add_tables(path, &mut files)?;
    }
    let requests = operations.iter().map(|operation| (Some(operation.name.as_str()), &operation.request));
    for (name, request) in requests.chain([(None, &plan.request)]) {
        for text in texts(name, request) {
            add_tables(text, &mut files)?;
        }
    }
    for operation in operations {
        add_tables((format!("the path of '{}'", operation.name), &operation.path), &mut files)?;
    }
    ensure!(
        plan.workload.log.is_none() || !has_values(plan),
        "cannot use values with a log: its requests are sent unchanged"
    );
    let is_needed = !files.is_empty() || has_values(plan) || plan.workload.session.is_some();
    plan.workload.files = files;
    if is_needed {
        workload::check(plan)?;
    }
    Ok(())
}

/// The texts of a request that may have values, with what they are called.
fn texts<'a>(name: Option<&str>, request: &'a RequestSpec) -> Vec<(String, &'a str)> {
    let of = |place: String| name.map_or_else(|| place.clone(), |name| format!("{place} of '{name}'"));
    let fields = request.headers.iter();
    let fields = fields.map(|field| (of(format!("header '{}'", field.name)), field.value.as_str()));
    let body = std::str::from_utf8(&request.body).ok().map(|body| (of("the body".into()), body));
    fields.chain(body).collect()
}

fn has_values(plan: &LoadPlan) -> bool {
    let texts = texts(None, &plan.request);
    let has = |text: &str| text::parse(text).is_ok_and(|parts| parts.iter().any(is_value));
    has(&plan.target.path) || texts.iter().any(|(_, text)| has(text))
}

fn is_value(part: &TextPart) -> bool {
    matches!(part, TextPart::Value { .. })
}

/// Reads the tables that a text names and that are not read yet.
fn add_tables((place, text): (String, &str), files: &mut Vec<ValueFile>) -> anyhow::Result<()> {
    let parts = text::parse(text)
        .map_err(|misread| anyhow!("cannot read values: {place}, {}", told(text, &misread)))?;
    for part in parts {
        let TextPart::Value { value: Value::Cell { file, .. }, .. } = part else { continue };
        if files.iter().any(|known| known.file == file) {
            continue;
        }
        ensure!(files.len() < MAX_FILES_COUNT, "cannot read values: more than {MAX_FILES_COUNT} tables");
        files.push(read(&file)?);
    }
    Ok(())
}

fn read(file: &str) -> anyhow::Result<ValueFile> {
    let cannot = || format!("cannot read table '{file}'");
    let metadata = std::fs::metadata(Path::new(file)).with_context(cannot)?;
    ensure!(metadata.is_file(), "{}: not a regular file", cannot());
    ensure!(metadata.len() <= csv::MAX_FILE_BYTES, "{}: longer than 256 MiB", cannot());
    let bytes = std::fs::read(file).with_context(cannot)?;
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            bail!("{}: line {line}: not UTF-8", cannot());
        }
    };
    csv::parse(file, text).map_err(|misread| anyhow!("{}: {}", cannot(), told(text, &misread)))
}

/// Line, column and cause.
fn told(text: &str, misread: &Misread) -> String {
    let before = &text[..misread.at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!("line {line}, column {column}: {}", misread.cause)
}
