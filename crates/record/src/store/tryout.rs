//! A tryout's plan and conclusion without the rest of its folder.

use super::folder::Folder;
use super::{CONCLUSION, MAX_DOCUMENT_BYTES, PLAN};
use crate::RecordError;
use crate::plan::Plan;
use crate::tryout::{TryConclusion, TryPlan};
use std::path::Path;

/// Plan and conclusion of a tryout; `None`: it is none, or has no conclusion, or one of the two cannot be read.
///
/// # Errors
/// The folder cannot be opened, or one of the files is not a plain one.
pub fn read_tryout(path: &Path) -> Result<Option<(TryPlan, TryConclusion)>, RecordError> {
    let folder = Folder::open(path)?;
    let Some(conclusion) = folder.read_whole(CONCLUSION, MAX_DOCUMENT_BYTES)? else { return Ok(None) };
    let Some(plan) = folder.read_whole(PLAN, MAX_DOCUMENT_BYTES)? else { return Ok(None) };
    let read = (serde_json::from_slice::<Plan>(&plan), serde_json::from_slice(&conclusion));
    Ok(match read {
        (Ok(Plan::Try(plan)), Ok(conclusion)) => Some((*plan, conclusion)),
        _ => None,
    })
}
