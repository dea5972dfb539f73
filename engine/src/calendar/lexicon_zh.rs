//! Chinese words: the longest entry that begins at a character, among them words that only look
//! like dates and are there to be skipped.

use std::sync::LazyLock;

use super::feasts::Feast;
use super::words::{MonthWord, Part, Portion, Scale, Word};

const SIMPLE: &[(&str, Word)] = &[
    ("今天", Word::Day(0)),
    ("今日", Word::Day(0)),
    ("当天", Word::Other),
    ("昨天", Word::Day(-1)),
    ("昨日", Word::Day(-1)),
    ("前天", Word::Day(-2)),
    ("前日", Word::Day(-2)),
    ("大前天", Word::Day(-3)),
    ("明天", Word::Day(1)),
    ("明日", Word::Day(1)),
    ("后天", Word::Day(2)),
    ("大后天", Word::Day(3)),
    ("今早", Word::DayPart(0, Part::Morning)),
    ("今晨", Word::DayPart(0, Part::Morning)),
    ("今晚", Word::DayPart(0, Part::Night)),
    ("今夜", Word::DayPart(0, Part::Night)),
    ("昨晚", Word::DayPart(-1, Part::Night)),
    ("昨夜", Word::DayPart(-1, Part::Night)),
    ("昨早", Word::DayPart(-1, Part::Morning)),
    ("前晚", Word::DayPart(-2, Part::Night)),
    ("明早", Word::DayPart(1, Part::Morning)),
    ("明晨", Word::DayPart(1, Part::Morning)),
    ("明晚", Word::DayPart(1, Part::Night)),
    ("后晚", Word::DayPart(2, Part::Night)),
    ("凌晨", Word::Part(Part::EarlyHours)),
    ("早上", Word::Part(Part::Morning)),
    ("早晨", Word::Part(Part::Morning)),
    ("清晨", Word::Part(Part::Morning)),
    ("清早", Word::Part(Part::Morning)),
    ("一大早", Word::Part(Part::Morning)),
    ("大清早", Word::Part(Part::Morning)),
    ("上午", Word::Part(Part::Morning)),
    ("中午", Word::Part(Part::Noon)),
    ("正午", Word::Part(Part::Noon)),
    ("午后", Word::Part(Part::Afternoon)),
    ("下午", Word::Part(Part::Afternoon)),
    ("傍晚", Word::Part(Part::Evening)),
    ("晚上", Word::Part(Part::Night)),
    ("晚间", Word::Part(Part::Night)),
    ("夜里", Word::Part(Part::Night)),
    ("夜晚", Word::Part(Part::Night)),
    ("半夜", Word::Part(Part::Night)),
    ("深夜", Word::Part(Part::Night)),
    ("分钟", Word::Scale(Scale::Minute)),
    ("小时", Word::Scale(Scale::Hour)),
    ("钟头", Word::Scale(Scale::Hour)),
    ("天", Word::Scale(Scale::Day)),
    ("周末", Word::Scale(Scale::Weekend)),
    ("周", Word::Scale(Scale::Week)),
    ("星期", Word::Scale(Scale::Week)),
    ("礼拜", Word::Scale(Scale::Week)),
    ("月", Word::MonthMark),
    ("月份", Word::MonthMark),
    ("季度", Word::Scale(Scale::Quarter)),
    ("年", Word::Scale(Scale::Year)),
    ("年代", Word::Decades),
    ("世纪", Word::Scale(Scale::Century)),
    ("日", Word::DayMark),
    ("号", Word::DayMark),
    ("点", Word::HourMark),
    ("时", Word::HourMark),
    ("点钟", Word::HourMark),
    ("分", Word::MinuteMark),
    ("整", Word::Whole),
    ("刻", Word::QuarterHour),
    ("刻钟", Word::QuarterHour),
    ("半", Word::Half),
    ("春天", Word::Season(0)),
    ("春季", Word::Season(0)),
    ("夏天", Word::Season(1)),
    ("夏季", Word::Season(1)),
    ("秋天", Word::Season(2)),
    ("秋季", Word::Season(2)),
    ("冬天", Word::Season(3)),
    ("冬季", Word::Season(3)),
    ("今年", Word::YearRel(0)),
    ("本年", Word::YearRel(0)),
    ("去年", Word::YearRel(-1)),
    ("前年", Word::YearRel(-2)),
    ("大前年", Word::YearRel(-3)),
    ("明年", Word::YearRel(1)),
    ("后年", Word::YearRel(2)),
    ("大后年", Word::YearRel(3)),
    ("上半年", Word::YearPortion(Portion::FirstHalf)),
    ("下半年", Word::YearPortion(Portion::SecondHalf)),
    ("年初", Word::YearPortion(Portion::Start)),
    ("年中", Word::YearPortion(Portion::Middle)),
    ("年底", Word::YearPortion(Portion::End)),
    ("年末", Word::YearPortion(Portion::End)),
    ("月初", Word::MonthPortion(Portion::Start)),
    ("月中", Word::MonthPortion(Portion::Middle)),
    ("月底", Word::MonthPortion(Portion::End)),
    ("月末", Word::MonthPortion(Portion::End)),
    ("上旬", Word::MonthPortion(Portion::Early)),
    ("中旬", Word::MonthPortion(Portion::Middle)),
    ("下旬", Word::MonthPortion(Portion::Late)),
    ("初", Word::Portion(Portion::Start)),
    ("底", Word::Portion(Portion::End)),
    ("末", Word::Portion(Portion::End)),
    ("上", Word::Rel(-1)),
    ("上上", Word::Rel(-2)),
    ("上上上", Word::Rel(-3)),
    ("这", Word::Rel(0)),
    ("本", Word::Rel(0)),
    ("下", Word::Rel(1)),
    ("下下", Word::Rel(2)),
    ("每", Word::Every),
    ("每逢", Word::Every),
    ("前", Word::Before),
    ("之前", Word::Before),
    ("以前", Word::Before),
    ("后", Word::After),
    ("之后", Word::After),
    ("以后", Word::After),
    ("以来", Word::SinceEnd),
    ("起", Word::SinceEnd),
    ("开始", Word::SinceEnd),
    ("为止", Word::UntilEnd),
    ("左右", Word::AroundEnd),
    ("前后", Word::AroundEnd),
    ("从", Word::From),
    ("自", Word::From),
    ("自从", Word::Since),
    ("到", Word::To),
    ("至", Word::To),
    ("直到", Word::Until),
    ("截至", Word::Until),
    ("截止到", Word::Until),
    ("和", Word::And),
    ("与", Word::And),
    ("之间", Word::Between),
    ("在", Word::At),
    ("于", Word::At),
    ("过去", Word::Past),
    ("最近", Word::Past),
    ("近", Word::Past),
    ("未来", Word::Coming),
    ("接下来", Word::Coming),
    ("几", Word::Few(2, 5)),
    ("好几", Word::Few(3, 7)),
    ("数", Word::Few(3, 7)),
    ("若干", Word::Few(3, 7)),
    ("的", Word::De),
    ("个", Word::Ge),
    ("第", Word::Nth),
    ("大约", Word::About),
    ("大概", Word::About),
    ("差不多", Word::About),
    ("约", Word::About),
    ("生日", Word::KnownEnd),
    ("纪念日", Word::KnownEnd),
    ("打算", Word::Will),
    ("计划", Word::Will),
    ("准备", Word::Will),
    ("将要", Word::Will),
    ("即将", Word::Will),
    ("将", Word::Will),
    ("下次", Word::Will),
    ("要去", Word::Will),
    ("曾", Word::Did),
    ("曾经", Word::Did),
    ("当时", Word::Did),
    ("去过", Word::Did),
    ("快乐", Word::Happy),
    ("现在", Word::Now),
    ("如今", Word::Now),
    ("目前", Word::Now),
    ("元旦", Word::Feast(Feast::NewYear)),
    ("元旦节", Word::Feast(Feast::NewYear)),
    ("跨年夜", Word::Feast(Feast::NewYearEve)),
    ("情人节", Word::Feast(Feast::Valentine)),
    ("妇女节", Word::Feast(Feast::Women)),
    ("三八妇女节", Word::Feast(Feast::Women)),
    ("植树节", Word::Feast(Feast::Arbor)),
    ("愚人节", Word::Feast(Feast::AprilFools)),
    ("清明", Word::Feast(Feast::Qingming)),
    ("清明节", Word::Feast(Feast::Qingming)),
    ("五一", Word::Feast(Feast::MayDay)),
    ("五一节", Word::Feast(Feast::MayDay)),
    ("劳动节", Word::Feast(Feast::MayDay)),
    ("五一劳动节", Word::Feast(Feast::MayDay)),
    ("青年节", Word::Feast(Feast::Youth)),
    ("母亲节", Word::Feast(Feast::Mothers)),
    ("儿童节", Word::Feast(Feast::Children)),
    ("六一", Word::Feast(Feast::Children)),
    ("六一儿童节", Word::Feast(Feast::Children)),
    ("父亲节", Word::Feast(Feast::Fathers)),
    ("建军节", Word::Feast(Feast::Army)),
    ("教师节", Word::Feast(Feast::Teachers)),
    ("国庆", Word::Feast(Feast::ChinaNational)),
    ("国庆节", Word::Feast(Feast::ChinaNational)),
    ("十一长假", Word::Feast(Feast::ChinaNational)),
    ("十一假期", Word::Feast(Feast::ChinaNational)),
    ("十一黄金周", Word::Feast(Feast::ChinaNational)),
    ("万圣节", Word::Feast(Feast::Halloween)),
    ("双十一", Word::Feast(Feast::Singles)),
    ("双11", Word::Feast(Feast::Singles)),
    ("光棍节", Word::Feast(Feast::Singles)),
    ("感恩节", Word::Feast(Feast::Thanksgiving)),
    ("复活节", Word::Feast(Feast::Easter)),
    ("平安夜", Word::Feast(Feast::ChristmasEve)),
    ("圣诞夜", Word::Feast(Feast::ChristmasEve)),
    ("圣诞", Word::Feast(Feast::Christmas)),
    ("圣诞节", Word::Feast(Feast::Christmas)),
    ("春节", Word::Feast(Feast::SpringFestival)),
    ("大年初一", Word::Feast(Feast::SpringFestival)),
    ("除夕", Word::Feast(Feast::SpringEve)),
    ("除夕夜", Word::Feast(Feast::SpringEve)),
    ("大年三十", Word::Feast(Feast::SpringEve)),
    ("年三十", Word::Feast(Feast::SpringEve)),
    ("元宵节", Word::Feast(Feast::Lantern)),
    ("正月十五", Word::Feast(Feast::Lantern)),
    ("端午", Word::Feast(Feast::DragonBoat)),
    ("端午节", Word::Feast(Feast::DragonBoat)),
    ("七夕", Word::Feast(Feast::Qixi)),
    ("七夕节", Word::Feast(Feast::Qixi)),
    ("中秋", Word::Feast(Feast::MidAutumn)),
    ("中秋节", Word::Feast(Feast::MidAutumn)),
    ("重阳", Word::Feast(Feast::DoubleNinth)),
    ("重阳节", Word::Feast(Feast::DoubleNinth)),
];

