//! Values in requests: `{{counter:1..}}`, `{{random:1..6}}`, `{{csv:users.csv:name}}` in a path, a header field or a body.
//!
//! A request without values is bytes that were built before the load. One with values is a [`Template`]: pieces of text and
//! placeholders, written into the buffer of its connection each time it is sent. The values depend only on the seed, the kind
//! of request, and its number (in a session, on the user and the number of its request), so a request that is sent again on
//! another connection is the same request.
//!
//! No value can break the framing: characters not allowed in a path are percent-encoded, those not allowed in a header field
//! are refused when the value is read, and the length of a body is counted when it is written.

pub mod csv;
mod filling;
mod template;
pub mod text;

pub(crate) use filling::{Drawn, Filling};
pub(crate) use template::{Names, Template};

use crate::error::LoadError;
use crate::protocol::http1::RequestBytes;
use sysdyno_record::plan::{HeaderField, LoadPlan, RequestSpec, Target};
use text::TextPart;

/// A kind of request, ready to be sent.
#[derive(Debug)]
pub(crate) struct Made {
    /// The bytes of one that is always the same.
    pub bytes: RequestBytes,
    /// How one is written that is not.
    pub template: Option<Template>,
}

/// Makes a kind of request ready.
///
/// # Errors
/// A request that would not be valid HTTP, or a value that cannot be had.
pub(crate) fn make(
    request: &RequestSpec,
    target: &Target,
    path: &str,
    names: &Names<'_>,
) -> Result<Made, LoadError> {
    if !has_braces(request, path) {
        let template =
            names.is_written_anew().then(|| Template::of(request, target, path, names)).transpose()?;
        return Ok(Made { bytes: RequestBytes::of(request, target, path)?, template });
    }
    let template = Template::of(request, target, path, names)?;
    let plain = |text: &str| -> Result<String, LoadError> {
        let parts = text::parse(text).map_err(|misread| LoadError::plan(misread.cause))?;
        let words =
            parts.iter().map(|part| if let TextPart::Text(text) = part { text.as_str() } else { "0" });
        Ok(words.collect())
    };
    let headers = request.headers.iter().map(|field| {
        Ok::<_, LoadError>(HeaderField { name: field.name.clone(), value: plain(&field.value)? })
    });
    let body = match std::str::from_utf8(&request.body) {
        Ok(text) => plain(text)?.into_bytes().into(),
        Err(_) => request.body.clone(),
    };
    // Where all braces were meant as such, these bytes are what is sent; otherwise they are its likeness.
    let likeness = RequestSpec {
        method: request.method.clone(),
        headers: headers.collect::<Result<_, _>>()?,
        body_bytes: body.len() as u64,
        body,
    };
    let bytes = RequestBytes::of(&likeness, target, &plain(path)?)?;
    let is_needed = template.has_values() || names.is_written_anew();
    Ok(Made { bytes, template: is_needed.then_some(template) })
}

/// The request of a plan with a 0 in the place of each value, for those who send one that is always the same.
///
/// # Errors
/// As [`make`].
pub(crate) fn likeness(plan: &LoadPlan) -> Result<RequestBytes, LoadError> {
    let names = Names { files: &plan.workload.files, ..Names::default() };
    Ok(make(&plan.request, &plan.target, &plan.target.path, &names)?.bytes)
}

/// Whether a request may have values.
fn has_braces(request: &RequestSpec, path: &str) -> bool {
    let has = |bytes: &[u8]| memchr::memmem::find(bytes, b"{{").is_some();
    has(path.as_bytes())
        || request.headers.iter().any(|field| has(field.value.as_bytes()))
        || has(&request.body) && std::str::from_utf8(&request.body).is_ok()
}

#[cfg(test)]
mod tests;
