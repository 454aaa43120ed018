//! Decides who gets a response: the request must name this host and carry the token.
//!
//! The token is printed once, in a URL. A browser that opens it gets a cookie and is redirected to a URL without the token,
//! because the token would stay in its history. The cookie is `HttpOnly` and `SameSite=Strict`: no script can read it, and
//! no other site's page can make a browser send it. Its name contains the port, so that two servers do not mix up their
//! cookies.
//!
//! The `Host` field must name loopback. A page of another site can make its own name resolve to 127.0.0.1 (DNS rebinding),
//! but cannot change the name that the browser sends. Any port is accepted, because ssh may forward a different one.
//!
//! A request that changes something needs a key as well ([`crate::key`]).

use crate::answer;
use crate::site::ServedSite;
use crate::token::AccessToken;
use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HOST, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;

/// Names of this host, as browsers send them.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Lets a request pass, or answers it.
pub(crate) async fn gate(State(site): State<Arc<ServedSite>>, request: Request, next: Next) -> Response {
    if !is_loopback(request.headers()) {
        let text = "cannot answer: the request was sent to another host name";
        return answer::refusal(StatusCode::MISDIRECTED_REQUEST, text);
    }
    let cookie = format!("sysdyno-{}", site.port);
    if let Some(token) = typed(request.uri()) {
        let is_right = site.token.is(token);
        return if is_right { admit(&cookie, &site.token) } else { refuse() };
    }
    if !cookies(request.headers(), &cookie).any(|token| site.token.is(token)) {
        return refuse();
    }
    answer::sealed(next.run(request).await)
}

fn refuse() -> Response {
    answer::refusal(StatusCode::FORBIDDEN, "cannot answer: open the URL that `sysdyno serve` printed")
}

/// Sets the cookie, and sends the browser to the URL without the token.
fn admit(cookie: &str, token: &AccessToken) -> Response {
    let mut response = answer::refusal(StatusCode::SEE_OTHER, "");
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static("/"));
    let cookie = format!("{cookie}={}; Path=/; HttpOnly; SameSite=Strict", token.text());
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

/// Whether a request was sent to this host by its own name.
pub(crate) fn is_loopback(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    LOOPBACK.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The token of a URL; `None`: it has none.
fn typed(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|part| part.strip_prefix("token="))
}

/// Values of the cookies of this name.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lists = headers.get_all(COOKIE).iter().filter_map(|list| list.to_str().ok());
    let parts = lists.flat_map(|list| list.split(';')).filter_map(|part| part.trim().split_once('='));
    parts.filter(move |(key, _)| *key == name).map(|(_, value)| value)
}
