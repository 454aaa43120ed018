//! Where to publish metrics of a running load.

use clap::Args;
use std::net::SocketAddr;

/// Where to publish metrics of a running load.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Live metrics")]
pub struct LiveOptions {
    /// Serve live metrics at http://ADDRESS/metrics, for Prometheus on this host; a loopback address, e.g. 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS")]
    pub prometheus: Option<SocketAddr>,
    /// Push live metrics to this URL every 2s, by Prometheus remote write, e.g. http://HOST:9090/api/v1/write
    #[arg(long, value_name = "URL")]
    pub remote_write: Option<String>,
    /// Push live metrics to this URL every 2s, by OTLP (OpenTelemetry) over HTTP, e.g. http://HOST:4318/v1/metrics
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
}
