//! Values in the requests of a session, and values taken from its responses.

use super::file::{OperationFile, SessionFile, SessionWish, TakeFile};
use super::problem::SessionProblem;
use std::collections::HashSet;
use std::ops::Range;
use sysdyno_load::workload::memory::MAX_TAKEN_COUNT;
use sysdyno_load::workload::values::text::{self, TextPart, Value, is_name};
use sysdyno_record::session::{TakeFrom, TakePlan};

/// Longest path, name or text that says where a value stands. Unit: bytes.
const MAX_WHERE_BYTES: usize = 1024;

/// Checks the values of all operations, with the place of what is wrong.
pub(super) fn check_values(file: &SessionFile, wish: &SessionWish<'_>) -> Result<(), SessionProblem> {
    let taken: HashSet<&str> = file
        .operation
        .iter()
        .filter_map(|operation| operation.take.as_ref())
        .flat_map(|take| take.get_ref().keys().map(String::as_str))
        .collect();
    if taken.len() > MAX_TAKEN_COUNT {
        let cause = format!("a session can take at most {MAX_TAKEN_COUNT} different values");
        return Err(SessionProblem::at(0..0, cause));
    }
    for operation in &file.operation {
        let fields = operation.header.iter();
        let fields = fields.filter_map(|field| Some((field.span(), field.get_ref().value.as_deref()?)));
        let path = (operation.path.span(), operation.path.get_ref().as_str());
        let body = operation.body.as_ref().map(|body| (body.span(), body.get_ref().as_str()));
        for (span, text) in fields.chain([path]).chain(body) {
            check_text(span, text, &taken, wish)?;
        }
    }
    Ok(())
}

fn check_text(
    span: Range<usize>,
    text: &str,
    taken: &HashSet<&str>,
    wish: &SessionWish<'_>,
) -> Result<(), SessionProblem> {
    let parts = text::parse(text);
    let parts = parts.map_err(|misread| {
        // Where the text stands in the file as it is, the place is known to the letter.
        let written = wish.text.get(span.clone()).unwrap_or("");
        let at = written.find(text).map(|begin| span.start + begin + misread.at);
        let place = at.map_or(span.clone(), |at| at..(at + 2).min(span.end));
        SessionProblem::at(place, misread.cause)
    })?;
    for part in parts {
        if let TextPart::Value { value: Value::Taken(name), .. } = part
            && !taken.contains(name.as_str())
        {
            let cause = format!(
                "no operation takes '{name}'\nhint: take = {{ {name} = {{ json = \"path.to.it\" }} }}; braces that are \
                 no value are written '\\{{{{'"
            );
            return Err(SessionProblem::at(span, cause));
        }
    }
    Ok(())
}

/// What is taken from the response to an operation's page.
pub(super) fn takes(operation: &OperationFile) -> Result<Vec<TakePlan>, SessionProblem> {
    let Some(written) = &operation.take else { return Ok(Vec::new()) };
    let problem = |cause: String| SessionProblem::at(written.span(), cause);
    let one = |(name, from): (&String, &TakeFile)| {
        if !is_name(name) {
            return Err(problem(format!("'{}' is not a valid name for a value", name.escape_debug())));
        }
        let from = place(from).ok_or_else(|| {
            problem(format!(
                "'{name}' needs one of 'header' (its name), 'json' (a path like \"user.token\"), or \
                 'between' (two texts)"
            ))
        })?;
        Ok(TakePlan { name: name.clone(), from })
    };
    written.get_ref().iter().map(one).collect()
}

fn place(from: &TakeFile) -> Option<TakeFrom> {
    let is_short = |text: &&String| !text.is_empty() && text.len() <= MAX_WHERE_BYTES;
    match (&from.header, &from.json, &from.between) {
        (Some(name), None, None) => Some(name).filter(is_short).cloned().map(TakeFrom::Header),
        (None, Some(path), None) => Some(path).filter(is_short).cloned().map(TakeFrom::Json),
        (None, None, Some(texts)) if texts.iter().all(|text| is_short(&text)) => {
            let [after, before] = texts.clone();
            Some(TakeFrom::Between { after, before })
        }
        _ => None,
    }
}
