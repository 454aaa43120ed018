//! The objects that pages embed: lists of paths, in which `{1..16}` expands to one path per number.

use super::problem::SessionProblem;
use std::collections::HashMap;
use std::ops::Range;
use sysdyno_record::session::{MAX_OBJECTS, SessionObject};
use toml::Spanned;

/// All objects of a session, each once.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub list: Vec<SessionObject>,
    known: HashMap<String, u32>,
}

impl Objects {
    /// The positions of the objects of these paths.
    pub(super) fn add(
        &mut self,
        paths: &[Spanned<String>],
        is_image: bool,
    ) -> Result<Vec<u32>, SessionProblem> {
        let mut positions = Vec::new();
        for path in paths {
            for path in expand(path.get_ref()).map_err(|cause| SessionProblem::at(path.span(), cause))? {
                positions.push(self.position(path, is_image).map_err(|cause| cause(&paths[0].span()))?);
            }
        }
        Ok(positions)
    }

    fn position(
        &mut self,
        path: String,
        is_image: bool,
    ) -> Result<u32, impl Fn(&Range<usize>) -> SessionProblem + use<>> {
        if let Some(position) = self.known.get(&path) {
            return Ok(*position);
        }
        if self.list.len() == MAX_OBJECTS {
            return Err(|span: &Range<usize>| {
                SessionProblem::at(span.clone(), format!("more than {MAX_OBJECTS} different objects"))
            });
        }
        let position = self.list.len() as u32;
        self.known.insert(path.clone(), position);
        self.list.push(SessionObject { path, is_image });
        Ok(position)
    }
}

/// `/a-{1..3}` is `/a-1`, `/a-2`, `/a-3`.
fn expand(path: &str) -> Result<Vec<String>, String> {
    if !path.starts_with('/') {
        return Err(format!("'{path}' is not a path: it must start with '/'"));
    }
    let Some((before, rest)) = path.split_once('{') else { return Ok(vec![path.to_owned()]) };
    let hint = || format!("cannot read the range in '{path}': write '{{1..16}}'");
    let (range, after) = rest.split_once('}').ok_or_else(hint)?;
    let (first, last) = range.split_once("..").ok_or_else(hint)?;
    let (first, last): (usize, usize) =
        (first.parse().map_err(|_| hint())?, last.parse().map_err(|_| hint())?);
    if first > last || last - first >= MAX_OBJECTS {
        return Err(hint());
    }
    Ok((first..=last).map(|number| format!("{before}{number}{after}")).collect())
}
