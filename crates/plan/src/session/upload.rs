//! The form that an operation sends: its fields, and files with contents of their kind.
//!
//! A server that looks at what it gets, for example to make a small picture of it, has to find what the name promises. So a
//! `.jpg` is a real picture, and a `.pdf` begins as one; the rest of them, and all other files, are letters.

use super::file::{OperationFile, UploadFile};
use super::problem::SessionProblem;

/// Most bytes of the files of one form.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Separates the parts of a form.
const BOUNDARY: &str = "sysdyno-b7f1c2d9e3a4";

/// What a file is called in its form where the session does not say.
const DEFAULT_FIELD: &str = "file";

/// Sizes of pictures: the first that fits into the file is taken. Unit: pixels.
const PICTURES: [(u16, u16); 3] = [(1600, 1200), (640, 480), (16, 16)];

/// The head of a PDF.
const PDF_HEAD: &[u8] = b"%PDF-1.4\n%";

/// Longest comment of a JPEG, with the two bytes that hold its length.
const COMMENT_MAX: usize = 65_535;

/// The body of a form and its content type; `None`: the operation sends no files.
pub(super) fn form(operation: &OperationFile) -> Result<Option<(Vec<u8>, String)>, SessionProblem> {
    let problem = |cause: &str| SessionProblem::at(operation.name.span(), cause);
    if operation.uploads.is_empty() {
        return match operation.fields.is_empty() {
            true => Ok(None),
            false => Err(problem("'fields' belong to a form with files: without 'uploads', send a 'body'")),
        };
    }
    let bytes = operation.uploads.iter().fold(0u64, |sum, upload| sum.saturating_add(upload.bytes));
    if operation.body.as_ref().is_some_and(|body| !body.get_ref().is_empty()) || bytes > MAX_BYTES {
        return Err(problem("an upload has at most 64 MiB and cannot be combined with another body"));
    }
    if operation.fields.values().any(|value| value.contains("{{")) {
        return Err(problem(
            "'fields' are sent as they are: values ('{{...}}') belong into a path, header, or body",
        ));
    }
    let mut body = Vec::new();
    for (name, value) in &operation.fields {
        part(&mut body, &format!("name=\"{}\"", quoted(name)), value.as_bytes());
    }
    for upload in &operation.uploads {
        let field = upload.field.as_deref().unwrap_or(DEFAULT_FIELD);
        let head = format!(
            "name=\"{}\"; filename=\"{}\"\r\nContent-Type: application/octet-stream",
            quoted(field),
            quoted(&upload.name)
        );
        part(&mut body, &head, &content(upload));
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    Ok(Some((body, format!("multipart/form-data; boundary={BOUNDARY}"))))
}

fn part(body: &mut Vec<u8>, head: &str, content: &[u8]) {
    body.extend_from_slice(
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(),
    );
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n");
}

/// What can be in quotes in a head.
fn quoted(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_graphic() && *letter != '"').collect()
}

fn content(upload: &UploadFile) -> Vec<u8> {
    let length = upload.bytes as usize;
    let is = |ending: &str| upload.name.to_ascii_lowercase().ends_with(ending);
    if is(".jpg") || is(".jpeg") {
        let pictures = PICTURES.iter().map(|size| picture(*size));
        if let Some(known) = pictures.filter_map(|picture| picture.filled(length)).next() {
            return known;
        }
    }
    let head = if is(".pdf") { PDF_HEAD } else { b"" };
    let head = &head[..head.len().min(length)];
    [head, &letters(length - head.len())].concat()
}

fn letters(count: usize) -> Vec<u8> {
    (0..count).map(|at| b'a' + (at % 26) as u8).collect()
}

/// A JPEG before and after the place where comments go.
struct Picture {
    head: Vec<u8>,
    rest: Vec<u8>,
}

/// A gray picture (ITU-T T.81, baseline, one component). Both Huffman tables have a single code of one bit, `0`, so each block
/// of 8 × 8 pixels is two zero bits: no change of brightness, and nothing else.
fn picture((width, height): (u16, u16)) -> Picture {
    let [w1, w0] = width.to_be_bytes();
    let [h1, h0] = height.to_be_bytes();
    let mut rest = vec![0xff, 0xdb, 0, 67, 0];
    rest.extend([1; 64]);
    rest.extend([0xff, 0xc0, 0, 11, 8, h1, h0, w1, w0, 1, 1, 0x11, 0]);
    for table in [0x00, 0x10] {
        rest.extend([0xff, 0xc4, 0, 20, table, 1]);
        rest.extend([0; 15]);
        rest.push(0);
    }
    rest.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]);
    let blocks = usize::from(width.div_ceil(8)) * usize::from(height.div_ceil(8));
    rest.extend(vec![0; blocks / 4]);
    // What is left of the last byte is ones.
    rest.extend((blocks % 4 > 0).then_some(0xff >> (2 * (blocks % 4))));
    rest.extend([0xff, 0xd9]);
    Picture { head: vec![0xff, 0xd8], rest }
}

impl Picture {
    /// The picture in a file of so many bytes, which comments fill; `None`: it does not fit.
    fn filled(self, length: usize) -> Option<Vec<u8>> {
        let mut left = length.checked_sub(self.head.len() + self.rest.len())?;
        let mut file = self.head;
        while left > 0 {
            // A comment has at least four bytes, so none may leave fewer.
            let mut own = left.min(COMMENT_MAX + 2);
            if (1..4).contains(&(left - own)) {
                own -= 4;
            }
            if own < 4 {
                return None;
            }
            file.extend([0xff, 0xfe]);
            file.extend(((own - 2) as u16).to_be_bytes());
            file.extend(letters(own - 4));
            left -= own;
        }
        file.extend(self.rest);
        Some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of a JPEG up to the one that begins its pixels, as (marker, length).
    fn segments(file: &[u8]) -> Vec<(u8, usize)> {
        let mut found = Vec::new();
        let mut at = 2;
        loop {
            assert_eq!(file[at], 0xff, "{found:?}");
            let length = usize::from(u16::from_be_bytes([file[at + 2], file[at + 3]]));
            found.push((file[at + 1], length));
            at += 2 + length;
            if found.last().is_some_and(|(marker, _)| *marker == 0xda) {
                return found;
            }
        }
    }

    fn of(name: &str, bytes: u64) -> Vec<u8> {
        content(&UploadFile { name: name.into(), field: None, bytes })
    }

    #[test]
    fn a_picture_has_the_length_that_was_asked_for_and_is_well_formed() {
        for bytes in [671_520, 669_128, 100_000, 7_700, 7_701, 65_711, 65_712, 2_000, 400] {
            let file = of("a.JPG", bytes);
            assert_eq!(file.len() as u64, bytes);
            assert_eq!((&file[..2], &file[file.len() - 2..]), (&[0xff, 0xd8][..], &[0xff, 0xd9][..]));
            let known = segments(&file);
            let comments = known.iter().filter(|(marker, _)| *marker == 0xfe).count();
            let markers: Vec<u8> = known.iter().skip(comments).map(|(marker, _)| *marker).collect();
            assert_eq!(markers, [0xdb, 0xc0, 0xc4, 0xc4, 0xda], "{bytes}");
        }
    }

    #[test]
    fn what_no_picture_fits_into_is_letters() {
        assert_eq!(of("a.jpg", 5), b"abcde");
        assert_eq!(of("a.txt", 28), b"abcdefghijklmnopqrstuvwxyzab");
        assert_eq!(of("a.pdf", 12), b"%PDF-1.4\n%ab");
        assert_eq!(of("a.pdf", 3), b"%PD");
    }
}
