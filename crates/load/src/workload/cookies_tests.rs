//! Which cookies are kept, and where they are sent.

use super::*;

fn origin(path: &'static str, is_secure: bool) -> CookieOrigin<'static> {
    CookieOrigin {
        host: "shop.test",
        path: path.as_bytes(),
        is_secure,
        now: MonoNs(1_000),
        unix_s: 784_111_777,
    }
}

fn sent(jar: &Jar, path: &str, is_secure: bool, now: MonoNs) -> String {
    let mut out = format!("before GET {path} HTTP/1.1\r\n").into_bytes();
    jar.write(7, is_secure, now, &mut out);
    let text = String::from_utf8(out).expect("is text");
    text.split_once("\r\n").map_or("", |(_, field)| field).to_owned()
}

#[test]
fn cookies_go_where_they_belong() {
    let mut jar = Jar::default();
    let mut take = |field: &str, path| jar.take(field.as_bytes(), &origin(path, false));
    take("a=1; Path=/", "/x/y");
    take("b=2", "/x/y");
    take("c=3; path=/shop; HttpOnly; SameSite=Lax", "/x/y");
    take("d=4; Domain=other.test", "/");
    take("e=5; Domain=.test; Path=relative", "/");
    take("f=6; Secure", "/");
    take("g = a=b ", "/");
    take("nothing", "/");
    take("=5", "/");
    let now = MonoNs(2_000);
    assert_eq!(sent(&jar, "/", false, now), "Cookie: a=1; e=5; g=a=b\r\n");
    assert_eq!(sent(&jar, "/x", false, now), "Cookie: a=1; b=2; e=5; g=a=b\r\n");
    assert_eq!(sent(&jar, "/x/z?q=/shop", false, now), "Cookie: a=1; b=2; e=5; g=a=b\r\n");
    assert_eq!(sent(&jar, "/shop/cart", false, now), "Cookie: a=1; c=3; e=5; g=a=b\r\n");
    assert_eq!(sent(&jar, "/shopping", false, now), "Cookie: a=1; e=5; g=a=b\r\n");
    assert_eq!(sent(&Jar::default(), "/", false, now), "");
}

#[test]
fn secure_cookies_are_taken_and_sent_over_tls_only() {
    let mut jar = Jar::default();
    jar.take(b"a=1; Secure", &origin("/", false));
    assert!(jar.is_empty());
    jar.take(b"a=1; Secure", &origin("/", true));
    assert_eq!(sent(&jar, "/", true, MonoNs(2_000)), "Cookie: a=1\r\n");
    assert_eq!(sent(&jar, "/", false, MonoNs(2_000)), "");
}

#[test]
fn cookies_are_replaced_deleted_and_expire() {
    let mut jar = Jar::default();
    let mut take = |field: &str| jar.take(field.as_bytes(), &origin("/", false));
    take("a=1");
    take("a=2; Max-Age=10");
    take("b=1; Expires=Sun, 06 Nov 1994 08:49:47 GMT");
    take("c=1; Expires=Sun, 06 Nov 1994 08:49:36 GMT");
    take("d=1; Max-Age=3; Expires=Sun, 06 Nov 1990 08:49:47 GMT");
    take("e=1");
    take("e=; Max-Age=0");
    take("f=1; Max-Age=soon; Expires=never");
    let after = |seconds: u64| MonoNs(1_000 + seconds * 1_000_000_000);
    assert_eq!(sent(&jar, "/", false, after(0)), "Cookie: a=2; b=1; d=1; f=1\r\n");
    assert_eq!(sent(&jar, "/", false, after(9)), "Cookie: a=2; b=1; f=1\r\n");
    assert_eq!(sent(&jar, "/", false, after(10)), "Cookie: f=1\r\n");
    jar.take(b"f=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", &origin("/", false));
    assert_eq!(sent(&jar, "/", false, after(0)), "Cookie: a=2; b=1; d=1\r\n");
}

#[test]
fn a_jar_is_bounded_and_the_oldest_make_room() {
    let mut jar = Jar::default();
    for number in 0..1000 {
        jar.take(format!("c{number}=x").as_bytes(), &origin("/", false));
    }
    assert_eq!(jar.cookies.len(), MAX_COOKIES_COUNT);
    assert!(sent(&jar, "/", false, MonoNs(2_000)).starts_with("Cookie: c950=x; "));
    for number in 0..20 {
        let field = format!("big{number}={}", "x".repeat(3000));
        jar.take(field.as_bytes(), &origin("/", false));
        assert!(jar.bytes() <= MAX_JAR_BYTES);
    }
    assert!(sent(&jar, "/", false, MonoNs(2_000)).starts_with("Cookie: big18="));
    jar.take(format!("huge={}", "x".repeat(100_000)).as_bytes(), &origin("/", false));
    assert_eq!(jar.cookies.len(), 2);
}

#[test]
fn an_address_has_no_domains_below_it() {
    assert!(is_within("a.b.test", b"b.test") && is_within("B.test", b".b.TEST"));
    assert!(!is_within("ab.test", b"b.test") && !is_within("test", b"a.test"));
    assert!(is_within("127.0.0.1", b"127.0.0.1") && !is_within("127.0.0.1", b"0.0.1"));
}
