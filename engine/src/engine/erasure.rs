//! Removing every byte: `wipe` of a tenant, compaction, and the scan that proves it.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::card::Card;
use crate::engine::{Store, Tenant};
use crate::forget::erase;
use crate::forget::erasure::{Coverage, Fingerprint, Fingerprints, Key, PER_CARD, Scanner};
use crate::store::io::{self, Reader};
use crate::store::{Compacted, TenantId};
use crate::verbs::{Proof, Wipe, Wiped};
use crate::{Error, Result};

/// Places that a proof names at most.
const NAMED: usize = 100;

impl Store {
    /// Writes the store file anew, smaller and without a byte of what was removed, and the files
    /// of the indexes that still hold something of it. Writers wait meanwhile, readers do not;
    /// `progress` is told how many records are copied.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a record is damaged (then nothing is changed); [`Error::Io`].
    pub fn compact(&self, progress: impl FnMut(u64)) -> Result<Compacted> {
        let database = self.database();
        let tenants = database.read()?.tenants()?;
        for (tenant, _) in tenants {
            self.cache().scrub(database, tenant)?;
        }
        self.compact_cold()?;
        database.compact(progress)
    }

    /// Scans every byte of every file of the store for what was purged. Before a compaction it
    /// is still found in pages that are free.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn verify_erased(&self) -> Result<Proof> {
        let tables = self.database().read()?;
        let key = Key::new(self.database().seed()?);
        let (mut wanted, mut unprovable) = (Vec::new(), 0);
        for (tenant, _) in tables.tenants()? {
            for tombstone in erase::tombstones(&tables, tenant)? {
                wanted.extend_from_slice(tombstone.fingerprints());
                unprovable += u64::from(tombstone.coverage != Coverage::Windows);
            }
        }
        drop(tables);
        Ok(Proof { unprovable, ..self.scan(&key, wanted)? })
    }

    /// Looks for fingerprints in every file. What a living card holds as well is no leak.
    fn scan(&self, key: &Key, mut wanted: Vec<Fingerprint>) -> Result<Proof> {
        wanted.sort_unstable();
        wanted.dedup();
        let mut proof = Proof { fingerprints: wanted.len() as u64, ..Proof::default() };
        let mut scanner = Scanner::new(&wanted, key);
        let io = self.database().io();
        let mut places: Vec<(usize, String)> = Vec::new();
        for path in self.files()? {
            let reader = Reader::open(io, &path)?;
            let report = io::at(&path, scanner.scan_reader(reader))?;
            proof.files += 1;
            proof.bytes += report.bytes;
            let name = path.strip_prefix(self.database().directory()).unwrap_or(&path).display().to_string();
            let named = |found: usize| {
                let at = report.matches.iter().find(|at| at.fingerprint == found);
                at.map_or_else(|| name.clone(), |at| format!("{name} at byte {}", at.offset))
            };
            places.extend(report.found.iter().map(|found| (*found, named(*found))));
        }
        for (tenant, _) in self.database().read()?.tenants()? {
            self.database().cold_texts(tenant, |place, bytes| {
                scanner.feed(bytes);
                places.extend(scanner.finish().found.iter().map(|found| (*found, place.to_owned())));
                Ok(())
            })?;
        }
        if !places.is_empty() {
            let living = self.living(&mut scanner)?;
            places.retain(|(found, _)| !living.contains(found));
        }
        proof.found = places.into_iter().take(NAMED).map(|(_, place)| place).collect();
        Ok(proof)
    }

    /// The fingerprints that living cards have as well.
    fn living(&self, scanner: &mut Scanner) -> Result<Vec<usize>> {
        let tables = self.database().read()?;
        for (tenant, record) in tables.tenants()? {
            scanner.feed(record.name.as_bytes());
            scanner.feed(&[0]);
            for card in tables.cards(tenant, None, false)? {
                let card = card?;
                let mut versions = tables.earlier_versions(tenant, card.id)?;
                versions.push(card);
                for version in versions {
                    let json = serde_json::to_vec(&version)
                        .map_err(|e| Error::Internal(format!("encoding a card: {e}")))?;
                    scanner.feed(&json);
                    // JSON writes some characters in another way.
                    scanner.feed(version.content.as_bytes());
                    scanner.feed(&[0]);
                    // As the dictionary of a text index has it.
                    scanner.feed(version.content.to_lowercase().as_bytes());
                    scanner.feed(&[0]);
                }
            }
        }
        Ok(scanner.finish().found)
    }

    /// Every file of the store's directory.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let io = self.database().io();
        let (mut files, mut directories) = (Vec::new(), vec![self.database().directory().to_owned()]);
        while let Some(directory) = directories.pop() {
            for path in io::at(&directory, io.list(&directory))? {
                match io.is_directory(&path) {
                    true => directories.push(path),
                    false => files.push(path),
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

impl Tenant {
    /// Removes the tenant with every byte of it, and scans all files for what is left.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `confirm` unless it is the tenant's name;
    /// [`Error::NotFound`] for a tenant that is not there.
    pub fn wipe(&self, request: Wipe) -> Result<Wiped> {
        if request.confirm != self.name() {
            return Err(Error::invalid("confirm", "must be the tenant's name: wiping cannot be undone"));
        }
        let store = self.store();
        let database = store.database();
        let missing = || Error::NotFound { what: format!("tenant {:?}", self.name()) };
        let id = self.id()?.ok_or_else(missing)?;
        let now = store.clock().now();
        // Of this wipe alone: fingerprints and key are never written.
        let key = Key::new(database.seed()? ^ now.as_micros() as u64);
        let (mut answer, wanted) = self.survey(id, &key)?;
        let name = self.name().to_owned();
        answer.records = database.write(move |batch| {
            if batch.tenant(&name)? != Some(id) {
                return Ok(0);
            }
            let removed = batch.remove_tenant(id, &name)?;
            erase::note_wiped(batch, &name, now)?;
            Ok(removed)
        })?;
        store.inner.wiped.fetch_add(1, Ordering::AcqRel);
        store.policies_changed();
        store.cache().forget_tenant(database, id)?;
        database.cold().forget_tenant(id)?;
        database.compact(|_| {})?;
        answer.proof = Proof { unprovable: answer.proof.unprovable, ..store.scan(&key, wanted)? };
        Ok(answer)
    }

    /// Counts what a wipe removes, and takes fingerprints of it.
    fn survey(&self, id: TenantId, key: &Key) -> Result<(Wiped, Vec<Fingerprint>)> {
        let tables = self.store().database().read()?;
        let mut answer = Wiped::default();
        let mut wanted = Fingerprints::of(self.name(), key).list;
        for card in tables.cards(id, None, false)? {
            let card = card?;
            let mut versions: Vec<Card> = tables.earlier_versions(id, card.id)?;
            answer.cards += 1;
            answer.versions += versions.len() as u64;
            versions.push(card);
            if let Some(found) = erase::fingerprints(&versions, key) {
                let Fingerprints { list, coverage } = found.finish(PER_CARD);
                answer.proof.unprovable += u64::from(coverage != Coverage::Windows);
                wanted.extend(list);
            }
        }
        answer.log_positions = tables.last_change(id)?.0;
        Ok((answer, wanted))
    }
}
