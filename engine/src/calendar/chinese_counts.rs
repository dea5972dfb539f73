//! Chinese counts of units, steps from the anchor, and what comes again.

use super::grammar::{Count, Reader};
use super::values::Item;
use super::values::Value;
use super::words::{Form, Number, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
    /// So many units: 三天, 两个半月, 半年, 一年半, 几个星期.
    pub(super) fn chinese_count(&self, at: usize) -> Option<Count> {
        let (low, high, mut next) = match self.word(at) {
            Word::Half => (50, 50, at + 1),
            Word::Few(low, high) => (u64::from(low) * 100, u64::from(high) * 100, at + 1),
            Word::Decimal(hundredths) => (u64::from(hundredths), u64::from(hundredths), at + 1),
            Word::Number(_) => {
                let number = self.number(at)?;
                if number.form == Form::HanDigits {
                    return None;
                }
                // 两到三周, 3-5天
                match (self.word(at + 1), self.number(at + 2)) {
                    (Word::To | Word::Dash, Some(last))
                        if last.low > number.high
                            && last.low == last.high
                            && last.low < number.high.saturating_add(20) =>
                    {
                        (u64::from(number.low) * 100, u64::from(last.high) * 100, at + 3)
                    }
                    _ => (u64::from(number.low) * 100, u64::from(number.high) * 100, at + 1),
                }
            }
            _ => return None,
        };
        let (mut low, mut high) = (low, high);
        let ge = self.word(next) == Word::Ge;
        next += usize::from(ge);
        let mut halved = low == 50;
        // 两个半月
        if ge
            && !halved
            && self.word(next) == Word::Half
            && matches!(self.word(next + 1), Word::MonthMark | Word::Scale(_))
        {
            (low, high, next, halved) = (low + 50, high + 50, next + 1, true);
        }
        let scale = match self.word(next) {
            Word::Scale(scale) if self.han(next) => scale,
            // 三月 is March; a count of months has 个.
            Word::MonthMark if ge || self.source(at) == "数" => Scale::Month,
            _ => return None,
        };
        let four = matches!(self.word(at), Word::Number(number) if number.digits >= 4);
        if scale == Scale::Year && four || scale == Scale::Century && !ge || scale == Scale::Quarter && !ge {
            return None;
        }
        let mut end = next + 1;
        if !halved
            && self.word(end) == Word::Half
            && self.source(end) == "半"
            && !matches!(self.word(end + 1), Word::Scale(_) | Word::Ge)
        {
            (low, high, end) = (low + 50, high + 50, end + 1);
        }
        Some(Count { low, high, scale, end })
    }

    /// 三天前, 半年后, 三日前.
    pub(super) fn ago(&self, at: usize) -> Option<Item> {
        let count = match self.chinese_count(at) {
            Some(count) => count,
            None => {
                let number = self.number(at).filter(|number| number.form == Form::Han)?;
                if self.word(at + 1) != Word::DayMark || self.source(at + 1) != "日" {
                    return None;
                }
                Count {
                    low: u64::from(number.low) * 100,
                    high: u64::from(number.high) * 100,
                    scale: Scale::Day,
                    end: at + 2,
                }
            }
        };
        if matches!(self.previous(at), Word::Nth) || !self.han(count.end) {
            return None;
        }
        match self.word(count.end) {
            Word::Before => self.step_now(count, -1, count.end + 1),
            Word::After => self.step_now(count, 1, count.end + 1),
            Word::SinceEnd if self.source(count.end) == "以来" => self.stretch(count, -1, count.end + 1),
            _ => None,
        }
    }

    /// 每周三, 每天早上, 每年五月, 每个月8号.
    pub(super) fn chinese_every(&self, at: usize) -> Option<Item> {
        let mut next = at + 1;
        if let Some(count) = self.chinese_count(next) {
            return Some(Item::new(count.end, Value::Recurring, count.scale.unit(), Kind::Recurring));
        }
        next += usize::from(self.word(next) == Word::Ge);
        let (mut unit, mut end) = match self.word(next) {
            Word::Scale(scale) => (scale.unit(), next + 1),
            Word::MonthMark => (Unit::Month, next + 1),
            Word::DayMark if self.source(next) == "日" => (Unit::Day, next + 1),
            Word::Weekday(..) => (Unit::Day, next + 1),
            Word::Part(_) => (Unit::PartOfDay, next + 1),
            Word::Season(_) => (Unit::Season, next + 1),
            Word::Feast(_) => (Unit::Day, next + 1),
            Word::MonthPortion(_) => (Unit::Month, next + 1),
            Word::YearPortion(_) => (Unit::Year, next + 1),
            _ => return None,
        };
        end += usize::from(self.word(end) == Word::De);
        if let Some(item) = self.chinese(end, true)
            && item.unit < unit
            && matches!(item.kind, Kind::Partial)
        {
            (unit, end) = (item.unit, item.end);
        } else if self.word(end - 1) == Word::De {
            end -= 1;
        }
        Some(Item::new(end, Value::Recurring, unit, Kind::Recurring))
    }

    /// 八号, 8日 without a month.
    pub(super) fn bare_day(&self, at: usize, day: i8, loose: bool) -> Option<Item> {
        const THINGS: [&str; 24] = [
            "楼", "线", "房", "门", "机", "码", "店", "桌", "柜", "位", "公", "院", "文", "仓", "车", "选",
            "员", "馆", "厅", "栋", "球", "称", "字", "电",
        ];
        let mark = at + 1;
        let next = self.source(mark + 1);
        if THINGS.iter().any(|thing| next.starts_with(thing)) {
            return None;
        }
        let led =
            loose || matches!(self.previous(at), Word::At | Word::From | Word::To | Word::Until | Word::By);
        if self.source(mark) == "日" {
            let digits = matches!(self.number(at), Some(Number { form: Form::Digits, .. }));
            let length = ["游", "内", "间", "元", "均"].iter().any(|thing| next.starts_with(thing));
            if length || !(led || digits) || self.previous(at) == Word::Every {
                return None;
            }
        }
        if matches!(self.previous(at), Word::Nth | Word::Every) {
            return None;
        }
        Some(Item::fields(at + 2, None, None, Some(day)))
    }
}
