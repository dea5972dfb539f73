//! How a new statement relates to an old one.

use super::analysis::{Analysis, Modal, Stance};
use super::subject::{Form, Shape, Subject};

/// How a new statement relates to an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The same text apart from composition, case, white space and the final stop.
    Identical,
    /// The same statement with other padding: the two may be merged.
    Same,
    /// The same topic with the opposite stance.
    Opposite,
    /// The same subject with another value.
    ValueChanged {
        /// Whether the new text itself says that it is a change.
        explicit: bool,
    },
    /// Anything else, and whatever the rules do not understand.
    Different,
}

/// Tells how `new` relates to `old`. `Identical`, `Same` and `Opposite` hold both ways
/// round; `ValueChanged` does too but for `explicit`, which is asked of `new` alone.
///
/// ```
/// use memcards::judge::{analyze, relation, Relation};
///
/// let old = analyze("The colour is blue");
/// let new = analyze("The colour is now red");
/// assert_eq!(relation(&old, &new), Relation::ValueChanged { explicit: true });
/// ```
#[must_use]
pub fn relation(old: &Analysis, new: &Analysis) -> Relation {
    if old.normalized == new.normalized {
        return Relation::Identical;
    }
    if old.statement.is_some() && old.statement == new.statement {
        return Relation::Same;
    }
    if old.sentences != 1 || new.sentences != 1 || old.question || new.question {
        return Relation::Different;
    }
    if opposite(old, new) {
        return Relation::Opposite;
    }
    match (&old.subject, &new.subject) {
        (Some(before), Some(after)) if !before.pointing && !after.pointing && before.hash == after.hash => {
            changed_value(old, before, new, after)
        }
        _ => Relation::Different,
    }
}

/// As [`relation`], with a subject in `new` that only points back ("now it is red") taken
/// for the subject of `old`. For a caller that knows `old` to be the statement just before
/// `new` in the same conversation; on any other pair it would guess.
///
/// ```
/// use memcards::judge::{analyze, relation, relation_to_previous, Relation};
///
/// let old = analyze("The colour is blue");
/// let new = analyze("Now it is red");
/// assert_eq!(relation(&old, &new), Relation::Different);
/// assert_eq!(relation_to_previous(&old, &new), Relation::ValueChanged { explicit: true });
/// ```
#[must_use]
pub fn relation_to_previous(old: &Analysis, new: &Analysis) -> Relation {
    match (&old.subject, &new.subject) {
        (Some(before), Some(after))
            if after.pointing
                && !before.pointing
                && new.changed
                && old.sentences == 1
                && after.form != Form::Verb =>
        {
            let same_kind = before.shape == after.shape
                && (before.attribute || matches!(before.shape, Shape::Number | Shape::Date | Shape::Color))
                && (before.shape != Shape::Number || before.attribute || before.template == after.template);
            if same_kind { changed_value(old, before, new, after) } else { Relation::Different }
        }
        _ => relation(old, new),
    }
}

fn opposite(old: &Analysis, new: &Analysis) -> bool {
    if old.topic.is_none() || old.topic != new.topic || old.entangled || new.entangled {
        return false;
    }
    let (affirming, negating) = match (old.stance, new.stance) {
        (Stance::Affirmed, Stance::Negated) => (old, new),
        (Stance::Negated, Stance::Affirmed) => (new, old),
        _ => return false,
    };
    if !negating.attitude.denies(affirming.attitude) {
        return false;
    }
    match (affirming.modal, negating.modal) {
        // Not being obliged contradicts being obliged, and nothing else.
        (affirmed, Modal::Exempt) => {
            matches!(affirmed, Modal::Must | Modal::Need) || (affirmed == Modal::None && affirming.urged)
        }
        // Who needs to do it may be unable to.
        (Modal::Need, Modal::Must) => true,
        (Modal::Can | Modal::Must, Modal::Can | Modal::Must) => true,
        // Doing it contradicts not being free to.
        (Modal::None, _) => true,
        // "I can swim" and "I do not swim" are both true of many.
        _ => false,
    }
}

fn changed_value(old: &Analysis, before: &Subject, new: &Analysis, after: &Subject) -> Relation {
    let different = before.value != after.value;
    let comparable = old.plain
        && new.plain
        && !before.long
        && !after.long
        && before.past == after.past
        && before.dated == after.dated
        && before.scope == after.scope;
    // Two places may both be right until something moves, or one is taken back.
    let stands = before.form == Form::At || after.form == Form::At;
    let moves = before.form == Form::Move || after.form == Form::Move || old.corrects || new.corrects;
    let fits = (!stands || moves)
        && match (before.form == Form::Verb, before.attribute || after.attribute) {
            (true, _) => before.shape == after.shape && before.nominal == after.nominal,
            (false, true) if before.role => match (before.shape, after.shape) {
                (Shape::Name, Shape::Name) => true,
                // "The dentist moved to Friday": the appointment is meant.
                (Shape::Date, Shape::Date) => old.changed || new.changed,
                _ => false,
            },
            (false, true) => {
                new.changed || (before.shape == after.shape && !before.judging && !after.judging)
            }
            (false, false) => match (before.shape, after.shape) {
                (Shape::Date, Shape::Date) | (Shape::Color, Shape::Color) => true,
                (Shape::Number, Shape::Number) => before.template == after.template,
                (Shape::Name, Shape::Name) => new.changed,
                (Shape::Name | Shape::Other, Shape::Name | Shape::Other) => match after.form {
                    Form::Change => true,
                    Form::Move => before.placed,
                    _ => false,
                },
                _ => false,
            },
        };
    if different && comparable && fits {
        Relation::ValueChanged { explicit: new.changed }
    } else {
        Relation::Different
    }
}
