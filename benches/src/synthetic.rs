//! Synthetic memories: short English and Chinese messages made from word lists, and
//! vectors, the same for the same seed.

use memcards::card::Role;
use memcards::{Remember, Timestamp};

/// A small deterministic generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound.max(1) as u64) as usize
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An item of a list; earlier ones are chosen more often, as words of language are.
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let place = (list.len() as f64).powf(self.unit()) - 1.0;
        list[(place as usize).min(list.len() - 1)]
    }

    /// A vector with components from −1 to 1.
    pub fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.unit() as f32 * 2.0 - 1.0).collect()
    }
}

const ENGLISH: [&str; 22] = [
    "I {did} {thing} with my {person} in {place} {when}.",
    "My {person} wants to {do} the {noun} before {when2}, so we need {adjective} {things}.",
    "We talked about the {noun} for an hour; {name} thinks the {adjective} one is better.",
    "Did you {do} the {noun} {when}? I am still waiting for {name} from {place}.",
    "{name} moved to {place} and now works as a {job} near the {noun}.",
    "The {noun} at {place} was {adjective}, but the {things} were far too {adjective}.",
    "I prefer {things} to {things}, above all {when}.",
    "Please remember that my {person} is allergic to {things}.",
    "Ticket {code} about the {noun} is still open, {name} promised to {do} it {when}.",
    "How was {place}? You said you would {do} some {things} there.",
    "It took {number} minutes to {do} the {noun} and I felt {adjective} afterwards.",
    "Last time the {job} told me to {do} fewer {things} and to rest {when}.",
    "Our budget for the {noun} is {number} euros, not a cent more.",
    "That sounds {adjective}! My {person} did the same with a {noun} from {place}.",
    "I started to {do} {things} every morning, it keeps me {adjective}.",
    "The meeting with {name} moved to {when2} because the {noun} is not ready.",
    "What do you think about a {adjective} {noun} for my {person}'s birthday?",
    "I have {number} {things} left and no idea what to do with them.",
    "{name} sent a photo of the {adjective} {noun} from {place}, it made my day.",
    "My {job} friend {name} says {place} is {adjective} in {month}.",
    "Since {month} I {do} the {noun} twice a week, mostly with {name}.",
    "Order {code} arrived broken: the {noun} has a {adjective} crack.",
];

const CHINESE: [&str; 16] = [
    "我{时候}和{人}一起去{地方}{做}了{东西}。",
    "{人}说{地方}的{东西}特别{样子}，下次我们也去看看。",
    "你还记得{时候}我们讨论的{东西}吗？",
    "我最近开始学{东西}，感觉很{样子}，每周练{数}次。",
    "{名字}现在在{地方}做{职业}，工作很{样子}。",
    "我不太喜欢{东西}，更喜欢{东西}，尤其是{时候}。",
    "订单{编号}还没有到，{名字}答应{时候}处理。",
    "{人}对{东西}过敏，买东西的时候要注意。",
    "今天{做}{东西}花了{数}分钟，有点{样子}。",
    "你给我推荐的{东西}很{样子}，谢谢！",
    "我的预算是{数}元，想在{地方}{做}一个{东西}。",
    "{时候}要和{职业}见面，记得带上{东西}。",
    "{名字}送了我一个{东西}，我觉得很{样子}。",
    "我们打算{时候}搬到{地方}，{人}还没有决定。",
    "当然可以，{样子}的{东西}有很多，比如{地方}那家。",
    "听说{地方}{时候}很{样子}，你觉得呢？",
];

