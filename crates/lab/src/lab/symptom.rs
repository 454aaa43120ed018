//! Symptoms: what a service says of itself that is well by every check and yet not as it should be.
//!
//! A recipe says where a number is to be asked for, from which value on it means something, and what. What the service
//! answers is not believed beyond numbers: they are all that comes into a text.

use super::check;
use super::recipe::{Symptom, Values};
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// What a service's symptoms say now; one that cannot be asked for says nothing.
pub(super) fn seen(
    symptoms: &[Symptom],
    values: &Values,
    namespace: &Path,
    address: IpAddr,
) -> Result<Vec<String>, String> {
    let mut seen = Vec::new();
    for symptom in symptoms {
        let port = values.expand(&symptom.port)?.parse().map_err(|_| "a symptom has no port")?;
        let hint = values.expand(&symptom.hint)?;
        let says = values.expand(&symptom.says)?;
        let Ok(body) = check::body(namespace, SocketAddr::new(address, port), &symptom.http) else {
            continue;
        };
        let Ok(document) = serde_json::from_slice::<Value>(&body) else { continue };
        if number(&document, &symptom.number).is_some_and(|number| number > symptom.above) {
            seen.push(format!("{}; {hint}", filled(&says, &document)));
        }
    }
    Ok(seen)
}

/// The first number of this name, however deep.
fn number(document: &Value, name: &str) -> Option<i64> {
    match document {
        Value::Object(fields) => fields
            .get(name)
            .and_then(Value::as_i64)
            .or_else(|| fields.values().find_map(|value| number(value, name))),
        Value::Array(items) => items.iter().find_map(|item| number(item, name)),
        _ => None,
    }
}

/// A text in which `{NAME}` stands for a number of the document.
fn filled(text: &str, document: &Value) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        filled.push_str(before);
        filled.push_str(&number(document, name).map_or("?".to_owned(), |number| number.to_string()));
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\
        {\"beans\":[{\"name\":\"x\",\"UnderReplicatedBlocks\":3,\"NumLiveDataNodes\":2}]}";

    fn asked(above: i64) -> Vec<String> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("can be bound");
        let address = listener.local_addr().expect("has one");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(ANSWER.as_bytes());
        });
        let mut values = Values::default();
        values.set("port", address.port().to_string());
        let symptom = Symptom {
            http: "/jmx".into(),
            port: "{{port}}".into(),
            number: "UnderReplicatedBlocks".into(),
            above,
            says: "{UnderReplicatedBlocks} blocks, {NumLiveDataNodes} live, {name}".into(),
            hint: "add one".into(),
        };
        let own = Path::new("/proc/self/ns/net");
        let seen = seen(&[symptom], &values, own, address.ip()).expect("is in order");
        server.join().expect("ends");
        seen
    }

    #[test]
    fn a_number_above_what_it_should_be_is_said_with_others_of_the_same_answer() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root");
            return;
        }
        assert_eq!(asked(0), ["3 blocks, 2 live, ?; add one"]);
        assert!(asked(3).is_empty());
    }
}
