//! Memory per vector, as the index tells it and as the system does.

use memcards::index::vector::{VectorIndex, VectorOptions};
use memcards_benches::Outcome;
use serde_json::{Value, json};

use crate::Common;
use crate::data::{Data, resident};

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let data = Data::of(common, common.count(100_000), 1)?;
    let dimension = data.base.dimension;
    let count = data.base.len();
    let mut tiers = serde_json::Map::new();
    for (tier, graph_from) in [("flat", usize::MAX), ("graph", 1)] {
        let before = resident().1;
        let options = VectorOptions { dimension, seed: common.seed, graph_from, ..Default::default() };
        let index = VectorIndex::new(options);
        index.insert_all((0..).zip(data.base.rows()), 2)?;
        let real = resident().1.saturating_sub(before) as f64 / count as f64;
        let bytes = index.bytes();
        let per = |bytes: usize| bytes as f64 / count as f64;
        let beside = per(bytes.codes + bytes.links + bytes.other);
        eprintln!(
            "{tier}: vector {:.0}, codes {:.0}, links {:.0}, other {:.1}; beside the vector {beside:.0}; \
             resident {real:.0} bytes per vector, {:.0} beside it",
            per(bytes.vectors),
            per(bytes.codes),
            per(bytes.links),
            per(bytes.other),
            real - per(bytes.vectors),
        );
        tiers.insert(
            tier.into(),
            json!({
                "vectors": per(bytes.vectors), "codes": per(bytes.codes), "links": per(bytes.links),
                "other": per(bytes.other), "beside": beside, "resident": real,
            }),
        );
    }
    // Sign bits in words, then two numbers.
    let first_pass = dimension.div_ceil(64) * 8 + 8;
    eprintln!("first pass of the flat tier: {first_pass} bytes per vector");
    Ok(json!({"count": count, "dimension": dimension, "first_pass": first_pass, "tiers": tiers}))
}