/// Words that hold a date word by chance. What follows them begins anew.
const SKIPPED: &[&str] = &[
    "十分", "一点儿", "一点点", "有点", "差点", "天气", "天天", "天空", "天下", "天生", "聊天", "白天", "当年", "明白", "年轻", "年级",
    "年龄", "年纪", "年糕", "月亮", "月饼", "月球", "号码", "周到", "周围", "周边", "周年", "周期", "周岁", "周转", "周折", "周全", "周六福",
    "早上好", "上午好", "中午好", "下午好", "晚上好", "马上", "网上", "路上", "身上", "线上", "地上", "桌上", "手上", "上下", "以上", "以下", "楼上",
    "楼下", "上海", "上班", "上学", "上课", "下班", "下课", "下面", "上面", "上线", "下载", "下雨", "下雪", "千万", "先天", "后天性", "后天努力", "后来",
    "前面", "后面", "前台", "后台", "前端", "后端", "前途", "前提", "后果", "后悔", "落后", "先后", "提前", "三天两头", "一天到晚", "一时", "到底",
    "彻底", "彻夜", "圣诞树", "圣诞老人", "圣诞帽", "圣诞卡", "国庆阅兵", "春节联欢晚会", "自己", "自动", "自然", "从来", "到处", "数学", "数据", "数字", "数量",
    "几乎", "日本", "日子", "日常", "日记", "生日蛋糕", "时候", "时间", "时代", "分享", "分析", "分手", "半天", "整理", "整天", "整个", "七七八八", "前天气",
    "和平", "和谐", "本来", "本人", "本子", "本身", "起来", "一起", "将来", "将军", "接近", "附近", "近视", "点菜", "点儿", "点心", "重点", "特点", "优点",
    "缺点", "观点", "地点", "景点", "点击", "点赞", "明天系", "今日头条", "明日方舟", "明日香", "前日本", "这样", "这里", "这些", "这么", "第一次", "三八线", "四季度假",
    "五一路", "五一广场", "六一路", "千年", "百年", "成千上万", "万一",
];

