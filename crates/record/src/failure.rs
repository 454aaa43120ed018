//! Why requests failed: a closed set of classes, each with its sentence, and what the server itself said about it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

macro_rules! failure_classes {
    ($($variant:ident $name:literal $blame:ident $meaning:literal $($hint:literal)?;)*) => {
        /// Why a request failed; a closed set, so that no server can invent labels.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum FailureClass {
            $(#[doc = $meaning] $variant,)*
        }

        impl FailureClass {
            /// All classes, in the order of their discriminants.
            pub const ALL: &'static [FailureClass] = &[$(FailureClass::$variant,)*];

            /// The class as it is written in JSON.
            pub fn name(self) -> &'static str {
                match self { $(FailureClass::$variant => $name,)* }
            }

            /// What the class means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(FailureClass::$variant => $meaning,)* }
            }

            /// What to try, where the class alone tells it.
            pub fn hint(self) -> Option<&'static str> {
                match self { $(FailureClass::$variant => failure_classes!(@ $($hint)?),)* }
            }

            /// Whose doing it is: the server's (or the path's), or this host's own limits.
            pub fn blame(self) -> Blame {
                match self { $(FailureClass::$variant => Blame::$blame,)* }
            }
        }
    };
    (@) => { None };
    (@ $hint:literal) => { Some($hint) };
}

/// Whose doing a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The server or the way to it.
    Server,
    /// A limit of the generator's host; never charged to the server.
    Generator,
}

failure_classes! {
    ConnectRefused "connect_refused" Server "The server's host refused the connection."
        "check that the server is running, and that it listens on this address and port";
    ConnectTimeout "connect_timeout" Server "The connection was not established before its deadline.";
    ConnectReset "connect_reset" Server "The connection was reset while it was being established.";
    ConnectUnreachable "connect_unreachable" Server "There is no route to the server, or a router reported an error.";
    HeadTimeout "head_timeout" Server "The connection went idle before the response head was complete.";
    BodyTimeout "body_timeout" Server "The connection went idle before the response body was complete.";
    WriteTimeout "write_timeout" Server "The server did not read the request before the idle deadline.";
    EofBeforeHead "eof_before_head" Server "The server closed the connection before the response head was complete.";
    Reset "reset" Server "The server reset the connection during a request.";
    BodyTruncated "body_truncated" Server "The connection ended before the response body was complete.";
    Protocol "protocol" Server "The response breaks its protocol, or where it ends is ambiguous.";
    InvalidStatus "invalid_status" Server "The status line has no valid three-digit status code.";
    HeadTooLarge "head_too_large" Server "The response head exceeds a limit on its lines, fields or size.";
    TooManyInterim "too_many_interim" Server "The server sent more interim (1xx) responses than are allowed.";
    BodyLimit "body_limit" Server "The response body exceeds the limit on its size."
        "raise the limit with --max-body";
    Desync "desync" Server "The server sent bytes that belong to no request.";
    Status "status" Server "The status code is not among the expected ones.";
    WrongLength "wrong_length" Server "The body's length is not the expected one.";
    WrongHeader "wrong_header" Server "An expected header field is missing or has another value.";
    WrongBody "wrong_body" Server "The body lacks the expected bytes, or is not like the body that was learnt.";
    TlsHandshake "tls_handshake" Server "The TLS handshake failed: the server closed the connection, or broke the rules of TLS.";
    TlsTimeout "tls_timeout" Server "The TLS handshake did not finish before the deadline.";
    TlsIssuer "tls_issuer" Server "The server's certificate comes from an issuer that is not trusted."
        "give the issuer's certificate with --tls-ca";
    TlsExpired "tls_expired" Server "The server's certificate has expired, or is not valid yet.";
    TlsName "tls_name" Server "The server's certificate is for another name."
        "give the name in the certificate with --tls-name";
    TlsCertificate "tls_certificate" Server "The server's certificate was rejected: neither its issuer, nor its name, nor its age is the reason.";
    TlsAlpn "tls_alpn" Server "The server did not choose the protocol that was asked for (ALPN)."
        "leave out --http2 to speak HTTP/1.1";
    TlsRecord "tls_record" Server "A TLS record cannot be decrypted, or is not a TLS record.";
    StreamReset "stream_reset" Server "The server reset the stream of the request (HTTP/2).";
    StreamRefused "stream_refused" Server "The server refused the stream, or closed the connection without processing it (HTTP/2).";
    StreamLimit "stream_limit" Server "The server allows fewer streams per connection than were asked for (HTTP/2)."
        "lower --streams";
    Http2Abuse "http2_abuse" Server "The server sent more control frames than an exchange needs (HTTP/2).";
    ServerError "server_error" Server "The server answered that it cannot or will not (memcached: SERVER_ERROR, CLIENT_ERROR, ERROR).";
    NotStored "not_stored" Server "The server did not store the value (memcached).";
    LocalFdLimit "local_fd_limit" Generator "The generator ran out of file descriptors (EMFILE, ENFILE)."
        "raise the limit with 'ulimit -n', or use fewer connections";
    LocalPorts "local_ports" Generator "The generator ran out of local ports (EADDRNOTAVAIL).";
    LocalBuffers "local_buffers" Generator "The generator's host had no buffer space (ENOBUFS, ENOMEM).";
    LocalOther "local_other" Generator "A socket call failed on the generator's host for another reason.";
    NotHttp "not_http" Server "The server does not speak HTTP/1.1 on this port: its first bytes are something else."
        "check the port";
    NotHttp2 "not_http2" Server "The server does not speak HTTP/2 on this port: it did not begin with SETTINGS."
        "leave out --http2 to speak HTTP/1.1";
    NotMemcached "not_memcached" Server "The server does not speak the memcached protocol on this port."
        "check the port";
    SpeaksTls "speaks_tls" Server "The server answered a plain-text request with TLS."
        "use https://, or memcacheds:// for memcached";
    TlsPlainText "tls_plain_text" Server "The server answered the TLS handshake in plain text."
        "use http://, or memcached:// for memcached, or check the port";
    TlsVersion "tls_version" Server "Client and server have no TLS version in common; sysdyno speaks 1.2 and 1.3."
        "leave out --tls-version, or enable TLS 1.2 or 1.3 on the server";
    TlsCipher "tls_cipher" Server "The server found no cipher suite, key exchange, or signature algorithm in common with the client."
        "enable ECDHE with AES-GCM or ChaCha20-Poly1305 on the server";
    TlsWeakKey "tls_weak_key" Server "The server's key is too weak: RSA keys need 2,048 to 8,192 bits."
        "give the server a key of at least 2,048 bits (RSA) or on the curve P-256 (ECDSA)";
    TlsServerName "tls_server_name" Server "The server does not know the name that it was asked for (SNI)."
        "name one of the server's hosts with --tls-name";
    TlsClientCertificate "tls_client_certificate" Server "The server requires a client certificate, or rejected the one it was shown."
        "give a certificate that the server trusts with --tls-cert and --tls-key";
    TlsAlert "tls_alert" Server "The server ended TLS with an alert.";
}

