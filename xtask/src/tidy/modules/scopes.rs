//! The modules of a crate with the names that are bound in them, and where a path leads.

use super::super::syntax;
use super::super::tree::Tree;
use super::File;
use std::collections::BTreeMap;
use syn::{Item, ItemMod, ItemUse, UseTree};

/// Imports that lead from one to the next at most; a longer chain leads in a circle.
const STEPS_MAX: usize = 32;

/// The modules of a crate, inline ones too.
pub struct Scopes {
    /// The modules that are files; the first is the root.
    pub files: Vec<File>,
    all: Vec<Scope>,
}

/// A module, inline or not.
struct Scope {
    file: usize,
    parent: Option<usize>,
    bindings: BTreeMap<String, Vec<Binding>>,
    globs: Vec<Vec<String>>,
}

/// What a name stands for; it can stand for a module and for a function at once.
enum Binding {
    Item,
    Module(usize),
    Import(Vec<String>),
}

/// What a path means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A module.
    Module {
        /// Its place among all scopes.
        scope: usize,
    },
    /// An item that a file defines, or what belongs to it, such as a variant.
    Item {
        /// The place of the file.
        file: usize,
        /// The item.
        name: String,
    },
}

/// One path of a `use`, with the groups multiplied out.
pub struct Import {
    /// From its first segment to the last one that is not `self` or `*`.
    pub path: Vec<String>,
    /// The name that it binds. `None`: all names of what the path leads to.
    pub name: Option<String>,
    /// Line of its last segment, from 1.
    pub line: usize,
}

impl Scopes {
    /// The modules of the crate whose root is this file.
    pub fn read(tree: &Tree, root: &str) -> Scopes {
        let mut scopes = Scopes { files: Vec::new(), all: Vec::new() };
        scopes.add_file(tree, root, None);
        scopes
    }

    fn add_file(&mut self, tree: &Tree, path: &str, parent: Option<usize>) -> Option<usize> {
        let Some(Ok(syntax)) = tree.syntax.get(path) else { return None };
        let file = self.files.len();
        let parent_file = parent.map(|scope: usize| self.all[scope].file);
        self.files.push(File { path: path.to_owned(), parent: parent_file });
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.trim_end_matches(".rs");
        let is_folder = ["mod", "lib", "main"].contains(&stem);
        let children = if is_folder { folder.to_owned() } else { format!("{folder}/{stem}") };
        Some(self.add_scope(tree, &Site { file, parent, children }, &syntax.items))
    }

    fn add_scope(&mut self, tree: &Tree, site: &Site, items: &[Item]) -> usize {
        let scope = self.all.len();
        let Site { file, parent, .. } = *site;
        self.all.push(Scope { file, parent, bindings: BTreeMap::new(), globs: Vec::new() });
        for item in items.iter().filter(|item| !syntax::is_test(syntax::attributes(item))) {
            match item {
                Item::Mod(module) => self.add_module(tree, scope, site, module),
                Item::Use(item) => self.add_imports(scope, item),
                _ => {
                    if let Some(name) = item_name(item) {
                        self.bind(scope, name, Binding::Item);
                    }
                }
            }
        }
        scope
    }

    fn add_module(&mut self, tree: &Tree, scope: usize, site: &Site, module: &ItemMod) {
        let name = module.ident.to_string();
        let children = format!("{}/{name}", site.children);
        let added = match &module.content {
            Some((_, items)) => {
                let site = Site { file: site.file, parent: Some(scope), children };
                Some(self.add_scope(tree, &site, items))
            }
            None => {
                let paths = [format!("{children}.rs"), format!("{children}/mod.rs")];
                paths.iter().find_map(|path| self.add_file(tree, path, Some(scope)))
            }
        };
        if let Some(child) = added {
            self.bind(scope, name, Binding::Module(child));
        }
    }

    fn add_imports(&mut self, scope: usize, item: &ItemUse) {
        for import in imports(item) {
            match import.name {
                Some(name) => self.bind(scope, name, Binding::Import(import.path)),
                None => self.all[scope].globs.push(import.path),
            }
        }
    }

    fn bind(&mut self, scope: usize, name: String, binding: Binding) {
        self.all[scope].bindings.entry(name).or_default().push(binding);
    }