type List = (&'static str, &'static [&'static str]);

#[rustfmt::skip]
const LISTS: [List; 21] = [
    ("did", &["cooked", "painted", "bought", "visited", "repaired", "planned", "cleaned", "sold", "lost", "found", "wrote", "sorted", "photographed", "measured", "carried", "borrowed", "returned", "tasted", "designed", "watched"]),
    ("do", &["finish", "paint", "buy", "repair", "plan", "cook", "clean", "sell", "book", "check", "cancel", "replace", "review", "order", "print", "translate", "record", "collect", "water", "move", "test", "learn", "practise", "photograph", "compare"]),
    ("thing", &["dinner", "the garden fence", "an old radio", "a used bicycle", "the holiday photos", "the tax papers", "a wooden shelf", "pottery", "the museum", "a chess set", "my grandmother's recipe", "the balcony plants", "a second-hand piano", "the car insurance", "a birthday cake", "the winter tyres"]),
    ("things", &["apples", "mangoes", "peanuts", "candles", "letters", "notebooks", "tomatoes", "screws", "tickets", "blankets", "batteries", "mushrooms", "stamps", "cups", "olives", "ribbons", "seeds", "pancakes", "sandals", "lamps", "puzzles", "brushes", "shrimps", "almonds", "postcards", "tiles", "socks", "noodles", "berries", "pillows"]),
    ("noun", &["kitchen", "project", "contract", "bicycle", "camera", "garden", "laptop", "report", "invoice", "trip", "guitar", "bathroom", "presentation", "heater", "balcony", "passport", "website", "server", "wardrobe", "violin", "telescope", "tent", "boat", "engine", "roof", "library", "exhibition", "concert", "festival", "marathon", "aquarium", "greenhouse", "sculpture", "keyboard", "database", "workshop", "scholarship", "apartment", "staircase", "elevator"]),
    ("person", &["sister", "brother", "mother", "father", "neighbour", "colleague", "boss", "cousin", "aunt", "uncle", "daughter", "son", "teacher", "landlord", "dentist", "partner", "grandmother", "niece", "coach", "flatmate"]),
    ("place", &["Lisbon", "Hamburg", "the harbour", "the old market", "Kyoto", "the station", "Oslo", "the lake", "Toronto", "the office", "Chengdu", "the mountains", "Porto", "Nairobi", "the village", "Seville", "Dublin", "the island", "Warsaw", "the theatre", "Lima", "Bergen", "the airport", "Tallinn", "Vienna"]),
    ("when", &["yesterday", "last week", "on Monday", "this morning", "tomorrow", "in spring", "after lunch", "on Friday evening", "next month", "two days ago", "before the holidays", "at the weekend", "in winter", "every summer", "at midnight"]),
    ("when2", &["Thursday", "noon", "next week", "Saturday", "the holidays", "Christmas", "my birthday", "the deadline", "June", "the exam"]),
    ("month", &["January", "March", "May", "July", "August", "October", "December"]),
    ("adjective", &["green", "expensive", "quiet", "wonderful", "old", "heavy", "cheap", "tired", "calm", "modern", "wooden", "bright", "broken", "spicy", "gentle", "noisy", "small", "enormous", "fragile", "elegant", "dusty", "warm", "proud", "nervous", "transparent", "rusty", "comfortable", "foggy", "honest", "crowded"]),
    ("job", &["nurse", "carpenter", "lawyer", "pilot", "baker", "physicist", "gardener", "editor", "plumber", "architect", "translator", "welder", "librarian", "surgeon", "analyst"]),
    ("人", &["妈妈", "爸爸", "姐姐", "弟弟", "同事", "老板", "邻居", "朋友", "老师", "女儿", "儿子", "同学", "奶奶", "表哥", "室友", "教练"]),
    ("地方", &["北京", "上海", "图书馆", "公园", "成都", "杭州", "医院", "学校", "咖啡馆", "火车站", "西安", "博物馆", "超市", "广州", "湖边", "健身房", "老街", "厦门", "山上", "电影院", "南京", "海边"]),
    ("东西", &["书", "电影", "咖啡", "绿茶", "吉他", "照片", "电脑", "蛋糕", "自行车", "花生", "芒果", "合同", "钢琴", "地图", "相机", "雨伞", "毛衣", "火锅", "绘画", "摄影", "编程", "游泳", "报告", "礼物", "机票", "植物", "海鲜", "面条", "耳机", "帐篷", "望远镜", "书架", "日记", "瑜伽"]),
    ("时候", &["昨天", "上周", "明天", "周末", "今天早上", "下个月", "去年冬天", "周三下午", "晚上", "春天", "国庆节", "前天", "下周五", "生日那天", "假期"]),
    ("样子", &["有意思", "好吃", "贵", "安静", "漂亮", "累", "忙", "开心", "便宜", "热闹", "舒服", "复杂", "紧张", "浪漫", "新鲜", "有用", "特别", "危险", "温暖", "轻松"]),
    ("做", &["买", "拍", "修", "看", "做", "学", "画", "吃", "准备", "整理", "打扫", "租", "参观", "练习"]),
    ("职业", &["医生", "律师", "老师", "设计师", "工程师", "记者", "厨师", "护士", "会计", "翻译", "司机", "摄影师"]),
    ("名字", &["小王", "李娜", "张伟", "陈静", "刘洋", "赵敏", "孙磊", "周婷", "吴刚", "郑爽", "小林", "阿强"]),
    ("name", &["Maria", "Tom", "Ingrid", "Pavel", "Aisha", "Jonas", "Lucia", "Ken", "Olga", "Diego", "Hana", "Felix", "Nora", "Samir", "Greta", "Bruno"]),
];

const SYLLABLES: [&str; 24] = [
    "ba", "cor", "del", "fin", "gra", "hol", "jas", "kem", "lor", "mir", "nep", "os", "pra", "quin", "ros",
    "sil", "tav", "ul", "ven", "wex", "yar", "zel", "bri", "mont",
];

/// A rare made-up name: the long tail of names in real messages.
fn rare_name(random: &mut Random) -> String {
    let parts = 2 + random.below(2);
    let mut name: String = (0..parts).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect();
    name[..1].make_ascii_uppercase();
    name
}

/// A message; one of three is Chinese.
pub fn message(random: &mut Random) -> String {
    let chinese = random.below(3) == 0;
    let template = match chinese {
        true => CHINESE[random.below(CHINESE.len())],
        false => ENGLISH[random.below(ENGLISH.len())],
    };
    let mut text = String::with_capacity(160);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((slot, after)) = after.split_once('}') else { break };
        rest = after;
        match slot {
            "number" | "数" => text.push_str(&(3 + random.below(200)).to_string()),
            "code" | "编号" => text.push_str(&format!("INC-{}", 10_000 + random.below(90_000))),
            "name" | "place" | "noun" if random.below(4) == 0 => text.push_str(&rare_name(random)),
            slot => {
                let list = LISTS.iter().find(|(name, _)| *name == slot).map_or(&[][..], |(_, list)| list);
                text.push_str(if list.is_empty() { slot } else { random.pick(list) });
            }
        }
    }
    text.push_str(rest);
    text
}

const QUESTIONS: [&str; 10] = [
    "What did I say about the {}?",
    "When did {} come up last?",
    "Who talked about {} with me?",
    "Do I like {}?",
    "Where is {}?",
    "我什么时候提到过{}？",
    "关于{}我说了什么？",
    "谁和我讨论过{}？",
    "你还记得{}吗？",
    "我喜欢{}吗？",
];

/// A question about something that a message says.
pub fn question(random: &mut Random) -> String {
    let text = message(random);
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "，。？！.,?!;:".contains(c))
        .filter(|w| !w.is_empty())
        .collect();
    let about = match text.is_ascii() {
        true => {
            let start = random.below(words.len().saturating_sub(3));
            words[start..(start + 4).min(words.len())].join(" ")
        }
        false => words[random.below(words.len())].to_owned(),
    };
    let half = QUESTIONS.len() / 2;
    let template = QUESTIONS[random.below(half) + if text.is_ascii() { 0 } else { half }];
    template.replace("{}", &about)
}

