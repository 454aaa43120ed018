//! Enums whose values have names, one table per enum: files and texts use the same names.

/// Defines an enum of named values, with a list of all of them.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $value:ident $name:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $type { $($(#[$doc])* #[serde(rename = $name)] $value,)+ }

        impl $type {
            /// All values, in the order of their discriminants.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// The word in files, tags, and tables.
            pub fn name(self) -> &'static str {
                match self { $($type::$value => $name,)+ }
            }
        }
    };
}

pub(crate) use named;
