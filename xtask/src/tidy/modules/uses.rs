//! What the production code of one file names of other files.

use super::super::syntax;
use super::scopes::{Meaning, Scopes, imports, item_name};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItem, Item, ItemMod, ItemUse, Lit, Macro, Meta, Path, Stmt, TraitItem};

/// An item of another file that is named.
pub struct NamedItem {
    /// The file that defines it.
    pub file: usize,
    /// The item; `*` for all of them.
    pub name: String,
    /// Where it is named, from 1.
    pub line: usize,
}

/// What a file names of other files. Empty if it cannot be parsed.
pub fn names(scopes: &Scopes, file: usize, syntax: &syn::Result<syn::File>) -> Vec<NamedItem> {
    let mut reader =
        Reader { scopes, file, scope: scopes.of_file(file), blocks: Vec::new(), named: Vec::new() };
    if let Ok(syntax) = syntax {
        reader.visit_file(syntax);
    }
    reader.named
}

/// What is bound in a block: items of its own, and imports with their paths.
type Locals = BTreeMap<String, Option<Vec<String>>>;

struct Reader<'a> {
    scopes: &'a Scopes,
    file: usize,
    scope: usize,
    blocks: Vec<Locals>,
    named: Vec<NamedItem>,
}

impl Reader<'_> {
    /// A path in the code.
    fn add(&mut self, path: &[String], line: usize) {
        for meaning in self.resolve(path) {
            if let Meaning::Item { file, name } = meaning {
                self.add_named(file, name, line);
            }
        }
    }

    fn add_named(&mut self, file: usize, name: String, line: usize) {
        if file != self.file {
            self.named.push(NamedItem { file, name, line });
        }
    }

    /// The innermost block that binds the first segment goes before the module.
    fn resolve(&self, path: &[String]) -> Vec<Meaning> {
        let bound =
            path.first().and_then(|first| self.blocks.iter().rev().find_map(|block| block.get(first)));
        match bound {
            Some(Some(import)) => self.scopes.resolve(self.scope, &[import, &path[1..]].concat()),
            Some(None) => Vec::new(),
            None => self.scopes.resolve(self.scope, path),
        }
    }

    /// Paths in code that only its macro can parse: identifiers with `::` between them.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_colon =
            |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while let Some(TokenTree::Ident(next)) =
                        tokens.get(at + 2).filter(|_| is_colon(at) && is_colon(at + 1))
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    if path.len() > 1 {
                        self.add(&path, first.span().start().line);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        if !syntax::is_test(syntax::attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        if !syntax::is_test(syntax::impl_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'a TraitItem) {
        if !syntax::is_test(syntax::trait_attributes(item)) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if let Some(inline) = self.scopes.inline(self.scope, &module.ident.to_string()) {
            let outer = std::mem::replace(&mut self.scope, inline);
            visit::visit_item_mod(self, module);
            self.scope = outer;
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        for import in imports(item) {
            for meaning in self.scopes.resolve(self.scope, &import.path) {
                match meaning {
                    Meaning::Item { file, name } => self.add_named(file, name, import.line),
                    Meaning::Module { scope } if import.name.is_none() => {
                        self.add_named(self.scopes.file_of(scope), "*".to_owned(), import.line);
                    }
                    Meaning::Module { .. } => {}
                }
            }
        }
    }

    fn visit_block(&mut self, block: &'a Block) {
        let mut locals = Locals::new();
        let items = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        for item in items {
            match item {
                Item::Use(item) => {
                    let bound = imports(item)
                        .into_iter()
                        .filter_map(|import| Some((import.name?, Some(import.path))));
                    locals.extend(bound);
                }
                item => locals.extend(item_name(item).map(|name| (name, None))),
            }
        }
        self.blocks.push(locals);
        visit::visit_block(self, block);
        self.blocks.pop();
    }

    fn visit_path(&mut self, path: &'a Path) {
        if let Some(first) = path.segments.first().filter(|_| path.leading_colon.is_none()) {
            let segments: Vec<String> =
                path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(&segments, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        self.visit_path(&called.path);
        self.add_tokens(called.tokens.clone());
    }

    /// Strings that `serde` takes for paths; they may lead to a module with functions of known names.
    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        let Meta::List(list) = &attribute.meta else { return };
        if !list.path.is_ident("serde") {
            return;
        }
        for token in list.tokens.clone() {
            let TokenTree::Literal(literal) = token else { continue };
            let line = literal.span().start().line;
            let Lit::Str(text) = Lit::new(literal) else { continue };
            let Ok(path) = text.parse::<Path>() else { continue };
            let segments: Vec<String> =
                path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            for meaning in self.resolve(&segments) {
                match meaning {
                    Meaning::Item { file, name } => self.add_named(file, name, line),
                    Meaning::Module { scope } => {
                        self.add_named(self.scopes.file_of(scope), segments.join("::"), line);
                    }
                }
            }
        }
    }
}
