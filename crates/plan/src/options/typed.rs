//! Values written as text with a unit, on the command line and in files alike.

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// A value written as text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typed<T>(pub T);

impl<T: FromStr> FromStr for Typed<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        text.parse().map(Typed)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Typed<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Typed).map_err(serde::de::Error::custom)
    }
}

/// Types that files store in the form in which they are typed.
macro_rules! read_as_text {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use read_as_text;
