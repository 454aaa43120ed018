//! What is taken from responses.

use super::*;
use sysdyno_record::units::MonoNs;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nX-Token: t 1\r\nset-cookie: s=1\r\nSet-Cookie:u=2\r\nx-token: t2\r\nX-Empty:\r\n\r\n";

fn take(from: TakeFrom, body: &str) -> (Option<FailureClass>, String) {
    let taking = Taking { keeps_cookies: true, takes: vec![Take { number: 1, from }] };
    let origin = CookieOrigin { host: "h", path: b"/", is_secure: false, now: MonoNs(1), unix_s: 0 };
    let mut memory = None;
    let objection = taking.take(HEAD, body.as_bytes(), &origin, &mut memory);
    let memory = memory.expect("there were cookies");
    let mut out = b"GET / HTTP/1.1\r\n".to_vec();
    memory.cookies.write(0, false, MonoNs(2), &mut out);
    assert!(out.ends_with(b"Cookie: s=1; u=2\r\n"));
    (objection, String::from_utf8_lossy(memory.taken(1)).into_owned())
}

#[test]
fn values_are_taken_from_where_they_stand() {
    let between =
        |after: &str, before: &str| TakeFrom::Between { after: after.into(), before: before.into() };
    assert_eq!(take(TakeFrom::Header("x-TOKEN".into()), ""), (None, "t 1".into()));
    assert_eq!(take(TakeFrom::Json("a.0.b".into()), r#"{"a":[{"b":"v"}]}"#), (None, "v".into()));
    assert_eq!(take(between("value=\"", "\""), "<input value=\"x\"><input value=\"y\">"), (None, "x".into()));
}

#[test]
fn what_is_missing_or_of_no_use_is_an_objection() {
    let between = || TakeFrom::Between { after: "<".into(), before: ">".into() };
    let none = String::new;
    assert_eq!(take(TakeFrom::Header("x-other".into()), ""), (Some(FailureClass::WrongHeader), none()));
    assert_eq!(take(TakeFrom::Header("x-empty".into()), ""), (Some(FailureClass::WrongHeader), none()));
    assert_eq!(take(TakeFrom::Json("a".into()), "{}"), (Some(FailureClass::WrongBody), none()));
    for body in ["", "<", ">x<", "<>", "<a\r\nb>", &format!("<{}>", "x".repeat(MAX_TAKEN_BYTES + 1))] {
        assert_eq!(take(between(), body), (Some(FailureClass::WrongBody), none()), "{body:.20}");
    }
}
