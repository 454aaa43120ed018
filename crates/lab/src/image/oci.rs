//! Writes images as an OCI image layout in a tar archive, which container runtimes load: one image for each host.
//!
//! Each image has two layers, packages and services, so that hosts of the same packages share one. Layers are read twice, since
//! the name of each is its digest: what changes meanwhile is an error. There are no times, so the same files give the same bytes.
//! Source: OCI image format specification 1.1, `image-layout.md`, `manifest.md`, `config.md`, `layer.md`.

use super::HostImage;
use super::start::SCRIPT;
use super::tar;
use super::tree::{Node, NodeContent, NodeKind, RootTree};
use crate::machine::PATH;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A blob, named by its digest.
enum Blob<'a> {
    Document(Vec<u8>),
    Layer(&'a RootTree),
}

/// What is known of a blob before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Measured {
    sha256: String,
    length_bytes: u64,
}

/// Counts and digests what passes to another writer.
struct Measuring<W> {
    inner: W,
    digest: Sha256,
    length_bytes: u64,
}

impl<W: Write> Measuring<W> {
    fn new(inner: W) -> Measuring<W> {
        Measuring { inner, digest: Sha256::new(), length_bytes: 0 }
    }

    fn measured(self) -> Measured {
        let sha256 = self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Measured { sha256, length_bytes: self.length_bytes }
    }
}

impl<W: Write> Write for Measuring<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.digest.update(&bytes[..count]);
        self.length_bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Blob<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Blob::Document(bytes) => out.write_all(bytes),
            Blob::Layer(tree) => tar::tree(tree, "", out).and_then(|()| tar::end(out)),
        }
    }

    fn measure(&self) -> io::Result<Measured> {
        let mut sink = Measuring::new(io::sink());
        self.write(&mut sink)?;
        Ok(sink.measured())
    }
}

/// Blobs by their digest.
type Blobs<'a> = BTreeMap<String, (Measured, Blob<'a>)>;

/// Keeps a blob, and says how others refer to it.
fn keep<'a>(blobs: &mut Blobs<'a>, blob: Blob<'a>, kind: &str) -> io::Result<Value> {
    let measured = blob.measure()?;
    let described = json!({
        "mediaType": kind,
        "digest": format!("sha256:{}", measured.sha256),
        "size": measured.length_bytes,
    });
    blobs.entry(measured.sha256.clone()).or_insert((measured, blob));
    Ok(described)
}

/// Writes the layout.
pub(super) fn write(lab: &str, images: &[HostImage], out: &mut dyn Write) -> io::Result<()> {
    let mut blobs = Blobs::new();
    let mut manifests = Vec::new();
    for image in images {
        let layers = [&image.packages, &image.own];
        let layers: Vec<Value> = layers
            .into_iter()
            .map(|tree| keep(&mut blobs, Blob::Layer(tree), LAYER))
            .collect::<io::Result<_>>()?;
        let config = keep(&mut blobs, Blob::Document(document(&config(&layers))), CONFIG)?;
        let manifest =
            json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers });
        let mut described = keep(&mut blobs, Blob::Document(document(&manifest)), MANIFEST)?;
        described["platform"] = json!({ "architecture": architecture(), "os": "linux" });
        described["annotations"] =
            json!({ "org.opencontainers.image.ref.name": format!("{lab}-{}", image.host) });
        manifests.push(described);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests });
    layout(&blobs, &index, out)
}

