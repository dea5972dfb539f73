//! Finding and opening the store that the global flags name.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::embed::Embedder;
use memcards::{Clock, Error, ManualClock, Options, Result, Store, SystemClock, Tenant, Timestamp};

use crate::arguments::{ClockKind, Global, ModelKind};

/// The tenant when none is named.
pub(crate) const DEFAULT_TENANT: &str = "default";

/// An open store, and how to talk to the user about it.
pub(crate) struct Door {
    /// The store.
    pub(crate) store: Store,
    /// The tenant that the user named.
    pub(crate) named_tenant: Option<String>,
    /// Print exactly one JSON value.
    pub(crate) json: bool,
    /// What a command that is shown begins with, so that it finds this store.
    pub(crate) program: String,
}

impl Door {
    /// Name of the tenant that commands are about.
    pub(crate) fn tenant_name(&self) -> &str {
        self.named_tenant.as_deref().unwrap_or(DEFAULT_TENANT)
    }

    /// The handle of that tenant.
    pub(crate) fn tenant(&self) -> Result<Tenant> {
        self.store.tenant(self.tenant_name())
    }
}

/// Opens the store for one command; `create` makes it when there is none.
pub(crate) fn open(global: &Global, create: bool) -> Result<Door> {
    if global.clock == ClockKind::Manual && global.now.is_none() {
        return Err(Error::invalid("now", "--clock manual needs --now TIME"));
    }
    open_at(global, create, Timestamp::default(), false)
}

/// The same; a manual clock that is not told the time starts at `start`. With a scheduler what is
/// due is carried out for as long as the store is open.
pub(crate) fn open_at(global: &Global, create: bool, start: Timestamp, scheduler: bool) -> Result<Door> {
    let manual = global.clock == ClockKind::Manual;
    let clock: Arc<dyn Clock> = match (manual, global.now) {
        (true, now) => Arc::new(ManualClock::new(now.unwrap_or(start))),
        (false, None) => Arc::new(SystemClock),
        (false, Some(_)) => return Err(Error::invalid("now", "only with --clock manual")),
    };
    // Identifiers of a store cannot be guessed from another one; with a manual clock the
    // same commands give the same identifiers.
    let seed = if manual { 0 } else { RandomState::new().hash_one("memcards") };
    let options = Options { create, clock, seed, scheduler, ..options(global)? };
    let store = Store::open(directory(global)?, options)?;
    Ok(Door { store, named_tenant: global.tenant.clone(), json: global.json, program: program(global) })
}

/// How a command that is shown begins.
fn program(global: &Global) -> String {
    match &global.store {
        Some(directory) if std::env::var_os("MEMCARDS_STORE").as_deref() != Some(directory.as_os_str()) => {
            let shown = crate::render::printable(&directory.display().to_string());
            let plain = shown.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
            match plain {
                true => format!("memcards --store {shown} "),
                false => format!("memcards --store '{}' ", shown.replace('\'', "'\\''")),
            }
        }
        _ => "memcards ".to_owned(),
    }
}

/// The options that are the same for every command.
pub(crate) fn options(global: &Global) -> Result<Options> {
    let mut options = Options { reembed: global.replace_model, ..Options::default() };
    if global.model == ModelKind::None {
        options.embedder = None;
    }
    if let Some(folder) = &global.encoder {
        options.embedder = Some(encoder(folder)?);
    }
    if let Some(url) = &global.embedder_url {
        options.embedder = Some(service(url, global)?);
    }
    Ok(options)
}

#[cfg(feature = "encoder")]
fn encoder(folder: &Path) -> Result<Arc<dyn Embedder>> {
    Ok(Arc::new(memcards::embed::Encoder::open(folder)?))
}

#[cfg(not(feature = "encoder"))]
fn encoder(_folder: &Path) -> Result<Arc<dyn Embedder>> {
    Err(not_built("encoder", "encoder"))
}

#[cfg(feature = "remote-embedder")]
fn service(url: &str, global: &Global) -> Result<Arc<dyn Embedder>> {
    use memcards::embed::{RemoteEmbedder, RemoteOptions};
    let model = global.embedder_model.as_deref().unwrap_or_default();
    let options = RemoteOptions {
        api_key: global.embedder_key.clone(),
        dimensions: global.embedder_dimensions,
        ..RemoteOptions::new(url, model)
    };
    Ok(Arc::new(RemoteEmbedder::open(options)?))
}

#[cfg(not(feature = "remote-embedder"))]
fn service(_url: &str, _global: &Global) -> Result<Arc<dyn Embedder>> {
    Err(not_built("embedder-url", "remote-embedder"))
}

#[cfg(not(all(feature = "encoder", feature = "remote-embedder")))]
fn not_built(flag: &str, feature: &str) -> Error {
    let what = format!("--{flag} needs memcards built with `--features {feature}`");
    Error::Unavailable(what)
}

/// The directory of the store: as told, or in the platform's data folder.
pub(crate) fn directory(global: &Global) -> Result<PathBuf> {
    if let Some(directory) = &global.store {
        return Ok(directory.clone());
    }
    default_directory(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
        .ok_or_else(|| Error::invalid("store", "there is no home directory; say where with --store DIR"))
}

fn default_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let home = || variable("HOME").map(PathBuf::from);
    let data = match variable("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(data) => data,
        None if cfg!(target_os = "macos") => home()?.join("Library/Application Support"),
        None => home()?.join(".local/share"),
    };
    Some(data.join("memcards"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_data_folder_of_the_platform() {
        let with = |set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
            default_directory(find).map(|path| path.display().to_string())
        };
        assert_eq!(with(&[("HOME", "/h")]).as_deref(), Some("/h/.local/share/memcards"));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d")]).as_deref(), Some("/d/memcards"));
        // The base directory specification: a relative path is to be ignored.
        assert_eq!(
            with(&[("HOME", "/h"), ("XDG_DATA_HOME", "d")]).as_deref(),
            Some("/h/.local/share/memcards")
        );
        assert_eq!(with(&[]), None);
    }
}
