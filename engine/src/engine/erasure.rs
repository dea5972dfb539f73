//! Removing every byte: `wipe` of a tenant, compaction, and the scan that proves it.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::engine::{Store, Tenant};
use crate::forget::erasure::{Coverage, Fingerprint, Fingerprints, Key, PER_CARD, Scanner};
use crate::forget::{due, erase};
use crate::store::io;
use crate::store::{Compacted, Damaged, TableId, TenantId};
use crate::verbs::{Proof, Wipe, Wiped};
use crate::{Error, Result};

/// Words that stand in the files of every store.
const OF_EVERY_STORE: [&[u8]; 6] =
    [b"memcards", b"MCINDEX", b"MCVECTOR", b"MCLOOKUP", b"MCCOLD", b"process "];

/// Tables whose bytes say what is so, whatever was purged.
const SETTINGS: &[TableId] = &[TableId::Meta, TableId::Settings];
/// The same after a wipe, when no run of the wiped tenant is left: what others gave as reasons is theirs.
const SETTINGS_AND_RUNS: &[TableId] = &[TableId::Meta, TableId::Settings, TableId::Runs];

/// Places that a proof names at most.
const NAMED: usize = 100;

impl Store {
    /// Moves archived cards to the cold tier ([`Store::freeze`]) and writes the store file anew,
    /// smaller and without a byte of what was removed, and the files of the indexes and of the cold
    /// tier that still hold something of it. Writers wait meanwhile, readers do not;
    /// `progress` is told how many records are copied.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a record is damaged (then the file is as it was); [`Error::Io`]. A
    /// segment of the cold tier that is damaged is left as it is, and named in the answer.
    pub fn compact(&self, progress: impl FnMut(u64)) -> Result<Compacted> {
        // First, so that what moves to the cold tier is not copied.
        self.freeze(None, None)?;
        self.write_anew(progress)
    }

    /// Writes every file anew that may hold something of what was removed, the store file last. No
    /// tenant's log gets a change by it: a wipe of one is nothing that another one can see.
    fn write_anew(&self, progress: impl FnMut(u64)) -> Result<Compacted> {
        let database = self.database();
        let tables = database.read()?;
        let (tenants, wiped) = (tables.tenants()?, erase::erasing(&tables)?);
        drop(tables);
        for tenant in &wiped {
            self.cache().forget_tenant(database, TenantId(*tenant))?;
            database.cold().forget_tenant(TenantId(*tenant))?;
        }
        for (tenant, _) in &tenants {
            self.cache().scrub(database, *tenant)?;
        }
        let damaged = self.compact_cold()?.damaged;
        for (tenant, _) in &tenants {
            database.strip_log(*tenant)?;
            due::drop_left_over(database, *tenant)?;
        }
        let compacted = Compacted { damaged, ..database.compact(progress)? };
        if !wiped.is_empty() {
            database.write(move |batch| {
                let mut open = erase::erasing(batch.tables())?;
                open.retain(|tenant| !wiped.contains(tenant));
                erase::put_erasing(batch, &open)
            })?;
        }
        Ok(compacted)
    }

    /// Finishes what a wipe that was cut short has left in files. When that fails it is tried again
    /// when the store is opened next; until then `verify_erased` tells of it.
    pub(super) fn finish_wipes(&self) -> Result<()> {
        if !erase::erasing(&self.database().read()?)?.is_empty()
            && let Err(error) = self.write_anew(|_| {})
        {
            tracing::warn!(%error, "what a wipe has left in files could not be removed yet");
        }
        Ok(())
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
        let mut hashed = 0;
        for (tenant, _) in tables.tenants()? {
            hashed += u64::from(tables.lookup_of_gone(tenant)?.is_some());
            for tombstone in erase::tombstones(&tables, tenant)? {
                wanted.extend_from_slice(tombstone.fingerprints());
                unprovable += u64::from(tombstone.coverage != Coverage::Windows);
            }
        }
        wanted.extend(erase::wiped_fingerprints(&tables)?);
        let open = erase::erasing(&tables)?.len();
        drop(tables);
        let mut proof = Proof { unprovable, ..self.scan(&key, wanted, SETTINGS)? };
        if hashed > 0 {
            proof.found.push(format!(
                "hashes of what was erased stand in the change logs of {hashed} tenants: compact"
            ));
        }
        if open > 0 {
            proof
                .found
                .push(format!("what {open} wiped tenants held is not yet removed from files: compact"));
        }
        Ok(proof)
    }