fn layout(blobs: &Blobs<'_>, index: &Value, out: &mut dyn Write) -> io::Result<()> {
    let folder = Node { kind: NodeKind::Folder, mode: 0o755, owner: (0, 0) };
    ["blobs", "blobs/sha256"].iter().try_for_each(|path| tar::entry(path, &folder, out))?;
    for (sha256, (measured, blob)) in blobs {
        tar::head(&format!("blobs/sha256/{sha256}"), measured.length_bytes, out)?;
        let mut again = Measuring::new(&mut *out);
        blob.write(&mut again)?;
        if again.measured() != *measured {
            return Err(io::Error::other("files of packages changed meanwhile"));
        }
        tar::pad(measured.length_bytes, out)?;
    }
    let documents =
        [("index.json", document(index)), ("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec())];
    for (path, bytes) in documents {
        tar::entry(
            path,
            &Node { kind: NodeKind::File(NodeContent::Bytes(bytes)), mode: 0o644, owner: (0, 0) },
            out,
        )?;
    }
    tar::end(out)
}

fn config(layers: &[Value]) -> Value {
    let digests: Vec<&Value> = layers.iter().map(|layer| &layer["digest"]).collect();
    json!({
        "architecture": architecture(),
        "os": "linux",
        "config": { "Entrypoint": [SCRIPT], "Env": [format!("PATH={PATH}"), "LANG=C.UTF-8"], "StopSignal": "SIGTERM" },
        "rootfs": { "type": "layers", "diff_ids": digests },
    })
}

fn document(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// This machine's kind as Go, whose names the format has, calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    fn image(host: &str, text: &str) -> HostImage {
        let (mut packages, mut own) = (RootTree::default(), RootTree::default());
        packages.text("usr/bin/x", "program", 0o755);
        own.text("etc/x", text, 0o644);
        HostImage { host: host.into(), packages, own, services_count: 1, packages_count: 1 }
    }

    /// The layout, and the file of it under this name.
    fn unpacked(bytes: &[u8], path: &str) -> Vec<u8> {
        let mut tar = Command::new("tar")
            .args(["-x", "-O", "-f", "-", path])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tar is there");
        let mut input = tar.stdin.take().expect("piped");
        let written = std::thread::spawn({
            let bytes = bytes.to_vec();
            move || input.write_all(&bytes)
        });
        let mut text = Vec::new();
        tar.stdout.take().expect("piped").read_to_end(&mut text).expect("reads");
        tar.wait().expect("ends");
        // tar may have ended before all was written.
        drop(written.join());
        text
    }

    #[test]
    fn every_digest_is_that_of_the_blob_it_names_and_hosts_share_packages() {
        let images = [image("one", "1"), image("two", "2")];
        let mut bytes = Vec::new();
        write("l", &images, &mut bytes).expect("writes");
        let mut again = Vec::new();
        write("l", &images, &mut again).expect("writes");
        assert!(bytes == again, "the same files give the same bytes");
        let read = |path: &str| serde_json::from_slice::<Value>(&unpacked(&bytes, path)).expect("is JSON");
        let blob = |described: &Value| {
            let digest = described["digest"].as_str().expect("a digest").replace("sha256:", "");
            let found = unpacked(&bytes, &format!("blobs/sha256/{digest}"));
            let sum: String = Sha256::digest(&found).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((sum, Some(found.len() as u64)), (digest, described["size"].as_u64()));
            found
        };
        let index = read("index.json");
        let mut packages = Vec::new();
        for (number, name) in ["l-one", "l-two"].iter().enumerate() {
            let described = &index["manifests"][number];
            assert_eq!(described["annotations"]["org.opencontainers.image.ref.name"], *name);
            let manifest: Value = serde_json::from_slice(&blob(described)).expect("is JSON");
            let config: Value = serde_json::from_slice(&blob(&manifest["config"])).expect("is JSON");
            assert_eq!(config["config"]["Entrypoint"][0], SCRIPT);
            for (layer, id) in [0, 1].map(|at| (&manifest["layers"][at], &config["rootfs"]["diff_ids"][at])) {
                assert_eq!(&layer["digest"], id, "a layer that is not compressed has one digest");
                blob(layer);
            }
            packages.push(manifest["layers"][0]["digest"].clone());
        }
        assert_eq!(packages[0], packages[1]);
        assert_eq!(read("oci-layout")["imageLayoutVersion"], "1.0.0");
    }
}