const DIGITS: [&str; 6] = ["一", "二", "三", "四", "五", "六"];

/// The first character of every entry lies in this block.
const FIRST: u32 = 0x4E00;
const LAST: u32 = 0x9FFF;

struct Table {
    /// Where the entries of a character begin and how many there are.
    heads: Vec<(u16, u8)>,
    /// Sorted by first character, longest first.
    entries: Vec<(String, Word)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut entries: Vec<(String, Word)> =
        SIMPLE.iter().map(|(text, word)| ((*text).to_owned(), *word)).collect();
    entries.extend(SKIPPED.iter().map(|text| ((*text).to_owned(), Word::Other)));
    for week in ["周", "星期", "礼拜"] {
        for (day, digit) in (1i8..).zip(DIGITS) {
            entries.push((format!("{week}{digit}"), Word::Weekday(day, false)));
        }
        entries.push((format!("{week}日"), Word::Weekday(7, false)));
        if week != "周" {
            entries.push((format!("{week}天"), Word::Weekday(7, false)));
        }
    }
    // Months are numbers before 月; only the eleventh and twelfth have names of their own.
    entries.push(("元月".to_owned(), Word::Month(1, MonthWord::Plain)));
    entries.push(("冬月".to_owned(), Word::Other));
    entries.sort_by_key(|(text, _)| (text.chars().next(), std::cmp::Reverse(text.len())));
    entries.dedup_by(|a, b| a.0 == b.0);
    let mut heads = vec![(0u16, 0u8); (LAST - FIRST + 1) as usize];
    for (place, (text, _)) in entries.iter().enumerate() {
        let first = text.chars().next().map_or(FIRST, u32::from);
        let head = &mut heads[(first - FIRST) as usize];
        if head.1 == 0 {
            head.0 = place as u16;
        }
        head.1 += 1;
    }
    Table { heads, entries }
});

