//! Resolves the name of a setting to its place, and to what is recorded with it.

use super::Tunable;
use crate::journal::Witness;
use crate::name::SettingName;
use crate::roots::TuneRoots;
use crate::setting::{SettingPlace, expanded};
use std::io;

/// The location of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// Its places, at least one; more if several sockets listen on one port.
    pub(crate) places: Vec<SettingPlace>,
    /// What shows that the device is the same.
    pub(crate) witnesses: Vec<Witness>,
}

impl Tunable {
    /// The parts of a name of this setting; `None` if it is the name of another one.
    pub(super) fn name<'a>(&self, key: &'a str) -> Option<SettingName<'a>> {
        SettingName::of(self.id, key)
    }

    /// The location of the setting with this name.
    ///
    /// # Errors
    /// There is no such thing, or it cannot be told from others.
    pub(crate) fn locate(&self, key: &str, roots: &TuneRoots) -> Result<Located, String> {
        let name = self.name(key).ok_or("it has no such name")?;
        let places = self.family.find(&name, roots)?;
        // One that is not there cannot change either.
        let witness = |path: &&str| {
            let place = SettingPlace::from(name.filled(path));
            let text = place.read(roots).ok()?;
            Some(Witness { place, text })
        };
        Ok(Located { places, witnesses: self.family.witnesses().iter().filter_map(witness).collect() })
    }

    /// A path of the definition with each `*` replaced by what it is in `key`.
    pub(crate) fn filled(&self, path: &str, key: &str) -> String {
        self.name(key).map_or_else(|| path.to_owned(), |name| name.filled(path))
    }

    /// The text by which the setting of this name gets a value; `text` is the one that it has.
    ///
    /// # Errors
    /// It cannot be written there.
    pub(crate) fn edited(&self, key: &str, text: &str, value: String) -> Result<String, String> {
        self.family.edited(&self.name(key).ok_or("it has no such name")?, text, value)
    }

    /// Existing files that the kernel resets when the setting with this name is written.
    pub(crate) fn followers(&self, key: &str, roots: &TuneRoots) -> io::Result<Vec<SettingPlace>> {
        let mut all = Vec::new();
        for path in self.followers {
            all.extend(expanded(&self.filled(path, key), roots)?);
        }
        Ok(all)
    }
}
