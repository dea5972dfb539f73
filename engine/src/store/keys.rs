//! The one place that knows the keys of every table.
//!
//! All keys but those of `meta` and `tenant_names` start with the tenant, big-endian, so
//! that a tenant's data is one contiguous range of each table.

use redb::TableDefinition;
use xxhash_rust::xxh3::Xxh3;

use crate::card::{CardId, Fact, Track};

/// Raw bytes on both sides: redb's typed encodings may change between its major versions,
/// ours may not.
pub(crate) type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// The tables of a store. The discriminant goes into each record's checksum and is never
/// reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TableId {
    /// Settings of the store: name → value.
    Meta = 1,
    /// Tenant name → tenant number.
    TenantNames = 2,
    /// (tenant) → name and creation.
    Tenants = 3,
    /// (tenant, card) → the current version.
    Cards = 4,
    /// (tenant, card, version) → each earlier version.
    Versions = 5,
    /// (tenant, card, version) → the vector of that version's content.
    Vectors = 6,
    /// (tenant, kind, hash) → card; exact look-ups.
    Lookup = 7,
    /// (tenant, sequence) → what changed.
    Changes = 8,
}

impl TableId {
    /// Every table, in order of its number.
    pub(crate) const ALL: [Self; 8] = [
        Self::Meta,
        Self::TenantNames,
        Self::Tenants,
        Self::Cards,
        Self::Versions,
        Self::Vectors,
        Self::Lookup,
        Self::Changes,
    ];

    /// The table's name in the file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::TenantNames => "tenant_names",
            Self::Tenants => "tenants",
            Self::Cards => "cards",
            Self::Versions => "versions",
            Self::Vectors => "vectors",
            Self::Lookup => "lookup",
            Self::Changes => "changes",
        }
    }

    /// redb's handle for the table.
    pub(crate) const fn definition(self) -> Definition {
        TableDefinition::new(self.name())
    }
}

/// A tenant's number in this store; never shown to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TenantId(pub(crate) u32);

impl TenantId {
    /// The key prefix of everything the tenant owns.
    pub(crate) const fn prefix(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// First key after everything the tenant owns; `None` for the last possible tenant.
    pub(crate) fn end(self) -> Option<[u8; 4]> {
        self.0.checked_add(1).map(u32::to_be_bytes)
    }

    /// The tenant whose key this is.
    pub(crate) fn of_key(key: &[u8]) -> Option<Self> {
        Some(Self(u32::from_be_bytes(key.get(..4)?.try_into().ok()?)))
    }
}

/// Key of `cards`.
pub(crate) fn card(tenant: TenantId, card: CardId) -> [u8; 20] {
    let mut key = [0; 20];
    key[..4].copy_from_slice(&tenant.prefix());
    key[4..].copy_from_slice(&card.to_bytes());
    key
}

/// Key of `versions` and `vectors`.
pub(crate) fn version(tenant: TenantId, id: CardId, version: u32) -> [u8; 24] {
    let mut key = [0; 24];
    key[..20].copy_from_slice(&card(tenant, id));
    key[20..].copy_from_slice(&version.to_be_bytes());
    key
}

/// Key of `changes`.
pub(crate) fn change(tenant: TenantId, sequence: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&tenant.prefix());
    key[4..].copy_from_slice(&sequence.to_be_bytes());
    key
}

/// The card in a key of `cards`, `versions` or `vectors`.
pub(crate) fn card_of_key(key: &[u8]) -> Option<CardId> {
    Some(CardId::from_bytes(key.get(4..20)?.try_into().ok()?))
}

/// The version in a key of `versions` or `vectors`.
pub(crate) fn version_of_key(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(20..24)?.try_into().ok()?))
}

/// The sequence in a key of `changes`.
pub(crate) fn sequence_of_key(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(4..12)?.try_into().ok()?))
}

