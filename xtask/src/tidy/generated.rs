//! Documents that are built from the program, as if they were kept in the repository: links to them and to their headings are
//! checked like any other. That they can be built at all is checked by building them.

use super::tree::Tree;
use std::collections::BTreeMap;

/// Adds documents to the tree, in the place of earlier ones that are lying there.
pub fn add(tree: &mut Tree, documents: BTreeMap<String, String>) {
    tree.files.extend(documents.keys().cloned());
    tree.texts.extend(documents);
}
