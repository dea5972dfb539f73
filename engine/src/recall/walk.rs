//! From one thing to others over several relations.
//!
//! Breadth first: all paths of one relation, then all of two, and so on. A thing is gone on
//! from at a later step only where the path to it is better than all shorter ones, so every
//! thing is reached by its best path, and no path goes in a circle.

use std::collections::{BTreeMap, HashMap};

use crate::card::{Card, CardId, Fact};
use crate::engine::Tenant;
use crate::judge::name_key;
use crate::recall::relations::{Relations, score, unknown};
use crate::recall::{View, cold};
use crate::time::Timestamp;
use crate::verbs::{Direction, Path, PathEdge, Walk, Walked};
use crate::{Error, Result};

/// What each relation after the first leaves of the score of a path: two things that are
/// connected over others are less so than two that are connected at once.
pub const DECAY: f64 = 0.7;
/// Relations that one walk looks at, at most.
pub const EDGES_LOOKED_AT: usize = 10_000;

/// Relations on a path when the request does not say, and at most.
const HOPS: usize = 2;
const HOPS_MOST: usize = 4;
/// Things in the answer when the request does not say.
const TOP: usize = 20;

/// A path to a thing.
#[derive(Clone)]
struct Found<'a> {
    score: f64,
    /// How its last relation spells the thing.
    name: &'a str,
    edges: Vec<(CardId, &'a Fact)>,
}

impl Found<'_> {
    /// Of two paths of one length the one with the higher score is better, or with the cards
    /// recorded first.
    fn is_better(&self, other: &Self) -> bool {
        let ids = |path: &Self| path.edges.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        self.score > other.score || (self.score == other.score && ids(self) < ids(other))
    }
}

/// A relation of a thing, in the direction in which it is followed.
struct Step<'a> {
    key: String,
    name: &'a str,
    score: f64,
    id: CardId,
    edge: &'a Fact,
}

/// The relations that a walk has looked at.
struct Looking<'a> {
    relations: &'a Relations<'a>,
    /// Keys of the relations to follow; all when empty.
    only: Vec<String>,
    direction: Direction,
    looked_at: usize,
    most: usize,
    truncated: bool,
}

impl<'a> Looking<'a> {
    /// The steps that lead on from a thing.
    fn steps(&mut self, key: &str) -> Vec<Step<'a>> {
        let mut steps = Vec::new();
        for (card, edge) in self.relations.holding(key) {
            if self.looked_at == self.most {
                self.truncated = true;
                break;
            }
            self.looked_at += 1;
            if self.only.is_empty() || self.only.contains(&name_key(&edge.attribute)) {
                steps.extend(self.step(key, card, edge));
            }
        }
        steps
    }

    fn step(&self, key: &str, card: &Card, edge: &'a Fact) -> Option<Step<'a>> {
        let ends = [name_key(&edge.entity), name_key(&edge.value)];
        let (outward, inward) = (ends[0] == key, ends[1] == key);
        let [from, to] = ends;
        let (key, name) = match self.direction {
            Direction::Out | Direction::Both if outward && !inward => (to, &edge.value),
            Direction::In | Direction::Both if inward && !outward => (from, &edge.entity),
            _ => return None,
        };
        Some(Step { key, name, score: score(card), id: card.id, edge })
    }
}

/// See [`Tenant::walk`].
pub(crate) fn walk(tenant: &Tenant, request: &Walk, now: Timestamp) -> Result<Walked> {
    walk_within(tenant, request, now, EDGES_LOOKED_AT)
}

