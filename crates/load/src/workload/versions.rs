//! Versions of the objects that pages embed: what a user's cache holds, and how it asks the server whether that is still
//! valid.
//!
//! A server sends `ETag` and `Last-Modified` to each user, nearly always the same to all. So they are stored once, in a table
//! of the distinct versions, and a user's cache has one byte per object: the number of its version. An object with more
//! versions than fit in the table is requested unconditionally.
//!
//! Sources: RFC 9110, sections 8.8 and 13.1.

use super::take::fields;

/// Maximum number of distinct versions of an object.
const MAX_VERSIONS_COUNT: usize = 64;

/// Longest `ETag` or `Last-Modified` that is kept. Unit: bytes.
const MAX_FIELD_BYTES: usize = 256;

/// Number of a version of an object, from 1; 0 for none that can be asked by.
pub(crate) type VersionNumber = u8;

/// What a server said of a version; empty where it said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    etag: Box<[u8]>,
    modified: Box<[u8]>,
}

/// The versions of all objects that a thread has seen.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    objects: Vec<Seen>,
}

/// The versions of one object.
#[derive(Clone, Debug, Default)]
struct Seen {
    versions: Vec<Version>,
    latest: VersionNumber,
}

impl Version {
    /// What the head of a response says.
    fn of(head: &[u8]) -> Version {
        let field = |name: &str| fields(head, name).next().filter(|value| is_usable(value)).unwrap_or(b"");
        let etag = field("etag");
        let opaque = etag.strip_prefix(b"W/").unwrap_or(etag);
        let is_quoted = opaque.len() >= 2 && opaque.starts_with(b"\"") && opaque.ends_with(b"\"");
        Version {
            etag: if is_quoted { etag.into() } else { Box::default() },
            modified: field("last-modified").into(),
        }
    }

    fn is_nothing(&self) -> bool {
        self.etag.is_empty() && self.modified.is_empty()
    }

    /// Writes the fields that ask whether this version is still good.
    pub(crate) fn write_condition(&self, out: &mut Vec<u8>) {
        for (name, value) in
            [(b"If-None-Match: ".as_slice(), &self.etag), (b"If-Modified-Since: ", &self.modified)]
        {
            if !value.is_empty() {
                out.extend_from_slice(name);
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
}

impl Versions {
    /// For so many objects.
    pub(crate) fn new(objects: usize) -> Versions {
        Versions { objects: vec![Seen::default(); objects] }
    }

    /// How many objects there are.
    pub(crate) fn objects_count(&self) -> usize {
        self.objects.len()
    }

    /// Learns the version of an object from the head of a response that brought it.
    pub(crate) fn learn(&mut self, object: u8, head: &[u8]) -> VersionNumber {
        let Some(seen) = self.objects.get_mut(object as usize) else { return 0 };
        let version = Version::of(head);
        let latest = seen.versions.get(usize::from(seen.latest).wrapping_sub(1));
        if latest != Some(&version) {
            seen.latest = seen.number(version);
        }
        seen.latest
    }

    /// The version that the server gave last; 0 for none.
    pub(crate) fn latest(&self, object: u8) -> VersionNumber {
        self.objects.get(object as usize).map_or(0, |seen| seen.latest)
    }

    /// What the server said of a version.
    pub(crate) fn get(&self, object: u8, number: VersionNumber) -> Option<&Version> {
        self.objects.get(object as usize)?.versions.get(usize::from(number).checked_sub(1)?)
    }
}

impl Seen {
    fn number(&mut self, version: Version) -> VersionNumber {
        if version.is_nothing() {
            return 0;
        }
        if let Some(position) = self.versions.iter().position(|known| *known == version) {
            return position as VersionNumber + 1;
        }
        if self.versions.len() >= MAX_VERSIONS_COUNT {
            return 0;
        }
        self.versions.push(version);
        self.versions.len() as VersionNumber
    }
}

/// Whether it is valid in a header field unchanged.
fn is_usable(value: &[u8]) -> bool {
    value.len() <= MAX_FIELD_BYTES && value.iter().all(|byte| *byte >= 0x20 && *byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &str) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{fields}\r\n").into_bytes()
    }

    fn condition(versions: &Versions, object: u8, number: VersionNumber) -> String {
        let mut out = Vec::new();
        versions.get(object, number).expect("is known").write_condition(&mut out);
        String::from_utf8(out).expect("is text")
    }

    #[test]
    fn what_the_server_said_of_a_version_is_what_is_asked_by() {
        let mut versions = Versions::new(2);
        assert_eq!((versions.latest(1), versions.get(1, 0)), (0, None));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let first = head(&format!("etag: \"a-1\"\r\nLast-Modified: {date}\r\n"));
        assert_eq!(versions.learn(1, &first), 1);
        assert_eq!(
            condition(&versions, 1, 1),
            format!("If-None-Match: \"a-1\"\r\nIf-Modified-Since: {date}\r\n")
        );
        assert_eq!(versions.learn(1, &head("ETag: W/\"b\"\r\n")), 2);
        assert_eq!(condition(&versions, 1, 2), "If-None-Match: W/\"b\"\r\n");
        // The first version is still what those have who have not asked since.
        assert_eq!((versions.learn(1, &first), versions.latest(1), versions.latest(0)), (1, 1, 0));
        assert_eq!(versions.learn(7, &first), 0);
    }

    #[test]
    fn what_cannot_be_asked_by_is_not_learnt() {
        let long = "x".repeat(300);
        for fields in
            ["", "ETag: bare\r\n", "ETag: \"\u{1}\"\r\n", "ETag: \"\r\n", &format!("ETag: \"{long}\"\r\n")]
        {
            assert_eq!(Versions::new(1).learn(0, &head(fields)), 0, "{fields}");
        }
    }

    #[test]
    fn versions_without_end_are_not_kept() {
        let mut versions = Versions::new(1);
        let learnt: Vec<VersionNumber> =
            (0..200).map(|number| versions.learn(0, &head(&format!("ETag: \"{number}\"\r\n")))).collect();
        assert_eq!((learnt[63], learnt[64], learnt[199], versions.latest(0)), (64, 0, 0, 0));
        assert_eq!(versions.learn(0, &head("ETag: \"63\"\r\n")), 64);
    }
}