    /// Looks for fingerprints in every file. What a living card or one of these tables holds as well is no leak.
    fn scan(&self, key: &Key, mut wanted: Vec<Fingerprint>, living: &[TableId]) -> Result<Proof> {
        wanted.sort_unstable();
        wanted.dedup();
        let mut proof = Proof { fingerprints: wanted.len() as u64, ..Proof::default() };
        let mut scanner = Scanner::new(&wanted, key);
        let mut places: Vec<(usize, String)> = Vec::new();
        for path in self.files()? {
            let (reader, offset_of) = self.database().reader(&path)?;
            let report = io::at(&path, scanner.scan_reader(reader))?;
            proof.files += 1;
            proof.bytes += report.bytes;
            let name = path.strip_prefix(self.database().directory()).unwrap_or(&path).display().to_string();
            let named = |found: usize| {
                let at = report.matches.iter().find(|at| at.fingerprint == found);
                at.map_or_else(|| name.clone(), |at| format!("{name} at byte {}", offset_of(at.offset)))
            };
            places.extend(report.found.iter().map(|found| (*found, named(*found))));
        }
        let mut damaged = Damaged::default();
        for (tenant, _) in self.database().read()?.tenants()? {
            self.database().cold_texts(tenant, &mut damaged, |place, bytes| {
                scanner.feed(bytes);
                places.extend(scanner.finish().found.iter().map(|found| (*found, place.to_owned())));
                Ok(())
            })?;
        }
        if !places.is_empty() {
            let living = self.living(&mut scanner, living, &mut damaged)?;
            places.retain(|(found, _)| !living.contains(found));
        }
        proof.found = places.into_iter().take(NAMED).map(|(_, place)| place).collect();
        proof.damaged = damaged.places;
        Ok(proof)
    }

