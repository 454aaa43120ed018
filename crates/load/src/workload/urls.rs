//! A list of URLs with weights, one per line: `[WEIGHT] [METHOD] URL`.
//!
//! A URL is a path or a whole URL of the server under load, and may contain [values](super::values). Empty lines and lines that
//! begin with `#` are skipped.

use crate::error::LoadError;
use crate::target;
use crate::workload::values;
use crate::workload::values::text::{TextPart, Value};
use sysdyno_record::plan::{Endpoint, RequestSpec, Target, Validators};
use sysdyno_record::workload::{MAX_OPERATIONS, OperationPlan};

/// Longest list that is read. Unit: bytes.
pub const MAX_LIST_BYTES: u64 = 1024 * 1024;

/// Longest name of an operation. Unit: characters.
const MAX_NAME_CHARS: usize = 80;

/// What all operations of a list have in base.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The server.
    pub target: &'a Target,
    /// Header fields, and the method and body of lines that name none.
    pub request: &'a RequestSpec,
    /// What a response must be like.
    pub validators: &'a Validators,
}

/// Reads a list.
///
/// # Errors
/// A line that is not one, a URL of another server, more operations than are told apart, or none.
pub fn parse(text: &str, base: &Base<'_>) -> Result<Vec<OperationPlan>, LoadError> {
    let mut operations = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let operation = parse_line(line, base).map_err(|cause| LoadError::line(number, cause))?;
        if operations.len() == MAX_OPERATIONS {
            return Err(LoadError::line(number, format!("more than {MAX_OPERATIONS} URLs")));
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(LoadError::line(1, "it contains no URL".into()));
    }
    Ok(operations)
}

fn parse_line(line: &str, base: &Base<'_>) -> Result<OperationPlan, String> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let weight = match words.first().and_then(|word| word.parse::<f64>().ok()) {
        Some(weight) => {
            words.remove(0);
            weight
        }
        None => 1.0,
    };
    if !(weight.is_finite() && weight >= 0.0) {
        return Err("the weight must be 0 or more".into());
    }
    let (method, url) = match words.as_slice() {
        [url] => (None, *url),
        [method, url] => (Some(method.to_ascii_uppercase()), *url),
        _ => return Err("write it as '[WEIGHT] [METHOD] URL'".into()),
    };
    let path = path_of(url, base.target)?;
    let parts = values::text::parse(&path).map_err(|misread| {
        // Where it stands in the path, so far from the end it stands in the line.
        let from_end = path[misread.at..].chars().count();
        let column = line.chars().count().saturating_sub(from_end) + 1;
        format!("column {column}: {}", misread.cause)
    })?;
    let is_of_users =
        |part: &TextPart| matches!(part, TextPart::Value { value: Value::User | Value::Taken(_), .. });
    if parts.iter().any(is_of_users) {
        return Err("it uses a value of a session, but there is no session\nhint: write literal braces as \
                    '\\{{'"
            .into());
    }
    let mut request = base.request.clone();
    if let Some(method) = method {
        // A body belongs to the methods that have one.
        if matches!(method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
            (request.body, request.body_bytes) = (Default::default(), 0);
        }
        request.method = method;
    }
    let name = name_of(&request.method, &path);
    Ok(OperationPlan { name, path, request, weight, validators: base.validators.clone() })
}

/// The name of an operation: its path, after its method unless that is GET.
pub(crate) fn name_of(method: &str, path: &str) -> String {
    let name = if method == "GET" { path.to_owned() } else { format!("{method} {path}") };
    if name.chars().count() <= MAX_NAME_CHARS {
        return name;
    }
    name.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
}

/// The path of a URL, if it is one of this server.
fn path_of(url: &str, target: &Target) -> Result<String, String> {
    if url.starts_with('/') {
        return Ok(url.to_owned());
    }
    if let Endpoint::Unix(_) = &target.endpoint {
        return Err("the URLs of a Unix socket must be paths starting with '/'".into());
    }
    let parsed = |url: &str| target::origin_and_path(url).map_err(|error| error.to_string());
    // A name is looked up once, for the target; the same name stands for the same server.
    let ((origin, path), (own, _)) = (parsed(url)?, parsed(&target.url)?);
    if origin.eq_ignore_ascii_case(&own) {
        Ok(path)
    } else {
        Err(format!("'{origin}' is not the server under load, '{own}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, f64, String)>, String> {
        let target = target::resolve("http://127.0.0.1:8080/").expect("resolves");
        let request = RequestSpec {
            method: "GET".into(),
            headers: Vec::new(),
            body: Default::default(),
            body_bytes: 0,
        };
        let base = Base { target: &target, request: &request, validators: &Validators::default() };
        let operations = parse(text, &base).map_err(|error| error.to_string())?;
        Ok(operations.into_iter().map(|item| (item.request.method, item.weight, item.path)).collect())
    }

    #[test]
    fn lines_are_weight_method_and_url() {
        let text = "# a comment\n\n70 /\n 20.5 HEAD http://127.0.0.1:8080/a?b#c\n/plain\nPOST /login\n";
        let expected =
            [("GET", 70.0, "/"), ("HEAD", 20.5, "/a?b"), ("GET", 1.0, "/plain"), ("POST", 1.0, "/login")];
        let expected = expected.map(|(method, weight, path)| (method.to_owned(), weight, path.to_owned()));
        assert_eq!(read(text), Ok(expected.to_vec()));
    }

    #[test]
    fn what_is_not_a_line_is_an_error_with_its_number() {
        let error = read("/\n5 GET /a/{{counter}}/{{conter:1..}}\n").expect_err("is no value");
        assert!(error.contains("line 2: column 22: '{{conter:1..}}' is not a value"), "{error}");
        for (text, line) in [
            ("", 1),
            ("/\n1 2 3 4", 2),
            ("-1 /", 1),
            ("/\nhttp://other/", 2),
            ("http://127.0.0.1/", 1),
            ("https://127.0.0.1:8080/", 1),
            ("inf /", 1),
            ("/\n/{{token}}", 2),
            (&"/\n".repeat(MAX_OPERATIONS + 1), MAX_OPERATIONS + 1),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(&format!("line {line}:")), "{text}: {error}");
        }
    }
}
