//! Responses, and the header fields that all of them share.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, REFRESH,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;
use sysdyno_report::html;

/// What a browser must not do with any response, whatever is in it.
const SEAL: [(HeaderName, &str); 6] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A page has its own policy, which allows one script and one style; a policy in its head cannot forbid frames.
const PAGE_POLICY: &str = "frame-ancestors 'none'";

/// Anything else shows and loads nothing.
const OTHER_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The same response, with the fields that all have.
pub(crate) fn sealed(mut response: Response) -> Response {
    for (name, value) in SEAL {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn response(status: StatusCode, kind: &'static str, policy: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    sealed(response)
}

/// A page of the report.
pub(crate) fn page(status: StatusCode, html: String) -> Response {
    response(status, "text/html; charset=utf-8", PAGE_POLICY, html)
}

/// The same page, which the browser asks for again after ten seconds, since what it shows is growing.
pub(crate) fn again(mut page: Response) -> Response {
    page.headers_mut().insert(REFRESH, HeaderValue::from_static("10"));
    page
}

/// A document for the page's script.
pub(crate) fn document(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => response(StatusCode::OK, "application/json", OTHER_POLICY, text),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "cannot write JSON"),
    }
}

/// A line of text for whoever may not see more.
pub(crate) fn refusal(status: StatusCode, text: &str) -> Response {
    response(status, "text/plain; charset=utf-8", OTHER_POLICY, format!("{text}\n"))
}

/// A page that says why there is no other.
pub(crate) fn notice(status: StatusCode, text: &str) -> Response {
    #[derive(Serialize)]
    struct Notice<'a> {
        schema: &'static str,
        text: &'a str,
    }
    let data = serde_json::to_string(&Notice { schema: "sysdyno.notice/1", text });
    page(status, html::render_served("sysdyno", text, &data.unwrap_or_default()))
}