    /// The fingerprints that living cards and some tables have as well, as far as they can be read.
    fn living(
        &self,
        scanner: &mut Scanner,
        in_tables: &[TableId],
        damaged: &mut Damaged,
    ) -> Result<Vec<usize>> {
        let tables = self.database().read()?;
        // What every store holds, and what its settings say.
        for word in OF_EVERY_STORE {
            scanner.feed(word);
            scanner.feed(&[0]);
        }
        for entry in tables.entries()? {
            let Some((key, value)) = damaged.beside(entry)? else { continue };
            if TableId::of_key(key.value()).is_some_and(|table| in_tables.contains(&table)) {
                scanner.feed(key.value());
                scanner.feed(value.value());
                scanner.feed(&[0]);
            }
        }
        for (tenant, record) in tables.tenants()? {
            scanner.feed(record.name.as_bytes());
            scanner.feed(&[0]);
            for id in tables.card_ids(tenant)? {
                let Some(id) = damaged.beside(id)? else { continue };
                let (versions, _) = tables.readable_versions(tenant, id, damaged)?;
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
    /// Removes the tenant with every byte of it, and scans all files for what is left. What of it is
    /// damaged goes like the rest; the answer names it, since what cannot be read is not looked for
    /// afterwards.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `confirm` unless it is the tenant's name;
    /// [`Error::NotFound`] for a tenant that is not there; [`Error::ReadOnly`] when a page of the
    /// store file is damaged: then `repair` goes first.
    pub fn wipe(&self, request: Wipe) -> Result<Wiped> {
        if request.confirm != self.name() {
            return Err(Error::invalid("confirm", "must be the tenant's name: wiping cannot be undone"));
        }
        match self.wipe_whole() {
            // Of a damaged page the reader says where it is; who wipes wants to know what to do.
            Err(error @ Error::Corrupt { .. }) => {
                self.store().database().check_writable()?;
                Err(error)
            }
            wiped => wiped,
        }
    }

    fn wipe_whole(&self) -> Result<Wiped> {
        let store = self.store();
        let database = store.database();
        let missing = || Error::NotFound { what: format!("tenant {:?}", self.name()) };
        let id = self.number_beside_damage()?.ok_or_else(missing)?;
        let now = store.clock().now();
        // Of this wipe alone: fingerprints and key are never written.
        let key = Key::new(database.seed()? ^ now.as_micros() as u64);
        let (mut answer, wanted, kept) = self.survey(id, &key, &Key::new(database.seed()?))?;
        let name = self.name().to_owned();
        answer.records = database.write(move |batch| {
            // Numbers are never given again: where its own is, it is this one, whatever its name's record says.
            if !batch.tables().has_tenant(id)? {
                return Ok(0);
            }
            let removed = batch.remove_tenant(id, &name)?;
            erase::note_wiped(batch, (id, &name), &kept, now)?;
            Ok(removed)
        })?;
        store.inner.wiped.fetch_add(1, Ordering::AcqRel);
        store.policies_changed();
        // It is gone from the records whatever comes. Where others are damaged the file stays as it is,
        // and is seen to when that is repaired.
        let mut damaged = Damaged::default();
        let compacted = damaged.beside(store.write_anew(|_| {}))?;
        let proof = store.scan(&key, wanted, SETTINGS_AND_RUNS)?;
        answer.proof = Proof { unprovable: answer.proof.unprovable, ..proof };
        if compacted.is_none() {
            let why = damaged.places.join("; ");
            answer.proof.found.push(format!(
                "what it held is not yet removed from files, since others are damaged ({why}): repair, then compact"
            ));
        }
        Ok(answer)
    }

    /// The tenant's number, by the records of all tenants where that of its name is damaged.
    fn number_beside_damage(&self) -> Result<Option<TenantId>> {
        match self.id() {
            Err(Error::Corrupt { .. }) => {
                let tenants = self.store().database().read()?.tenants()?;
                Ok(tenants.into_iter().find(|(_, record)| record.name == self.name()).map(|(id, _)| id))
            }
            found => found,
        }
    }

    /// Counts what a wipe removes, and takes fingerprints of it under the key of this wipe, and of
    /// a part of it under the one that stays. What cannot be read is noted.
    fn survey(
        &self,
        id: TenantId,
        key: &Key,
        stays: &Key,
    ) -> Result<(Wiped, Vec<Fingerprint>, Vec<Fingerprint>)> {
        let tables = self.store().database().read()?;
        let mut answer = Wiped::default();
        let mut wanted = Fingerprints::of(self.name(), key).list;
        let (mut kept, mut damaged) = (Vec::new(), Damaged::default());
        for card in tables.card_ids(id)? {
            let Some(card) = damaged.beside(card)? else { continue };
            let (versions, whole) = tables.readable_versions(id, card, &mut damaged)?;
            answer.cards += 1;
            answer.versions += (versions.len() as u64).saturating_sub(1);
            let found = erase::fingerprints(&versions, key).map(|found| found.finish(PER_CARD));
            let covered = found.as_ref().is_some_and(|found| found.coverage == Coverage::Windows);
            answer.proof.unprovable += u64::from(!whole || !covered);
            wanted.extend(found.into_iter().flat_map(|found| found.list));
            if kept.len() < erase::KEPT
                && let Some(found) = erase::fingerprints(&versions, stays)
            {
                kept.extend(found.finish(PER_CARD).list);
            }
        }
        answer.log_positions = damaged.beside(tables.last_change(id))?.unwrap_or_default().0;
        answer.damaged = damaged.places;
        Ok((answer, wanted, kept))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use serde_json::json;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::card::Fact;
    use crate::store::Lookup;
    use crate::{
        Action, Apply, Clock, Correct, Duration, Forget, MakePlan, ManualClock, Options, Outcome, Remember,
        Timestamp,
    };

    /// The files below a directory in which some bytes stand.
    #[allow(clippy::disallowed_methods, reason = "the test looks at files as they are")]
    fn holding(directory: &Path, wanted: &[u8]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(holding(&path, wanted));
            } else if std::fs::read(&path).unwrap().windows(wanted.len()).any(|window| window == wanted) {
                found.push(path);
            }
        }
        found
    }

    /// From the hash of a few bytes these can be computed: no hash of what is erased may stay.
    #[test]
    fn no_hash_of_what_was_erased_is_left_in_any_file() {
        let directory = tempfile::tempdir().unwrap();
        let start = Timestamp::from_micros(1_704_067_200_000_000);
        let clock = Arc::new(ManualClock::new(start));
        let options = || Options { embedder: None, clock: clock.clone(), ..Options::default() };
        let store = Store::open(directory.path(), options()).unwrap();
        let tenant = store.tenant("a").unwrap();
        let others = || (0..300).map(|n| Remember { content: format!("entry q{n}z"), ..Remember::default() });
        tenant.remember_all(others().collect()).unwrap();
        let secret = Remember {
            content: "PIN 4711".into(),
            merge_key: Some("pin.door".into()),
            fact: Some(Fact { entity: "door".into(), attribute: "pin".into(), value: "4711".into() }),
            idempotency_key: Some("pin-request".into()),
            ..Remember::default()
        };
        let id = tenant.remember(secret).unwrap().id;
        tenant.correct(Correct { id, summary: Some("PIN".into()), ..Correct::default() }).unwrap();
        store.checkpoint().unwrap();
        let number = tenant.id().unwrap().unwrap();
        let tables = store.database().read().unwrap();
        let mut versions = tables.earlier_versions(number, id).unwrap();
        versions.extend(tables.card(number, id).unwrap());
        drop(tables);
        let mut hashes: Vec<Vec<u8>> = vec![Lookup::Idempotency("pin-request").key()[1..].to_vec()];
        for version in &versions {
            hashes.extend(crate::forget::lookup_keys(version).iter().map(|key| key[1..].to_vec()));
            let words = crate::judge::normalized_hash(&version.content);
            hashes.extend([words.to_le_bytes().to_vec(), words.to_be_bytes().to_vec()]);
            let short = xxh3_64(version.content.to_lowercase().as_bytes());
            hashes.extend([short.to_le_bytes().to_vec(), short.to_be_bytes().to_vec()]);
        }
        // Either half of a hash is enough.
        let wanted: Vec<Vec<u8>> =
            hashes.iter().flat_map(|hash| hash.chunks(8).map(<[u8]>::to_vec).collect::<Vec<_>>()).collect();
        let left = || wanted.iter().filter(|hash| !holding(directory.path(), hash).is_empty()).count();
        assert!(left() > 6, "the test looks for what is there");
        tenant.forget(Forget { id: Some(id), ..Forget::default() }).unwrap();
        clock.set(start.plus(Duration::from_hours(24 * 40))).unwrap();
        let policy = Some(json!({ "defaults": { "grace": "1d", "fade_below": 0.0 } }));
        let request = MakePlan { policy, rules: vec![Action::Purge], consent: true, ..MakePlan::default() };
        let plan = tenant.plan(&request).unwrap();
        assert_eq!(plan.totals.items, 1);
        tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
        let proof = store.verify_erased().unwrap();
        assert!(proof.found.iter().any(|place| place.contains("change log")), "{proof:?}");
        store.compact(|_| {}).unwrap();
        for hash in &wanted {
            assert_eq!(holding(directory.path(), hash), Vec::<PathBuf>::new(), "{hash:02x?}");
        }
        let proof = store.verify_erased().unwrap();
        assert!(proof.found.is_empty(), "{proof:?}");
        for again in [false, true] {
            let report = store.verify(|_| {}).unwrap();
            assert!(report.is_sound(), "{:?}", report.findings);
            let answers = tenant.remember_all(others().take(5).collect()).unwrap();
            assert!(
                answers.into_iter().all(|answer| answer.unwrap().outcome == Outcome::Duplicate),
                "{again}"
            );
            std::fs::remove_dir_all(directory.path().join("index")).ok();
        }
    }
}
