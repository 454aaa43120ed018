//! Names of settings in which `*` matches a device, a queue, a process, a port, or a path.

/// A name that fits a definition, and what each `*` of the definition is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingName<'a> {
    /// The name in the table.
    pub(crate) id: &'a str,
    parts: Vec<&'a str>,
}

impl<'a> SettingName<'a> {
    /// `key` by the definition `id`; `None` if that is another one. A part is as long as it can be, may hold dots, as
    /// names of devices and addresses do, and nothing that could lead elsewhere.
    pub(crate) fn of(id: &'a str, key: &'a str) -> Option<SettingName<'a>> {
        let mut pieces = id.split('*');
        let first = pieces.next()?;
        let mut rest = key.strip_prefix(first)?;
        let pieces: Vec<&str> = pieces.collect();
        let Some((last, between)) = pieces.split_last() else {
            return rest.is_empty().then_some(SettingName { id, parts: Vec::new() });
        };
        rest = rest.strip_suffix(last)?;
        let mut parts = Vec::new();
        for piece in between {
            let (part, after) = rest.rsplit_once(piece)?;
            parts.push(part);
            rest = after;
        }
        parts.push(rest);
        let mut all = parts.iter().enumerate();
        // A `*` behind a colon, and only the first, is a path.
        let is_allowed = |(index, part): (usize, &&str)| match index == 0 && first.ends_with(':') {
            true => is_path(part),
            false => is_plain(part),
        };
        all.all(is_allowed).then_some(SettingName { id, parts })
    }

    /// What the first `*` is; empty if there is none.
    pub(crate) fn first(&self) -> &'a str {
        self.parts.first().copied().unwrap_or_default()
    }

    /// A text of the definition with each `*` replaced by what it is.
    pub(crate) fn filled(&self, text: &str) -> String {
        filled(text, &self.parts)
    }

    /// The same for a text that begins after the first `*`.
    pub(crate) fn filled_after_first(&self, text: &str) -> String {
        filled(text, self.parts.get(1..).unwrap_or_default())
    }
}

fn filled(text: &str, parts: &[&str]) -> String {
    let mut parts = parts.iter();
    text.split('*').enumerate().fold(String::new(), |text, (index, piece)| {
        let part = if index == 0 { "" } else { parts.next().copied().unwrap_or_default() };
        text + part + piece
    })
}

/// Whether a part is a path that leads where it seems to.
fn is_path(part: &str) -> bool {
    let is_step = |step: &str| !step.is_empty() && step != "." && step != "..";
    let steps = part.strip_prefix('/').map(|rest| rest.is_empty() || rest.split('/').all(is_step));
    steps == Some(true) && part.len() < 4096 && !part.contains(char::is_control)
}

fn is_plain(part: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@[]".contains(&byte);
    !part.is_empty() && part.len() <= 64 && part != "." && part != ".." && part.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(id: &'a str, key: &'a str) -> Option<Vec<&'a str>> {
        SettingName::of(id, key).map(|name| name.parts)
    }

    #[test]
    fn parts_of_names_lead_nowhere_else() {
        assert_eq!(parts("a.b", "a.b"), Some(vec![]));
        assert_eq!(parts("netdev.*.rx-*.rps_cpus", "netdev.a.rx-0.rx-1.rps_cpus"), Some(vec!["a.rx-0", "1"]));
        for wrong in
            ["block...read_ahead_kb", "block.a/b.read_ahead_kb", "block.a\nb.read_ahead_kb", "block.sda"]
        {
            assert_eq!(parts("block.*.read_ahead_kb", wrong), None, "{wrong}");
        }
        assert_eq!(parts("mount:*", "mount:/srv/my data"), Some(vec!["/srv/my data"]));
        assert_eq!(parts("mount:*", "mount:/"), Some(vec!["/"]));
        for wrong in ["mount:srv", "mount:/srv/", "mount:/srv/../etc", "mount:", "mount:/a//b", "mount:/a\nb"]
        {
            assert_eq!(parts("mount:*", wrong), None, "{wrong}");
        }
        assert_eq!(
            filled("/sys/class/net/*/queues/rx-*/rps_cpus", &["eth0", "1"]),
            "/sys/class/net/eth0/queues/rx-1/rps_cpus"
        );
    }
}
