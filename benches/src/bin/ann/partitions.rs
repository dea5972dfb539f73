//! One index per tenant, as memcards keeps them: a search for a tenant is a search of its own
//! small index, not of a filtered large one.

use std::collections::HashMap;

use memcards::index::rows::RowSet;
use memcards_benches::Outcome;

use crate::index::{Neighbor, SearchOptions, VectorIndex, VectorOptions};
use memcards_benches::files::Matrix;

/// The rows of one tenant. Inside, they are numbered from 0 in order of arrival.
struct Partition {
    index: VectorIndex,
    rows: Vec<u32>,
    numbers: HashMap<u32, u32>,
}

/// The partitions of all tenants that have rows.
pub(crate) struct Partitions {
    /// The tenant of each row.
    tenants: Vec<i32>,
    seed: u64,
    by_tenant: HashMap<i32, Partition>,
}

impl Partitions {
    /// Splits the live rows of a base among their tenants.
    pub(crate) fn build(
        tenants: Vec<i32>,
        base: &Matrix,
        live: &RowSet,
        seed: u64,
        threads: usize,
    ) -> Outcome<Self> {
        let mut partitions = Self { tenants, seed, by_tenant: HashMap::new() };
        for row in live.iter() {
            if let Some(vector) = base.row(row as usize) {
                partitions.insert(row, vector)?;
            }
        }
        partitions.settle(threads);
        Ok(partitions)
    }

    /// Sets the vector of a row; nothing for a row without a tenant.
    pub(crate) fn insert(&mut self, row: u32, vector: &[f32]) -> Outcome {
        let Some(&tenant) = self.tenants.get(row as usize) else { return Ok(()) };
        let partition = self.by_tenant.entry(tenant).or_insert_with(|| Partition {
            index: VectorIndex::new(VectorOptions {
                dimension: vector.len(),
                seed: self.seed,
                ..Default::default()
            }),
            rows: Vec::new(),
            numbers: HashMap::new(),
        });
        let next = partition.rows.len() as u32;
        let number = *partition.numbers.entry(row).or_insert(next);
        if number == next {
            partition.rows.push(row);
        }
        partition.index.insert(number, vector)?;
        Ok(())
    }

    /// Removes a row.
    pub(crate) fn remove(&mut self, row: u32) {
        let Some(tenant) = self.tenants.get(row as usize) else { return };
        if let Some(partition) = self.by_tenant.get_mut(tenant)
            && let Some(&number) = partition.numbers.get(&row)
        {
            partition.index.remove(number);
        }
    }

    /// Runs background work of all partitions to its end.
    pub(crate) fn settle(&mut self, threads: usize) {
        self.by_tenant.values_mut().for_each(|partition| partition.index.settle(threads));
    }

    /// The best rows of a tenant.
    pub(crate) fn search(
        &self,
        tenant: i32,
        query: &[f32],
        k: usize,
        options: &SearchOptions<'_>,
    ) -> Vec<Neighbor> {
        let Some(partition) = self.by_tenant.get(&tenant) else { return Vec::new() };
        let mut found = partition.index.search(query, k, options);
        for neighbor in &mut found {
            neighbor.id = partition.rows[neighbor.id as usize];
        }
        found
    }
}