/// What an exact look-up asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup<'a> {
    /// The same words (normalised) in the same track and category, by anybody or by one
    /// speaker; a turn of a conversation, or what happened at a given time, is an event of
    /// its own and only equals itself.
    Content { hash: u128, track: Track, category: &'a str, detail: Detail<'a> },
    /// The card that holds a merge key.
    MergeKey(&'a str),
    /// The card that holds a typed fact.
    Fact(&'a Fact),
    /// The card written under an idempotency key.
    Idempotency(&'a str),
}

/// What narrows a look-up of the same words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail<'a> {
    /// Whoever said it, whenever.
    None,
    /// The turn of a session.
    Turn(&'a str, u32),
    /// When it happened, in microseconds.
    Moment(i64),
    /// Name of the speaker.
    Speaker(&'a str),
}

const LOOKUP_KEY_LENGTH: usize = 21;

impl Lookup<'_> {
    /// Key of `lookup`.
    pub(crate) fn key(&self, tenant: TenantId) -> [u8; LOOKUP_KEY_LENGTH] {
        let mut key = [0; LOOKUP_KEY_LENGTH];
        key[..4].copy_from_slice(&tenant.prefix());
        let (kind, hash) = match self {
            Self::Content { hash, track, category, detail } => {
                let hash = hash.to_le_bytes();
                let track = [track.number()];
                let category = category.as_bytes();
                match detail {
                    Detail::None => (1, digest(&[&hash, &track, category])),
                    // The number of parts differs: none of these is another one's.
                    Detail::Moment(at) => {
                        (1, digest(&[&hash, &track, category, b"moment", &at.to_le_bytes()]))
                    }
                    Detail::Speaker(name) => {
                        (1, digest(&[&hash, &track, category, b"speaker", name.as_bytes(), b""]))
                    }
                    Detail::Turn(session, turn) => {
                        // Turns of a session stand side by side, so that writing the next one
                        // touches the page of the one before and not a page of its own.
                        let session = digest(&[&track, category, session.as_bytes()]);
                        let content = digest(&[&hash]);
                        (5, (session >> 64 << 64) | u128::from(*turn) << 32 | (content >> 96))
                    }
                }
            }
            Self::MergeKey(name) => (2, digest(&[name.as_bytes()])),
            Self::Fact(fact) => {
                let (entity, attribute) = (fact.entity.trim(), fact.attribute.trim());
                (3, digest(&[entity.to_lowercase().as_bytes(), attribute.to_lowercase().as_bytes()]))
            }
            Self::Idempotency(name) => (4, digest(&[name.as_bytes()])),
        };
        key[4] = kind;
        key[5..].copy_from_slice(&hash.to_be_bytes());
        key
    }
}

/// XXH3-128 of parts, each preceded by its length: no two lists hash the same bytes.
fn digest(parts: &[&[u8]]) -> u128 {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_tenant_then_card_then_version() {
        let id = |n| CardId::from_bytes(u128::to_be_bytes(n));
        let keys = [
            version(TenantId(1), id(1), 2),
            version(TenantId(1), id(2), 1),
            version(TenantId(1), id(256), 1),
            version(TenantId(2), id(0), 1),
        ];
        assert!(keys.is_sorted());
        assert_eq!(card_of_key(&keys[2]), Some(id(256)));
        assert_eq!(version_of_key(&keys[0]), Some(2));
        assert_eq!(TenantId::of_key(&keys[3]), Some(TenantId(2)));
        assert_eq!(sequence_of_key(&change(TenantId(9), 77)), Some(77));
    }

    #[test]
    fn look_ups_of_a_session_are_in_the_order_of_its_turns() {
        let turn = |hash, turn| {
            let detail = Detail::Turn("s", turn);
            Lookup::Content { hash, track: Track::Episodic, category: "x", detail }.key(TenantId(1))
        };
        assert!([turn(9, 0), turn(5, 1), turn(7, 2), turn(1, 300), turn(8, u32::MAX)].is_sorted());
        assert_ne!(turn(5, 1), turn(6, 1));
    }

    #[test]
    fn look_ups_differ_by_kind_tenant_and_event() {
        let content = |detail| Lookup::Content { hash: 5, track: Track::Episodic, category: "x", detail };
        let keys = [
            Lookup::MergeKey("a").key(TenantId(1)),
            Lookup::Idempotency("a").key(TenantId(1)),
            Lookup::MergeKey("a").key(TenantId(2)),
            content(Detail::None).key(TenantId(1)),
            content(Detail::Turn("s", 1)).key(TenantId(1)),
            content(Detail::Turn("s", 2)).key(TenantId(1)),
            content(Detail::Moment(1)).key(TenantId(1)),
            content(Detail::Moment(2)).key(TenantId(1)),
            content(Detail::Speaker("s")).key(TenantId(1)),
            content(Detail::Speaker("moment")).key(TenantId(1)),
        ];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|b| a != b));
        }
    }
}