/// Turns of conversations in sessions of thirty, one a day, user and assistant in turns.
pub fn turns(seed: u64, count: usize, dimension: Option<usize>) -> impl Iterator<Item = Remember> {
    let mut random = Random::new(seed);
    (0..count).map(move |number| {
        let (session, turn) = (number / 30, number % 30);
        let role = if turn % 2 == 0 { Role::User } else { Role::Assistant };
        let minutes = (session * 24 * 60 + 9 * 60 + turn) as i64;
        Remember {
            content: message(&mut random),
            session: Some(format!("session-{session}")),
            turn: Some(turn as u32),
            role: Some(role),
            occurred_at: Some(Timestamp::from_micros(START_MICROS + minutes * 60_000_000)),
            vector: dimension.map(|dimension| random.vector(dimension)),
            ..Remember::default()
        }
    })
}

/// Statements outside any conversation.
pub fn statements(seed: u64, count: usize, dimension: Option<usize>) -> impl Iterator<Item = Remember> {
    let mut random = Random::new(seed);
    (0..count).map(move |_| Remember {
        content: message(&mut random),
        vector: dimension.map(|dimension| random.vector(dimension)),
        ..Remember::default()
    })
}

/// 2024-01-01T00:00:00Z.
const START_MICROS: i64 = 1_704_067_200_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let texts =
            |seed| turns(seed, 50, Some(4)).map(|turn| (turn.content, turn.vector)).collect::<Vec<_>>();
        assert_eq!(texts(7), texts(7));
        assert_ne!(texts(7), texts(8));
    }

    #[test]
    fn every_slot_is_filled() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let (text, question) = (message(&mut random), question(&mut random));
            assert!(!text.contains(['{', '}']) && !question.contains(['{', '}']), "{text} {question}");
        }
        let slots = ENGLISH.iter().chain(&CHINESE).flat_map(|text| text.split('{').skip(1));
        for slot in slots.map(|slot| slot.split('}').next().unwrap_or_default()) {
            let known = LISTS.iter().any(|(name, list)| *name == slot && !list.is_empty());
            assert!(known || ["number", "数", "code", "编号"].contains(&slot), "{slot}");
        }
    }
}
