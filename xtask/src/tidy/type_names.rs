//! Names of types: one name for one thing across the workspace.
//!
//! Counted are structs, enums, traits, unions, and type aliases that are `pub`, `pub(crate)`, or `pub(super)`, outside of
//! tests: their names are read in files that do not declare them, where nothing but the name says which one it is. A private
//! type is read in the file that declares it, and an associated type is named by its trait, so neither counts. A name that is
//! declared more than once needs an allowance in the table `count.type-name` of `xtask/tidy-exceptions.toml`, which may only
//! fall.

use super::Violations;
use super::ratchet::{Breaches, TYPE_NAME};
use super::syntax;
use super::tree::Tree;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Ident, Item, Visibility};

/// Counts the names of all types.
pub fn check(tree: &Tree, found: &mut Violations) {
    let mut places: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for (path, file) in tree.parsed(&["crates/", "xtask/"]) {
        let mut declared = Declared(Vec::new());
        declared.visit_file(file);
        for name in declared.0 {
            places.entry(name.to_string()).or_default().push((path, name.span().start().line));
        }
    }
    let breaches =
        places.into_iter().map(|(name, places)| (name.clone(), breaches(&name, &places))).collect();
    TYPE_NAME.check(tree, &breaches, found);
}

fn breaches(name: &str, places: &[(&str, usize)]) -> Breaches {
    let (path, line) = places[0];
    let others: Vec<String> = places[1..].iter().map(|(path, line)| format!("{path}:{line}")).collect();
    let message = format!("{} types are named '{name}', also {}", places.len(), others.join(", "));
    Breaches { number: places.len(), path: path.to_owned(), line, message }
}

/// The names of the types that a file declares for others.
struct Declared<'a>(Vec<&'a Ident>);

impl<'a> Visit<'a> for Declared<'a> {
    fn visit_item(&mut self, item: &'a Item) {
        if syntax::is_test(syntax::attributes(item)) {
            return;
        }
        let declared = match item {
            Item::Enum(item) => Some((&item.vis, &item.ident)),
            Item::Struct(item) => Some((&item.vis, &item.ident)),
            Item::Trait(item) => Some((&item.vis, &item.ident)),
            Item::Type(item) => Some((&item.vis, &item.ident)),
            Item::Union(item) => Some((&item.vis, &item.ident)),
            _ => None,
        };
        self.0.extend(
            declared.filter(|(seen, _)| !matches!(seen, Visibility::Inherited)).map(|(_, name)| name),
        );
        visit::visit_item(self, item);
    }
}