    /// The scope of a file.
    pub fn of_file(&self, file: usize) -> usize {
        self.all.iter().position(|scope| scope.file == file).expect("each file has a scope")
    }

    /// The inline module of this name in a scope.
    pub fn inline(&self, scope: usize, name: &str) -> Option<usize> {
        self.all[scope].bindings.get(name)?.iter().find_map(|binding| match binding {
            Binding::Module(child) if self.all[*child].file == self.all[scope].file => Some(*child),
            _ => None,
        })
    }

    /// The file of a scope.
    pub fn file_of(&self, scope: usize) -> usize {
        self.all[scope].file
    }

    /// Where a path in a scope leads to. Empty: out of the crate, or to nothing that is known.
    pub fn resolve(&self, scope: usize, path: &[String]) -> Vec<Meaning> {
        self.follow(scope, path, STEPS_MAX)
    }

    fn follow(&self, scope: usize, path: &[String], steps: usize) -> Vec<Meaning> {
        let Some(((first, rest), steps)) = path.split_first().zip(steps.checked_sub(1)) else {
            return Vec::new();
        };
        let parent = |scope: usize| self.all[scope].parent.map(|scope| Meaning::Module { scope });
        let mut meanings: Vec<Meaning> = match first.as_str() {
            "crate" => vec![Meaning::Module { scope: 0 }],
            "self" => vec![Meaning::Module { scope }],
            "super" => parent(scope).into_iter().collect(),
            name => self.look_up(scope, name, steps),
        };
        for segment in rest {
            let step = |meaning: Meaning| match meaning {
                Meaning::Module { scope } if segment == "super" => parent(scope).into_iter().collect(),
                Meaning::Module { scope } => match self.look_up(scope, segment, steps) {
                    // What no item binds, a macro has made.
                    found if found.is_empty() => {
                        vec![Meaning::Item { file: self.all[scope].file, name: segment.clone() }]
                    }
                    found => found,
                },
                item => vec![item],
            };
            meanings = meanings.into_iter().flat_map(step).collect();
        }
        meanings
    }

    /// What a name stands for in a scope.
    fn look_up(&self, scope: usize, name: &str, steps: usize) -> Vec<Meaning> {
        let Scope { file, bindings, globs, .. } = &self.all[scope];
        if let Some(bindings) = bindings.get(name) {
            let meaning = |binding: &Binding| match binding {
                Binding::Item => vec![Meaning::Item { file: *file, name: name.to_owned() }],
                Binding::Module(child) => vec![Meaning::Module { scope: *child }],
                Binding::Import(path) => self.follow(scope, path, steps),
            };
            return bindings.iter().flat_map(meaning).collect();
        }
        let Some(steps) = steps.checked_sub(1) else { return Vec::new() };
        let sources = globs.iter().flat_map(|path| self.follow(scope, path, steps));
        let modules = sources.filter_map(|meaning| match meaning {
            Meaning::Module { scope } => Some(scope),
            Meaning::Item { .. } => None,
        });
        modules.flat_map(|module| self.look_up(module, name, steps)).collect()
    }
}

/// Where a scope lies.
struct Site {
    file: usize,
    parent: Option<usize>,
    /// The folder of the files of its child modules.
    children: String,
}

/// The name that an item other than a module or an import has.
pub fn item_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// The paths of a `use`.
pub fn imports(item: &ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        collect_imports(&item.tree, &[], &mut found);
    }
    found
}

fn collect_imports(tree: &UseTree, before: &[String], into: &mut Vec<Import>) {
    let join = |name: &syn::Ident| {
        let is_self = name == "self" && !before.is_empty();
        before.iter().cloned().chain((!is_self).then(|| name.to_string())).collect::<Vec<_>>()
    };
    match tree {
        UseTree::Path(path) => collect_imports(&path.tree, &join(&path.ident), into),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect_imports(tree, before, into)),
        UseTree::Name(leaf) => {
            let path = join(&leaf.ident);
            let line = leaf.ident.span().start().line;
            into.push(Import { name: path.last().cloned(), path, line });
        }
        UseTree::Rename(leaf) => {
            let (name, line) = (Some(leaf.rename.to_string()), leaf.ident.span().start().line);
            into.push(Import { path: join(&leaf.ident), name, line });
        }
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            into.push(Import { path: before.to_vec(), name: None, line });
        }
    }
}