impl FailureClass {
    /// How many classes there are.
    pub const COUNT: usize = FailureClass::ALL.len();

    /// The class in full: what it means, what is known of the first failure, and what to try.
    pub fn sentence(self, told: &FailureClauses) -> String {
        let mut text = self.meaning().to_owned();
        if let Some(clause) = told.of(self) {
            // It is told in the middle of a sentence elsewhere.
            let mut characters = clause.chars();
            let first = characters.next().map(|first| first.to_ascii_uppercase());
            text.push(' ');
            text.extend(first.into_iter().chain(characters));
            text.push('.');
        }
        if let Some(hint) = self.hint() {
            text.push_str(&format!(" Hint: {hint}."));
        }
        text
    }
}

/// How many requests failed in each class.
pub type Failures = BTreeMap<FailureClass, u64>;

/// Longest clause that is kept. Unit: characters.
pub const MAX_TOLD_CHARS: usize = 160;

/// What is known of the first failure of each class beside its class, in a clause about the server: "it sent alert …",
/// "it answered '…'". Bounded, and without control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailureClauses(BTreeMap<FailureClass, String>);

impl FailureClauses {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The clause of a class.
    pub fn of(&self, class: FailureClass) -> Option<&str> {
        self.0.get(&class).map(String::as_str)
    }

    /// Keeps a clause, if it is the first of its class.
    pub fn note(&mut self, class: FailureClass, text: impl FnOnce() -> String) {
        self.0.entry(class).or_insert_with(|| bounded(&text()));
    }

    /// Adds clauses that were heard elsewhere; those that were heard here come first.
    pub fn merge(&mut self, other: &FailureClauses) {
        other.0.iter().for_each(|(class, text)| self.note(*class, || text.clone()));
    }
}

/// Different wrong answers that are kept apart, of all classes together.
const MAX_ANSWERS: usize = 64;

/// Wrong responses of one class with the same status and text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongAnswer {
    /// Why they are wrong.
    pub class: FailureClass,
    /// Their status code.
    pub status: u16,
    /// The beginning of what they say, escaped; empty: nothing, or it was not kept.
    pub text: String,
    /// How many there were.
    pub count: u64,
}

/// What a server answered where its responses were wrong. Bounded, and without control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WrongAnswers(Vec<WrongAnswer>);

impl WrongAnswers {
    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &WrongAnswer> {
        self.0.iter()
    }

