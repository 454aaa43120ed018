//! The configuration of a nats-server for a fleet: what its users may do, and how much.
//!
//! Only the port for clients is open: no monitoring, no cluster, no leaf nodes, no web sockets. Nobody is let in without a key.

use crate::nats::PublicKey;
use crate::subject::{Permissions, of_agent, of_controller};
use std::net::SocketAddr;
use std::path::Path;

/// Longest message. Unit: bytes.
const MAX_PAYLOAD_BYTES: usize = 256 << 10;

/// What a configuration is made from.
pub(super) struct Configuration<'a> {
    pub(super) listen: SocketAddr,
    /// Folder with its certificate and its files.
    pub(super) folder: &'a Path,
    pub(super) is_tls: bool,
    pub(super) controller: PublicKey,
    /// Name and key of each agent.
    pub(super) agents: Vec<(String, PublicKey)>,
}

impl Configuration<'_> {
    /// The file.
    pub(super) fn text(&self) -> String {
        let file = |name: &str| quoted(&self.folder.join(name).display().to_string());
        let tls = match self.is_tls {
            true => format!(
                "tls {{\n  cert_file: {}\n  key_file: {}\n  timeout: 5\n}}\n",
                file(super::SERVER_CERTIFICATE),
                file(super::SERVER_KEY)
            ),
            false => String::new(),
        };
        let controller = user(&self.controller, &of_controller());
        let agents: String = self.agents.iter().map(|(name, key)| user(key, &of_agent(name))).collect();
        format!(
            "# Written by `sysdyno fleet`, which replaces it.\n\
             listen: {}\n\
             server_name: \"sysdyno-fleet\"\n\
             max_payload: {MAX_PAYLOAD_BYTES}\n\
             max_pending: {}\n\
             max_connections: 2048\n\
             write_deadline: \"5s\"\n\
             ping_interval: \"5s\"\n\
             ping_max: 3\n\
             {tls}\
             authorization {{\n  timeout: 5\n  users: [\n{controller}{agents}  ]\n}}\n",
            quoted(&self.listen.to_string()),
            64 << 20,
        )
    }
}

fn user(key: &PublicKey, permissions: &Permissions) -> String {
    let list = |subjects: &[String]| subjects.iter().map(|one| quoted(one)).collect::<Vec<_>>().join(", ");
    format!(
        "    {{ nkey: {}, permissions: {{ publish: {{ allow: [{}] }}, subscribe: {{ allow: [{}] }} }} }}\n",
        quoted(&key.to_string()),
        list(&permissions.publish),
        list(&permissions.subscribe)
    )
}

/// A string as the configuration's syntax has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nats::SigningKey;

    #[test]
    fn each_agent_has_its_own_subjects_and_no_other_port_is_open() {
        let keys = [(); 3].map(|()| SigningKey::generate().public());
        let text = Configuration {
            listen: "10.0.0.1:4222".parse().expect("an address"),
            folder: Path::new("/var/lib/sysdyno/fleet"),
            is_tls: true,
            controller: keys[0],
            agents: vec![("web-1".into(), keys[1]), ("web-2".into(), keys[2])],
        }
        .text();
        let line =
            |key: &PublicKey| text.lines().find(|line| line.contains(&key.to_string())).expect("is there");
        assert!(
            line(&keys[1])
                .contains("publish: { allow: [\"sysdyno.1.here.web-1\", \"sysdyno.1.from.web-1.*\"] }")
        );
        assert!(!line(&keys[1]).contains("web-2") && !line(&keys[1]).contains('>'));
        assert!(line(&keys[0]).contains("sysdyno.1.to.*.*"));
        for word in ["http", "cluster", "leafnodes", "websocket", "no_auth_user", "jetstream"] {
            assert!(!text.contains(&format!("{word}:")) && !text.contains(&format!("{word} {{")), "{word}");
        }
        assert_eq!(quoted("a\"b\\"), "\"a\\\"b\\\\\"");
    }
}
