//! Turns options into the protocols on the connections.

use crate::options::{Http2Option, PresetOption, WireOptions};
use anyhow::ensure;
use std::path::PathBuf;
use sysdyno_load::target::{is_memcached, tls_name};
use sysdyno_record::wire::{
    Http2Plan, MemcachedDialect, MemcachedPlan, Popularity, SizeModel, TlsPlan, WirePlan,
};

const DEFAULT_KEYS_COUNT: u64 = 100_000;

/// Share of reading requests unless given: that of most memcached benchmarks.
const DEFAULT_GET_RATIO: f64 = 0.9;

/// In ETC there are 30 gets to a set (Atikoglu et al., SIGMETRICS 2012, section 3).
const ETC_GET_RATIO: f64 = 30.0 / 31.0;

const DEFAULT_KEY_SIZE: SizeModel = SizeModel::Fixed(30);
const DEFAULT_VALUE_SIZE: SizeModel = SizeModel::Fixed(200);

/// What is spoken with a target.
pub fn plan(url: &str, options: &WireOptions) -> anyhow::Result<WirePlan> {
    let memcached = is_memcached(url).then(|| memcached(options));
    ensure!(
        memcached.is_some() || !has_memcached_options(options),
        "cannot use memcached options for '{url}'\nhint: write the target as memcached[s]://HOST[:PORT]"
    );
    ensure!(
        options.insecure != Some(true) || options.tls_ca.is_none(),
        "cannot combine --insecure with --tls-ca\nhint: --insecure=false overrides a settings file"
    );
    let tls = tls_name(url).map(|host| tls(host, options));
    let secure = if memcached.is_some() { "memcacheds://HOST[:PORT]" } else { "https://HOST[:PORT]/PATH" };
    ensure!(
        tls.is_some() || !has_tls_options(options),
        "cannot use TLS options for '{url}'\nhint: write the target as {secure}"
    );
    let http2 = http2(url, tls.is_some(), options)?;
    Ok(WirePlan { memcached, http2, tls })
}

fn http2(url: &str, is_tls: bool, options: &WireOptions) -> anyhow::Result<Option<Http2Plan>> {
    let Some(way) = options.http2 else {
        ensure!(options.streams.is_none(), "cannot use streams without HTTP/2\nhint: add --http2");
        return Ok(None);
    };
    ensure!(!is_memcached(url), "cannot use HTTP/2 with memcached");
    let fits = match way {
        Http2Option::Auto => true,
        Http2Option::Alpn => is_tls,
        Http2Option::Prior => !is_tls,
    };
    ensure!(
        fits,
        "cannot negotiate HTTP/2 this way with '{url}'\nhint: use --http2 alpn for https://, and --http2 \
         prior for http://"
    );
    Ok(Some(Http2Plan { streams: options.streams.unwrap_or(1) }))
}

fn tls(host: String, options: &WireOptions) -> TlsPlan {
    // A plan is carried out where it was made, and read elsewhere: paths do not depend on the folder.
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    TlsPlan {
        server_name: options.tls_name.clone().unwrap_or(host),
        version: options.tls_version.map(|word| word.0),
        resume_ratio: options.tls_resume.map_or(0.0, |share| share.0.0),
        is_insecure: options.insecure == Some(true),
        ca_file: options.tls_ca.as_ref().map(absolute),
        certificate_file: options.tls_cert.as_ref().map(absolute),
        key_file: options.tls_key.as_ref().map(absolute),
    }
}

fn has_tls_options(options: &WireOptions) -> bool {
    options.tls_ca.is_some()
        || options.tls_cert.is_some()
        || options.tls_key.is_some()
        || options.tls_name.is_some()
        || options.tls_version.is_some()
        || options.tls_resume.is_some()
        || options.insecure == Some(true)
}

fn memcached(options: &WireOptions) -> MemcachedPlan {
    let is_etc = options.mc_preset == Some(PresetOption::Etc);
    let size = |plain| if is_etc { SizeModel::Etc } else { plain };
    let get_ratio = if is_etc { ETC_GET_RATIO } else { DEFAULT_GET_RATIO };
    let expiry = options.mc_expiry.map_or(0, |span| span.0.0.div_ceil(1_000_000_000));
    MemcachedPlan {
        dialect: options.mc_protocol.map_or(MemcachedDialect::Text, |word| word.0),
        get_ratio: options.mc_gets.map_or(get_ratio, |share| share.0.0),
        keys_per_get: options.mc_multiget.unwrap_or(1),
        keys_count: options.mc_keys.unwrap_or(DEFAULT_KEYS_COUNT),
        popularity: options.mc_popularity.map_or(Popularity::Uniform, |popularity| popularity.0.0),
        key_size: options.mc_key_size.map_or(size(DEFAULT_KEY_SIZE), |model| model.0.0),
        value_size: options.mc_value_size.map_or(size(DEFAULT_VALUE_SIZE), |model| model.0.0),
        // Spans are 30 days at most, which is as long as memcached takes a number for a span.
        expiry_seconds: u32::try_from(expiry).unwrap_or(u32::MAX),
        is_verified: options.mc_no_verify != Some(true),
        is_preloaded: options.mc_no_preload != Some(true),
    }
}

fn has_memcached_options(options: &WireOptions) -> bool {
    let WireOptions {
        mc_preset,
        mc_protocol,
        mc_gets,
        mc_multiget,
        mc_keys,
        mc_popularity,
        mc_key_size,
        mc_value_size,
        mc_expiry,
        mc_no_verify,
        mc_no_preload,
        ..
    } = options;
    mc_preset.is_some()
        || mc_protocol.is_some()
        || mc_gets.is_some()
        || mc_multiget.is_some()
        || mc_keys.is_some()
        || mc_popularity.is_some()
        || mc_key_size.is_some()
        || mc_value_size.is_some()
        || mc_expiry.is_some()
        || *mc_no_verify == Some(true)
        || *mc_no_preload == Some(true)
}