fn walk_within(tenant: &Tenant, request: &Walk, now: Timestamp, most: usize) -> Result<Walked> {
    let limits = tenant.store().limits();
    limits.name("start", &request.start)?;
    limits.items("relations", request.relations.len())?;
    for (at, name) in request.relations.iter().enumerate() {
        limits.name(&format!("relations[{at}]"), name)?;
    }
    let hops = request.hops.unwrap_or(HOPS);
    if hops == 0 || hops > HOPS_MOST {
        return Err(Error::invalid("hops", format!("must be 1 to {HOPS_MOST}")));
    }
    let top = request.top.unwrap_or(TOP);
    if top == 0 || top > limits.top {
        return Err(Error::invalid("top", format!("must be 1 to {}", limits.top)));
    }
    let view = View::new(tenant.life_rules()?, &request.include, request.as_of, request.known_at, now);
    let found = cold::by_name(tenant, &view, |slots| {
        let relations = Relations::new(slots, &view)?;
        Ok(walked(&relations, request, (hops, top), most))
    })?;
    found.flatten().ok_or_else(|| unknown(&request.start))
}

/// The answer, and the keys of the things it has come to; `None` when no card names the start.
fn walked(
    relations: &Relations<'_>,
    request: &Walk,
    (hops, top): (usize, usize),
    most: usize,
) -> (Option<Walked>, Vec<String>) {
    let start = name_key(&request.start);
    if !relations.is_known(&start) {
        return (None, vec![start]);
    }
    let mut looking = Looking {
        relations,
        only: request.relations.iter().map(|name| name_key(name)).collect(),
        direction: request.direction,
        looked_at: 0,
        most,
        truncated: false,
    };
    let mut found: Vec<(String, Found<'_>)> = search(&mut looking, start.clone(), hops).into_iter().collect();
    // From the things at the end nothing is followed.
    let within = found.iter().filter(|(_, found)| found.edges.len() < hops);
    let keys = within.map(|(key, _)| key.clone()).chain([start]).collect();
    let (looked_at, truncated) = (looking.looked_at, looking.truncated);
    found.sort_unstable_by(|(a_key, a), (b_key, b)| {
        b.score.total_cmp(&a.score).then(a.edges.len().cmp(&b.edges.len())).then_with(|| a_key.cmp(b_key))
    });
    found.truncate(top);
    let paths = found.into_iter().map(|(_, found)| path(found)).collect();
    (Some(Walked { paths, looked_at, truncated }), keys)
}

/// The best path to each thing within so many relations.
fn search<'a>(looking: &mut Looking<'a>, start: String, hops: usize) -> HashMap<String, Found<'a>> {
    let mut best: HashMap<String, Found<'a>> = HashMap::new();
    let mut known: HashMap<String, Vec<Step<'a>>> = HashMap::new();
    let origin = Found { score: 1.0, name: "", edges: Vec::new() };
    let mut border = vec![(start.clone(), origin)];
    for hop in 1..=hops {
        let decay = if hop == 1 { 1.0 } else { DECAY };
        let mut next: BTreeMap<String, Found<'a>> = BTreeMap::new();
        for (key, before) in &border {
            let steps = known.entry(key.clone()).or_insert_with(|| looking.steps(key));
            for step in steps.iter().filter(|step| step.key != start) {
                let edges = before.edges.iter().copied().chain([(step.id, step.edge)]).collect();
                let path = Found { score: before.score * decay * step.score, name: step.name, edges };
                match next.get_mut(&step.key) {
                    Some(other) if path.is_better(other) => *other = path,
                    Some(_) => {}
                    None => {
                        next.insert(step.key.clone(), path);
                    }
                }
            }
        }
        next.retain(|key, path| best.get(key).is_none_or(|shorter| path.score > shorter.score));
        border = next.into_iter().collect();
        best.extend(border.iter().cloned());
        // Where not everything can be looked at, what leads on from the best is.
        border.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    }
    best
}

fn path(found: Found<'_>) -> Path {
    let edge = |(id, edge): &(CardId, &Fact)| PathEdge {
        id: *id,
        from: edge.entity.clone(),
        relation: edge.attribute.clone(),
        to: edge.value.clone(),
    };
    Path {
        to: found.name.to_owned(),
        score: found.score,
        hops: found.edges.len(),
        edges: found.edges.iter().map(edge).collect(),
    }
}