/// The longest entry at the beginning of `rest`, whose first character is `first`: its length in
/// bytes and its meaning.
pub(super) fn entry(first: char, rest: &str) -> Option<(usize, Word)> {
    let place = u32::from(first).checked_sub(FIRST)?;
    let table = &*TABLE;
    let &(start, count) = table.heads.get(place as usize)?;
    if count == 0 {
        return None;
    }
    let entries = &table.entries[usize::from(start)..usize::from(start) + usize::from(count)];
    entries
        .iter()
        .find(|(text, _)| rest.as_bytes().starts_with(text.as_bytes()))
        .map(|(text, word)| (text.len(), *word))
}

/// The value of a numeral, and whether it is a digit (as against 十, 百, 千, 万).
pub(super) fn numeral(character: char) -> Option<(u32, bool)> {
    Some(match character {
        '零' | '〇' => (0, true),
        '一' => (1, true),
        '二' | '两' => (2, true),
        '三' => (3, true),
        '四' => (4, true),
        '五' => (5, true),
        '六' => (6, true),
        '七' => (7, true),
        '八' => (8, true),
        '九' => (9, true),
        '十' => (10, false),
        '百' => (100, false),
        '千' => (1000, false),
        '万' => (10_000, false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_entry_wins() {
        assert_eq!(entry('大', "大前天下午"), Some(("大前天".len(), Word::Day(-3))));
        assert_eq!(entry('周', "周末"), Some(("周末".len(), Word::Scale(Scale::Weekend))));
        assert_eq!(entry('周', "周三"), Some(("周三".len(), Word::Weekday(3, false))));
        assert_eq!(entry('周', "周到"), Some(("周到".len(), Word::Other)));
        assert_eq!(entry('龘', "龘"), None);
        assert_eq!(entry('a', "a"), None);
        for (text, word) in SIMPLE {
            let first = text.chars().next().unwrap();
            assert_eq!(entry(first, text), Some((text.len(), *word)), "{text}");
        }
    }
}