    /// Adds answers to those that are the same; where they are kept, `None` if there is no room for more.
    pub fn add(&mut self, answer: &WrongAnswer) -> Option<usize> {
        let text = bounded(&answer.text);
        let is_same = |known: &WrongAnswer| {
            (known.class, known.status) == (answer.class, answer.status) && known.text == text
        };
        if let Some(index) = self.0.iter().position(is_same) {
            self.0[index].count = self.0[index].count.saturating_add(answer.count);
            return Some(index);
        }
        (self.0.len() < MAX_ANSWERS).then(|| {
            self.0.push(WrongAnswer { text, ..answer.clone() });
            self.0.len() - 1
        })
    }

    /// Counts one that came again.
    pub fn count(&mut self, index: usize) {
        if let Some(answer) = self.0.get_mut(index) {
            answer.count = answer.count.saturating_add(1);
        }
    }

    /// What the server answered most often in a class of so many failures, in a clause about it; of two answers that say
    /// something and nothing, the one that says something.
    pub fn clause(&self, class: FailureClass, failures: u64) -> Option<String> {
        let all = self.0.iter().filter(|answer| answer.class == class);
        let most = all.max_by_key(|answer| (!answer.text.is_empty(), answer.count))?;
        let text = if most.text.is_empty() { String::new() } else { format!(" '{}'", most.text) };
        let is_all = most.count >= failures;
        let often = if is_all { String::new() } else { format!(", {} of {failures} times", most.count) };
        Some(format!("it answered {}{text}{often}", most.status))
    }
}

/// A text without control characters, as long as it may be.
fn bounded(text: &str) -> String {
    let is_shown = |character: &char| !character.is_control();
    text.chars().filter(is_shown).take(MAX_TOLD_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_are_those_of_the_json() {
        for (index, class) in FailureClass::ALL.iter().enumerate() {
            assert_eq!(*class as usize, index);
            assert_eq!(serde_json::to_value(class).expect("serialises"), class.name());
        }
    }

    #[test]
    fn a_class_is_told_in_full_sentences() {
        let mut told = FailureClauses::default();
        let class = FailureClass::TlsVersion;
        assert!(class.sentence(&told).starts_with("Client and server have no TLS version in common"));
        told.note(class, || "it sent alert protocol_version (70)".into());
        told.note(class, || "it sent something else".into());
        let text = class.sentence(&told);
        assert!(
            text.contains("1.3. It sent alert protocol_version (70). Hint: leave out --tls-version"),
            "{text}"
        );
        for class in FailureClass::ALL {
            assert!(class.meaning().ends_with('.') && !class.meaning().contains("\n"), "{class:?}");
            assert!(class.hint().is_none_or(|hint| !hint.ends_with('.')), "{class:?}");
        }
    }

    #[test]
    fn the_most_frequent_wrong_answer_of_a_class_is_told_and_their_number_is_bounded() {
        let mut answers = WrongAnswers::default();
        let answer = |status, text: &str, count| WrongAnswer {
            class: FailureClass::Status,
            status,
            text: text.into(),
            count,
        };
        assert_eq!(answers.clause(FailureClass::Status, 1), None);
        answers.add(&answer(502, "Bad Gateway", 3));
        answers.add(&answer(500, "Too many\u{1b} connections", 4));
        answers.add(&answer(503, "", 9));
        let index = answers.add(&answer(500, "Too many connections", 1)).expect("is known");
        answers.count(index);
        let clause = "it answered 500 'Too many connections', 6 of 18 times";
        assert_eq!(answers.clause(FailureClass::Status, 18).as_deref(), Some(clause));
        assert_eq!(answers.clause(FailureClass::WrongBody, 18), None);
        for number in 0..10_000 {
            answers.add(&answer(500, &format!("{number}{}", "x".repeat(1000)), 1));
        }
        assert!(answers.iter().count() <= MAX_ANSWERS);
        assert!(answers.iter().all(|answer| answer.text.chars().count() <= MAX_TOLD_CHARS));
    }

    #[test]
    fn what_a_server_said_is_bounded_and_cleaned_wherever_it_comes_from() {
        let hostile = format!("{{\"reset\":\"{}\\u001b[31m\\n\"}}", "x".repeat(10_000));
        let heard: FailureClauses = serde_json::from_str(&hostile).expect("is a map");
        let mut told = FailureClauses::default();
        told.merge(&heard);
        assert_eq!(told.of(FailureClass::Reset), Some("x".repeat(MAX_TOLD_CHARS).as_str()));
        told = FailureClauses::default();
        told.note(FailureClass::Reset, || "a\u{1b}[31m\nb".into());
        assert_eq!(told.of(FailureClass::Reset), Some("a[31mb"));
    }
}
