//! Comparing large vector files with their checksums after they were opened, in the background.
//!
//! Opening maps them without reading them. A partition whose file turns out to be damaged is
//! dropped, and its files with it: the next reader gets one that is made from the store.

use crate::Error;
use crate::index::cache::{IndexCache, Key, SlotRef};
use crate::index::files::PartitionFiles;
use crate::store::Database;

impl IndexCache {
    /// Looks at every file that was not looked at, until it is told to stop.
    pub(crate) fn verify_files(&self, database: &Database, stop: &dyn Fn() -> bool) {
        let slots: Vec<(Key, SlotRef)> =
            self.slots.lock().iter().map(|(key, slot)| (*key, slot.clone())).collect();
        for (key, slot) in slots {
            let Some(vectors) = slot.vectors().filter(|vectors| vectors.is_unverified()) else { continue };
            match vectors.verify_file(stop) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    // Nobody may write or read the file meanwhile.
                    let _disk = slot.disk.lock();
                    self.drop_damaged(database, key, &slot, &error);
                }
            }
        }
    }

    /// Whether a partition may be written: it does not come from a damaged file. Else it is
    /// dropped. The caller holds the slot's lock for files.
    pub(super) fn is_sound(&self, database: &Database, key: Key, slot: &SlotRef) -> bool {
        let verified = slot.vectors().map_or(Ok(true), |vectors| vectors.verify_file(&|| false));
        verified.inspect_err(|error| self.drop_damaged(database, key, slot, error)).is_ok()
    }

    fn drop_damaged(&self, database: &Database, (tenant, track): Key, slot: &SlotRef, error: &Error) {
        if !self.holds((tenant, track), slot) {
            return;
        }
        tracing::warn!(
            tenant = tenant.0,
            track = track.name(),
            %error,
            "an index file is damaged; rebuilding from the store"
        );
        if let Err(error) = PartitionFiles::new(database, tenant, track).remove(None) {
            // It is looked at again when it is opened again.
            tracing::warn!(%error, "a damaged index file stays");
        }
        self.remove((tenant, track), slot);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]
    #![allow(clippy::disallowed_methods, reason = "the tests look into the files themselves")]

    use std::path::PathBuf;
    use std::time::Instant;

    use crate::card::{CardId, Track};
    use crate::engine::Store;
    use crate::index::cache::tests::{Random, open};
    use crate::verbs::{Recall, Remember};

    /// A large file is not read when it is opened. Damage in it is found afterwards, also when the
    /// partition is to be written before that, and never gets a checksum that fits.
    #[test]
    fn a_large_file_that_is_damaged_is_made_anew() {
        let directory = tempfile::tempdir().unwrap();
        let mut random = Random(77);
        let vectors: Vec<Vec<f32>> = (0..1000).map(|_| random.vector(256)).collect();
        let ask = |store: &Store| -> Vec<CardId> {
            let request = Recall { vector: Some(vectors[900].clone()), top: Some(30), ..Recall::default() };
            store.tenant("t").unwrap().recall(request).unwrap().hits.iter().map(|hit| hit.card.id).collect()
        };
        let whole = {
            let store = open(directory.path());
            let requests = vectors.iter().enumerate().map(|(number, vector)| Remember {
                content: format!("entry {number}"),
                vector: Some(vector.clone()),
                ..Remember::default()
            });
            store.tenant("t").unwrap().remember_all(requests.collect()).unwrap();
            let whole = ask(&store);
            store.checkpoint().unwrap();
            whole
        };
        let of_vectors = || -> Vec<PathBuf> {
            let tenants = std::fs::read_dir(directory.path().join("store/index")).unwrap();
            let files = tenants.flat_map(|tenant| std::fs::read_dir(tenant.unwrap().path()).unwrap());
            let files = files.map(|file| file.unwrap().path());
            files.filter(|path| path.extension().is_some_and(|end| end == "vec")).collect()
        };
        for checkpoint in [false, true] {
            let [file] = &of_vectors()[..] else { panic!("one file of vectors") };
            let mut bytes = std::fs::read(file).unwrap();
            assert!(bytes.len() > 1 << 20, "larger than what is looked at when it is opened");
            // In the first vectors.
            bytes[300_000..310_000].fill(0x3f);
            std::fs::write(file, bytes).unwrap();
            let store = open(directory.path());
            let tenant = store.tenant("t").unwrap();
            ask(&store);
            if checkpoint {
                store.checkpoint().unwrap();
            }
            let id = tenant.id().unwrap().unwrap();
            let begin = Instant::now();
            while store.cache().is_loaded(id, Track::Semantic) && begin.elapsed().as_secs() < 30 {
                std::thread::yield_now();
            }
            assert!(of_vectors().is_empty(), "the file is gone");
            assert_eq!(ask(&store), whole);
            store.checkpoint().unwrap();
            assert!(store.verify(|_| {}).unwrap().is_sound());
        }
    }
}
