//! Rust files as the parser `syn` sees them, for rules about names and what they refer to.
//!
//! Only production files are parsed. What is under `#[cfg(test)]` inside of them is left out by each rule with
//! [`is_test`]. A file that cannot be parsed is a violation, so that no rule passes by not looking.

use super::Violations;
use super::tree::Tree;
use syn::{Attribute, ImplItem, Item, Meta, Token, TraitItem, punctuated::Punctuated};

/// Reports production files that are not Rust.
pub fn check(tree: &Tree, found: &mut Violations) {
    for (path, parsed) in &tree.syntax {
        if let Err(error) = parsed {
            found.add(path, error.span().start().line, "syntax", format!("cannot parse the file: {error}"));
        }
    }
}

/// Whether what carries these attributes is compiled for tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<Meta>().is_ok_and(|condition| needs_test(&condition)))
    })
}

/// Whether this condition holds in tests only: `test`, or `all(…)` with such a condition in it.
fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|all| all.iter().any(needs_test)),
        _ => false,
    }
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an item in an `impl` block.
pub fn impl_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an item in a trait.
pub fn trait_attributes(item: &TraitItem) -> &[Attribute] {
    match item {
        TraitItem::Const(item) => &item.attrs,
        TraitItem::Fn(item) => &item.attrs,
        TraitItem::Macro(item) => &item.attrs,
        TraitItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_only_tests_meet_are_known() {
        let is_test_item = |text: &str| {
            let item: Item = syn::parse_str(&format!("{text} fn f() {{}}")).expect("an item");
            is_test(attributes(&item))
        };
        for text in ["#[test]", "#[cfg(test)]", "#[cfg(all(unix, test))]", "#[cfg(all(all(test), unix))]"] {
            assert!(is_test_item(text), "{text}");
        }
        for text in ["", "#[cfg(not(test))]", "#[cfg(any(test, unix))]", "#[cfg(feature = \"test\")]"] {
            assert!(!is_test_item(text), "{text}");
        }
    }
}
