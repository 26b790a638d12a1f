//! Contents of files that come with the program, read once in a process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::document::Document;
use crate::format::Contents;
use crate::{ConfigError, Edition, Kind, Source};
use xrsim_model::model::Network;

use super::Catalog;

/// What reading a file gives: its contents, the files that it refers to, and their networks.
struct Volume {
    contents: Contents,
    used: BTreeMap<String, Arc<Source>>,
    networks: HashMap<Box<str>, Vec<Arc<Network>>>,
}

type Shelf = HashMap<(Edition, String, Kind), Arc<Volume>>;

static SHELF: Mutex<Option<Shelf>> = Mutex::new(None);

fn shelf() -> MutexGuard<'static, Option<Shelf>> {
    SHELF.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Catalog {
    /// Contents of `file`, which comes with the program and has no values of parameters.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] as of `read`.
    pub(super) fn shelved(
        &mut self,
        file: &Document,
        kind: Kind,
        read: impl FnOnce(&mut Self) -> Result<Contents, ConfigError>,
    ) -> Result<Contents, ConfigError> {
        let key = (self.networks_of, file.source.name().to_string(), kind);
        let known = shelf().get_or_insert_default().get(&key).map(Arc::clone);
        let volume = match known {
            Some(volume) => volume,
            None => {
                let mut apart = Self::with_networks(self.networks_of);
                let contents = read(&mut apart)?;
                let Self { used, networks, .. } = apart;
                let volume = Arc::new(Volume { contents, used, networks });
                shelf().get_or_insert_default().insert(key, Arc::clone(&volume));
                volume
            }
        };
        for (name, source) in &volume.used {
            self.used.entry(name.clone()).or_insert_with(|| Arc::clone(source));
        }
        for (name, networks) in &volume.networks {
            let known = self.networks.entry(name.clone()).or_default();
            let new =
                networks.iter().filter(|it| !known.iter().any(|other| Arc::ptr_eq(it, other)));
            let new: Vec<_> = new.map(Arc::clone).collect();
            known.extend(new);
        }
        Ok(volume.contents.clone())
    }
}
