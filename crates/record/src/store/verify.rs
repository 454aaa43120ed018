//! Digests: of the files of a finished run, and of the manifest that lists them.
//!
//! The manifest's own digest is taken over its bytes with the digits of that digest written as zeros.

use super::folder::{Folder, is_plain_name};
use super::{MANIFEST, MAX_MANIFEST_BYTES};
use crate::RecordError;
use crate::json;
use crate::manifest::{FileDigest, Manifest, RunStatus};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Read;

/// Placeholder for the manifest's digest while it is computed.
const BLANK_SHA256: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const SEAL_KEY: &[u8] = b"\"manifest_sha256\": \"";

/// Lower-case hexadecimal digits of `bytes`.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a manifest with its own digest, which is put into it, too.
pub(super) fn seal(folder: &Folder, manifest: &mut Manifest) -> Result<Vec<u8>, RecordError> {
    manifest.manifest_sha256 = Some(BLANK_SHA256.into());
    let (bytes, digest) = sealed(document(folder, MANIFEST, manifest)?);
    manifest.manifest_sha256 = Some(digest);
    Ok(bytes)
}

/// A file that is one JSON document.
pub(super) fn document<T: Serialize>(folder: &Folder, name: &str, value: &T) -> Result<Vec<u8>, RecordError> {
    let mut text = json::pretty(value)
        .map_err(|error| RecordError::Unwritable { path: folder.path_of(name), cause: error.to_string() })?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// A value as a line of a file, with its newline.
pub(super) fn line<T: Serialize>(folder: &Folder, name: &str, value: &T) -> Result<Vec<u8>, RecordError> {
    let mut bytes = serde_json::to_vec(value)
        .map_err(|error| RecordError::Unwritable { path: folder.path_of(name), cause: error.to_string() })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The manifest's bytes, written with a blank digest, and the digest that was put in its place.
fn sealed(mut bytes: Vec<u8>) -> (Vec<u8>, String) {
    let digest = hexadecimal(&Sha256::digest(&bytes));
    let at = seal_position(&bytes).expect("the manifest was just written with a blank digest");
    bytes[at..at + BLANK_SHA256.len()].copy_from_slice(digest.as_bytes());
    (bytes, digest)
}

/// Where the digits of the manifest's digest are: the last such key, since texts before it are not ours.
fn seal_position(bytes: &[u8]) -> Option<usize> {
    let key = bytes.windows(SEAL_KEY.len()).rposition(|window| window == SEAL_KEY)?;
    let at = key + SEAL_KEY.len();
    (at + BLANK_SHA256.len() <= bytes.len()).then_some(at)
}

/// The digest of a file with these contents.
pub(super) fn digest_of(bytes: &[u8]) -> FileDigest {
    FileDigest { bytes: bytes.len() as u64, sha256: hexadecimal(&Sha256::digest(bytes)) }
}

/// What does not agree with the digests, in sentences.
pub(super) fn differences(folder: &Folder, manifest: &Manifest) -> Result<Vec<String>, RecordError> {
    if manifest.status == RunStatus::Running {
        return Ok(vec!["the run did not finish, so it has no digests".into()]);
    }
    let mut found = Vec::new();
    if !is_seal_intact(folder)? {
        found.push(format!("'{MANIFEST}' was changed"));
    }
    for (name, digest) in &manifest.files {
        let difference = if is_plain_name(name) {
            compare(folder, name, digest)?
        } else {
            Some("is not the name of a file in the folder")
        };
        found.extend(difference.map(|what| format!("'{}' {what}", name.escape_debug())));
    }
    Ok(found)
}

fn is_seal_intact(folder: &Folder) -> Result<bool, RecordError> {
    let Some(mut bytes) = folder.read_whole(MANIFEST, MAX_MANIFEST_BYTES)? else { return Ok(false) };
    let Some(at) = seal_position(&bytes) else { return Ok(false) };
    let digits = at..at + BLANK_SHA256.len();
    let written = bytes[digits.clone()].to_vec();
    bytes[digits].copy_from_slice(BLANK_SHA256.as_bytes());
    Ok(hexadecimal(&Sha256::digest(&bytes)).as_bytes() == written)
}

fn compare(folder: &Folder, name: &str, digest: &FileDigest) -> Result<Option<&'static str>, RecordError> {
    let Some(file) = folder.open_file(name)? else { return Ok(Some("is missing")) };
    let fail = |source| RecordError::Io { operation: "read", path: folder.path_of(name), source };
    if file.metadata().map_err(fail)?.len() != digest.bytes {
        return Ok(Some("has a different length than recorded"));
    }
    let mut hash = Sha256::new();
    let mut limited = file.take(digest.bytes);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match limited.read(&mut buffer).map_err(fail)? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    let is_same = hexadecimal(&hash.finalize()) == digest.sha256;
    Ok((!is_same).then_some("has different contents than recorded"))
}
