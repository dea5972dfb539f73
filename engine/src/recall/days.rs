//! Yearly days that a tenant's cards tell of: "my birthday is June 5".

use crate::Result;
use crate::calendar::{self, Anchor, KnownDates, Zone};
use crate::engine::Tenant;
use crate::recall::View;
use crate::recall::relations;
use crate::recall::shown::Shown;
use crate::time::Timestamp;

/// What was said of an attribute of somebody, with when it happened.
type Values<'a> = dyn Fn(&str, &str) -> Vec<(Timestamp, String)> + 'a;

/// Looks up yearly days in what cards say.
pub(crate) struct KnownDays<'a> {
    /// Everything that was said of an attribute of somebody, with when it happened.
    values: Box<Values<'a>>,
    /// Who "I" is, where that has a name.
    speaker: Option<&'a str>,
}

impl<'a> KnownDays<'a> {
    /// Those that a tenant's cards tell of now.
    pub(crate) fn of(tenant: &'a Tenant, speaker: Option<&'a str>) -> Self {
        let values = move |owner: &str, attribute: &str| {
            values_of(tenant, owner, attribute).unwrap_or_else(|error| {
                // The day stays unknown; the write that asks for it meets the error itself.
                tracing::warn!(%error, "a yearly day could not be looked up");
                vec![]
            })
        };
        Self { values: Box::new(values), speaker }
    }

    /// Those that shown rows tell of.
    pub(super) fn within(shown: &'a [Shown<'a>]) -> Self {
        let values = move |owner: &str, attribute: &str| {
            shown.iter().flat_map(|shown| shown.values(owner, attribute)).collect()
        };
        Self { values: Box::new(values), speaker: None }
    }
}

fn values_of(tenant: &Tenant, owner: &str, attribute: &str) -> Result<Vec<(Timestamp, String)>> {
    let now = tenant.store().clock().now();
    let view = View::new(tenant.life_rules()?, &[], None, None, now);
    let mut values = Vec::new();
    for slot in relations::slots(tenant)?.unwrap_or_default() {
        let partition = slot.read()?;
        let judge = view.on(&partition);
        let said = partition.said().values(owner, attribute).iter().filter(|(row, _)| judge.shows(*row));
        values.extend(said.map(|(row, value)| (partition.row(*row).card.occurred_at, value.clone())));
    }
    Ok(values)
}

impl KnownDates for KnownDays<'_> {
    fn month_and_day(&self, name: &str) -> Option<(i8, i8)> {
        let (owner, attribute) = owner_of(name)?;
        let owner = match owner {
            "my" | "我的" | "我" | "our" | "我们的" => self.speaker.unwrap_or("user"),
            owner => owner,
        };
        let mut values = (self.values)(owner, attribute);
        values.sort();
        values.into_iter().rev().find_map(|(at, value)| day_of(&value, at))
    }
}

/// Whose day a name names, and the attribute that tells it.
fn owner_of(name: &str) -> Option<(&str, &'static str)> {
    let ends = [
        ("birthday", "birthday"),
        ("anniversary", "anniversary"),
        ("生日", "birthday"),
        ("纪念日", "anniversary"),
    ];
    let (owner, attribute) =
        ends.iter().find_map(|(end, attribute)| Some((name.strip_suffix(end)?, *attribute)))?;
    let owner = owner.trim().trim_end_matches("wedding").trim_end();
    let owner = owner.strip_suffix("'s").or_else(|| owner.strip_suffix("’s")).unwrap_or(owner);
    let owner = match owner {
        "我的" | "我们的" => owner,
        _ => owner.strip_suffix('的').unwrap_or(owner),
    };
    (!owner.is_empty()).then_some((owner, attribute))
}

/// Month and day of a day as it was told.
fn day_of(value: &str, told_at: Timestamp) -> Option<(i8, i8)> {
    let anchor = Anchor { instant: told_at, zone: Zone::UTC };
    let found = calendar::phrases(value, &anchor, &());
    let from = found.iter().find(|phrase| phrase.unit == calendar::Unit::Day)?.from?;
    let instant = jiff::Timestamp::from_microsecond(from.as_micros()).ok()?;
    let date = jiff::tz::Offset::UTC.to_datetime(instant).date();
    Some((date.month(), date.day()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_day_is_read_in_its_name() {
        for (name, expected) in [
            ("my birthday", Some(("my", "birthday"))),
            ("ann's birthday", Some(("ann", "birthday"))),
            ("our wedding anniversary", Some(("our", "anniversary"))),
            ("我的生日", Some(("我的", "birthday"))),
            ("安娜的生日", Some(("安娜", "birthday"))),
            ("birthday", None),
            ("tuesday", None),
        ] {
            assert_eq!(owner_of(name), expected, "{name}");
        }
    }

    #[test]
    fn a_day_is_read_in_the_words_it_was_told_in() {
        let at = "2024-02-01T00:00:00Z".parse().unwrap();
        for (value, expected) in [
            ("June 5", Some((6, 5))),
            ("the 3rd of March, 1990", Some((3, 3))),
            ("6月5日", Some((6, 5))),
            ("soon", None),
        ] {
            assert_eq!(day_of(value, at), expected, "{value}");
        }
    }
}
