//! The word lists, English and Chinese, as data. Each list says why it exists; a word in
//! none of them is content, which counts in every comparison.

use std::collections::HashMap;
use std::sync::OnceLock;

/// What a listed word or phrase does to the sentence it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// Politeness and padding: no meaning in any comparison.
    Filler,
    /// Counts for "the same statement", not for "the same topic".
    Grammar,
    /// "Do not forget to": at the start of a sentence it only urges.
    Reminder,
    /// Plain content, listed so that no shorter entry is found inside it.
    Content,
    /// Content that narrows or counts.
    Scope,
    /// Negation of the whole statement.
    Not,
    /// Negation that says it has become so.
    NoLonger,
    /// Negation of a degree or a quantity: not all, not only.
    ScopedNot,
    /// Liking (true) or disliking.
    Like(bool),
    /// One side of a pair of opposites.
    Pair(u8, bool),
    Can,
    CanNot,
    Must,
    MustNot,
    /// 需要: denied it exempts, and not being able to does not contradict it.
    Need,
    /// Not obliged.
    Exempt,
    /// Says that things have become so: now, from now on.
    Changed,
    /// Negates the "-ing" that follows it.
    Stop,
    /// Says that the "-ing" that follows it has become so.
    Start,
    /// If, unless, when.
    Condition,
    Question,
    Be,
    Was,
    /// Changed to, became: what follows is the new value.
    Change,
    /// As `Change`, for places and dates: moved to.
    Move,
    /// Moved house, when the subject is a person.
    MoveHome,
    /// A verb that has one object at a time: lives in.
    Single(u8),
}

/// `Single` of living somewhere, which moving house changes.
pub(super) const LIVE: u8 = 0;
/// `Single` of being called something.
pub(super) const CALLED: u8 = 4;
/// The first of the two `Single` that take a measure: costs, weighs.
pub(super) const MEASURES: std::ops::RangeInclusive<u8> = 7..=8;
/// `Single` of working somewhere, which Chinese says around the place.
pub(super) const WORK: u8 = 1;

/// Characters in the longest Chinese entry.
pub(super) const LONGEST_CHINESE: usize = 6;

type List = (Term, &'static str);

const LISTS: &[List] = &[
    // Politeness, padding: two wordings that differ in these alone say the same.
    (Term::Filler, "please|kindly|also|the|too|请|麻烦您|麻烦你|一下|吧|啊|呀|哦|啦"),
    // Tense-less helpers, articles, intensifiers: they do not change what is spoken of.
    // "A" stays grammar rather than filler: "few" is not "a few".
    (
        Term::Grammar,
        "a|an|do|does|will|really|very|so much|very much|a lot|absolutely|totally|definitely|truly|\
         actually|in fact|well|always|了|的|被|很|非常|十分|特别|真的|真|超级|其实|绝对|确实|也|着|\
         对|一直|总是",
    ),
    // A negated "forget" asks for the thing; at the start of a sentence it is no more.
    (
        Term::Reminder,
        "do not forget to|do not forget that|do not forget|never forget to|remember to|remember that|\
         make sure to|make sure that|make sure|be sure to|do not fail to|always remember to|别忘了|\
         别忘记|别忘|不要忘了|不要忘记|不要忘|记得|记住|务必记得|请记住|切记|千万别忘了|千万别忘记|\
         千万不要忘记",
    ),
    // Words that only look negative, or double negatives that affirm.
    (
        Term::Content,
        "not without|can not help but|can not help|can not but|can not wait|no doubt|not bad|\
         no matter|nothing but|would like|no less than|no more than|no problem|why not|as well as",
    ),
    // Chinese words which contain 不, 没, 别, 要, 能, 爱, 是, 得 … as a syllable only.
    (
        Term::Content,
        "不同|不错|不久|不断|不锈钢|不少|不得了|不好意思|对不起|了不起|差不多|要不然|不然|不论|不管|\
         不过|不如|不满|不足|不幸|不禁|不由得|不妨|不愧|不等|不动产|不可思议|不可避免|不要紧|不一样|\
         没错|没关系|没准|沉没|埋没|淹没|未来|未必|不用谢|不用说|不用客气|不用想|不必要|不可或缺|根据需要|有需要|特殊需要|未婚|未知|区别|级别|别人|别的|个别|分别|告别|性别|\
         类别|识别|别墅|辨别|判别|别名|离别|道别|派别|国别|差别|要求|重要|主要|要点|摘要|概要|\
         纪要|想要|首要|必要|能力|功能|性能|可能|智能|能源|能量|才能|技能|节能|能耗|效能|职能|万能|\
         只能|可爱|爱好|爱情|恋爱|爱人|亲爱|爱心|爱国|可爱的|但是|还是|于是|可是|而是|正是|凡是|\
         尤其是|或是|是非|国是|我们|咱们|自我|用户名|用户们|工作|上班|任职|仇恨|叫醒|叫车|叫好|\
         现在时|反对票|停止键|否则|不是吗",
    ),
    // Mandatory by double negation.
    (Term::Must, "不得不|不能不|不可不"),
    // Before 的 and at the end of a sentence it is a noun, which the reader sees to.
    (Term::Need, "需要"),
    // They narrow a statement; statements that differ in them are different statements.
    (
        Term::Scope,
        "only|just|except|except for|apart from|sometimes|often|usually|rarely|seldom|hardly|barely|\
         occasionally|mostly|all|every|each|some|any|few|many|most|several|both|none|no one|nobody|nothing|\
         neither|nor|without|at least|at most|almost|nearly|about|even|still|yet|already|until|while|\
         during|before|after|weekends|weekdays|or|and|but|because|although|though|since|只是|都是|只|\
         仅|只有|仅仅|除了|除|以外|之外|有时|有时候|偶尔|经常|常常|通常|很少|所有|全部|每|每个|有些|\
         一些|有的|大多数|部分|都|几乎|至少|至多|最多|最少|大约|左右|周末|平时|工作日|期间|之前|之后|\
         以前|或|或者|和|与|因为|虽然|所以|但|不仅|不但|不只|不光|没有人|没人|曾经|曾|仍|仍然|还",
    ),
    // Negation of the statement.
    (
        Term::Not,
        "not|never|no|不|没|没有|未|尚未|并未|并非|并不|并没有|从不|从未|从来不|从来没有|从来没|绝不|\
         决不|out of|refuse to|refuses to",
    ),
    (Term::NoLonger, "no longer|not any longer|不再|再也不|再也没|再也没有"),
    // Negated quantities and degrees deny only part: never the opposite of the whole.
    (
        Term::ScopedNot,
        "not all|not every|not everyone|not everything|not always|not only|not just|not merely|\
         not until|not unless|not yet|not often|not necessarily|not quite|not too|not very|\
         not really|not even|not exactly|not entirely|not completely|not sure|not usually|not many|\
         not much|not both|not so|not fully|不太|不都|不全|不一定|不总是|不常|不经常|不怎么|不很|\
         不完全|不是所有|不是每|不是都|不确定|不大|不够|不那么|没那么|没有那么|不到|不可能",
    ),
    // Sentiment: opposite sides about one thing contradict each other.
    (
        Term::Like(true),
        "like|likes|love|loves|adore|adores|enjoy|enjoys|fond of|like to|likes to|love to|loves to|\
         a fan of|a big fan of|a huge fan of|keen on|prefer|prefers|prefer to|prefers to|\
         喜欢|喜爱|热爱|爱|最爱|钟爱|超爱|酷爱|最喜欢|很喜欢",
    ),
    (
        Term::Like(false),
        "prefer not to|prefers not to|hate|hates|dislike|dislikes|detest|detests|loathe|loathes|despise|despises|hate to|hates to|\
         can not stand|can not bear|讨厌|厌恶|憎恶|恨|痛恨|反感|最讨厌|憎恨|受不了",
    ),
    // Permission, obligation, prohibition.
    (Term::Can, "can|may|allowed to|permitted to|able to|可以|能|能够|允许|准许|许可"),
    (
        Term::CanNot,
        "forbidden to|forbidden from|prohibited from|banned from|禁止|严禁|不得|不许|不准|不可|\
         不可以|不能够|请勿|切勿|勿|不让",
    ),
    (
        Term::Must,
        "must|shall|should|have to|has to|need to|needs to|ought to|supposed to|必须|务必|应该|应当|\
         应|一定要|要|需",
    ),
    (Term::MustNot, "别|不该|不应|不应该|不应当|千万别|甭"),
    (
        Term::Exempt,
        "do not have to|does not have to|do not need to|does not need to|need not|no need to|不必|无需|无须|\
         不需|不需要|并不需要|用不着|没必要|没有必要|不是必须|并非必须",
    ),
    // Things have become so. 以后 after a time of day means "after" and is no marker.
    (
        Term::Changed,
        "now|from now on|anymore|any more|any longer|instead|currently|nowadays|these days|as of now|\
         henceforth|现在|如今|目前|从现在起|从现在开始|从今以后|今后|从今天起|已经|已|开始|变得",
    ),
    (Term::Stop, "stop|stops|stopped|quit|quits|avoid|avoids|停止|避免|戒了|戒掉"),
    (Term::Start, "start|starts|started|begin|begins|began"),
    // A condition makes it another statement unless all is equal.
    (
        Term::Condition,
        "if|unless|when|whenever|in case|whether|provided|once|now that|otherwise|assuming|如果|要是|\
         假如|若|若是|倘若|除非|只要|当|的时候|的话|一旦|是否|万一|需要的话|有需要的话",
    ),
    // Chinese questions need no question mark.
    (
        Term::Question,
        "吗|呢|是不是|能不能|可不可以|要不要|会不会|好不好|有没有|行不行|该不该|喜不喜欢|喜欢不喜欢|需不需要|需要不需要|用不用|应不应该|\
         什么|怎么|为什么|哪里|哪个|哪儿|谁|几点|多少|对不对|对吗|可否|能否|怎样|如何",
    ),
    (Term::Be, "is|are|am|是|就是|设为|设置为|设定为"),
    (Term::Was, "was|were|did|had"),
    // What follows is the new value of what stands before.
    (
        Term::Change,
        "changed to|changes to|changed into|switched to|updated to|became|becomes|become|改成|改为|\
         换成|变成|变为|更新为|调整为|更改为|修改为|换为|改用|切换到|切换为|set to|renamed to|\
         raised to|increased to|reduced to|lowered to",
    ),
    (
        Term::Move,
        "moved to|moves to|rescheduled to|postponed to|shifted to|relocated to|pushed to|改到|推迟到|\
         提前到|挪到|移到|调到|延期到|换到|调整到",
    ),
    (Term::MoveHome, "搬到|搬去|搬到了|搬去了|移居|搬家到|搬进"),
    // Verbs with one object at a time; a second one replaces the first.
    (
        Term::Single(LIVE),
        "live in|lives in|living in|reside in|resides in|住在|居住在|居住于|定居|定居在|定居于",
    ),
    (
        Term::Single(WORK),
        "work at|works at|working at|work for|works for|working for|employed at|employed by|就职于|\
         任职于|供职于",
    ),
    (Term::Single(2), "work as|works as|working as"),
    (Term::Single(3), "born in|born on|出生于|出生在|生于"),
    (Term::Single(CALLED), "am called|is called|are called|am named|is named|叫|名叫|叫做"),
    (Term::Single(5), "married to"),
    (Term::Single(6), "study at|studies at|studying at|就读于"),
    (Term::Single(7), "cost|costs|售价"),
    (Term::Single(8), "weigh|weighs|体重"),
    (Term::Single(9), "report to|reports to"),
];

/// Words of which only one of two can hold.
const OPPOSITES: &[(&str, &str)] = &[
    ("allowed|permitted|acceptable", "forbidden|prohibited|banned|disallowed|unacceptable|off limits"),
    ("allow|allows|permit|permits", "forbid|forbids|prohibit|prohibits|ban|bans|disallow|disallows"),
    ("enabled", "disabled"),
    ("enable|enables|启用|开启", "disable|disables|禁用|停用"),
    ("available", "unavailable"),
    ("possible", "impossible"),
    ("legal|合法", "illegal|非法|违法"),
    ("valid|有效", "invalid|无效"),
    ("supported", "unsupported"),
    ("safe", "unsafe"),
    ("correct|正确", "incorrect|错误"),
    ("true", "false"),
    ("accept|accepts|accepted|接受", "reject|rejects|rejected|拒绝"),
    ("include|includes|included|包含|包括", "exclude|excludes|excluded|不含|排除"),
    ("agree|agrees|同意|赞成", "disagree|disagrees|反对|不同意"),
    ("trust|trusts", "distrust|distrusts"),
    ("过敏", "不过敏"),
    (
        "required|needed|necessary|mandatory|compulsory|obligatory|必填|必选|必修",
        "optional|unnecessary|voluntary|选填|可选|选修",
    ),
];
/// The last pair of `OPPOSITES`: before a noun it tells which one is meant.
pub(super) const REQUIRED: u8 = 17;

/// Nouns that name the one person in a part; only a name is a value of them.
const ROLES: &str = "boss|manager|doctor|dentist|wife|husband|spouse|landlord|ceo|president|owner";

/// They judge a thing and are no value of it, so that two of them both hold.
pub(super) const JUDGING: &[&str] = &[
    "nice",
    "good",
    "bad",
    "hard",
    "easy",
    "boring",
    "great",
    "fine",
    "ugly",
    "tight",
    "kind",
    "late",
    "important",
    "wrong",
    "right",
    "unknown",
    "beautiful",
    "fun",
    "useful",
    "long",
    "short",
    "interesting",
    "好看",
    "重要",
    "漂亮",
];

/// With these a Chinese request goes on; before a person 请 invites instead.
pub(super) const REQUESTED: &str = "用使把将在保检改加删写发查回按先尽注确避不别务记勿给停禁";

/// Before these "like" compares and is no sentiment.
pub(super) const COMPARING: &[&str] = &[
    "look",
    "looks",
    "looked",
    "sound",
    "sounds",
    "feel",
    "feels",
    "seem",
    "seems",
    "taste",
    "tastes",
    "smell",
    "smells",
    "is",
    "are",
    "am",
    "was",
    "were",
    "be",
    "something",
    "just",
    "more",
    "much",
    "act",
    "acts",
    "works",
    "things",
];

/// One word in two spellings or two registers; nothing here changes the meaning.
const SPELLINGS: &str = "colour=color|colours=colors|favourite=favorite|favourites=favorites|grey=gray|centre=center|\
     behaviour=behavior|licence=license|programme=program|utilize=use|utilise=use|utilizes=use|\
     utilises=use|am=is|has=have|您=你|organise=organize|e-mail=email|e-mails=emails|喜爱=喜欢";

/// Verbs whose "-s" only follows the person: "I prefer" against "the user prefers". It is
/// a closed list since the "-s" of a noun counts things.
const VERBS: &str = "uses|prefers|likes|loves|hates|wants|needs|lives|works|dislikes|enjoys|owns|knows|speaks|drinks|\
     eats|drives|plays|avoids|detests|adores";

/// Nouns that name an attribute: of such a thing there is one value at a time.
const ATTRIBUTES: &str = "color|name|surname|nickname|address|password|port|version|size|deadline|budget|price|language|\
     timezone|zone|birthday|number|phone|email|status|theme|limit|timeout|height|weight|age|title|\
     role|location|capital|date|time|host|url|username|editor|database|currency|temperature|level|\
     mode|format|salary|rent|speed|headquarters|major|hometown|branch|region|tone|default|favorite|\
     quota|priority";

/// Chinese nouns of the same kind, found at the end of the subject.
const CHINESE_ATTRIBUTES: &str = "颜色|名字|姓名|昵称|地址|密码|端口|版本|尺寸|大小|截止日期|截止时间|预算|价格|语言|时区|生日|\
     号码|电话|手机号|邮箱|状态|主题|上限|超时|身高|体重|年龄|职位|职务|工作|职业|位置|首都|日期|\
     时间|主机|网址|用户名|编辑器|数据库|老板|经理|医生|妻子|丈夫|老婆|老公|房东|货币|温度|级别|模式|\
     格式|工资|房租|速度|总部|专业|家乡|分支|风格|语气|默认值|负责人|车牌";

/// They make one thing out of many: "my favourite dish".
const SINGLING: &str = "favorite|preferred|default|current|primary|main";
const CHINESE_SINGLING: &[&str] = &["最喜欢的", "最爱的", "最讨厌的", "默认", "当前", "首选"];

/// Of a thing that has one of these as a value it has one only.
const COLORS: &str = "red|green|blue|yellow|black|white|gray|brown|purple|pink|orange|turquoise|teal|navy|cyan|magenta|beige|gold|silver|maroon|olive|indigo|violet|红|绿|蓝|黄|黑|\
     白|灰|紫|橙|粉|棕|红色|绿色|蓝色|黄色|黑色|白色|灰色|紫色|橙色|粉色|粉红色|棕色";

/// Words of the calendar. "May" and "March" count only with a capital or beside a number.
const CALENDAR: &str = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|\
     july|august|september|october|november|december|noon|midnight|jan|feb|mar|apr|jun|jul|aug|sep|\
     sept|oct|nov|dec|am|pm|today|tomorrow|yesterday|tonight|morning|afternoon|evening|next week|\
     星期一|星期二|星期三|星期四|星期五|星期六|星期日|星期天|周一|周二|周三|周四|周五|周六|周日|下周|\
     上周|本周|今天|明天|昨天|后天|前天|上午|下午|晚上|早上|中午|年|月|日|号|点|点半";

/// Subjects that change their meaning from day to day.
pub(super) const RELATIVE_DAYS: &[&str] = &[
    "today",
    "tomorrow",
    "yesterday",
    "tonight",
    "今天",
    "明天",
    "昨天",
    "今晚",
    "后天",
    "前天",
    "本周",
    "上周",
    "下周",
];

/// They point back to something said before; on their own they name nothing.
pub(super) const POINTING: &[&str] = &[
    "it", "this", "that", "these", "those", "they", "there", "here", "它", "它们", "这", "那", "这个",
    "那个", "这里", "那里",
];

/// They stand before a place or a date and are no part of it.
pub(super) const PREPOSITIONS: &[&str] =
    &["in", "on", "at", "to", "by", "for", "from", "of", "with", "在", "于", "到", "从"];

/// Words that point to the speaker; "the user" is the same one, seen from the outside.
pub(super) const SELF: &[&str] = &["i", "my", "我"];

/// Chinese words that are read together but do nothing of their own.
const UNDIVIDED: &[&str] = &["用户", "以后", "大家", "更正", "更新", "修正", "纠正"];

/// Before a colon or a comma at the start of a text they announce a change.
pub(super) const LEAD_INS: &[&str] =
    &["correction", "update", "edit", "actually", "更正", "更新", "修正", "纠正"];

/// After these "avoid" states a stance; in "to avoid errors" it gives a purpose.
pub(super) const AVOIDING: &[&str] =
    &["i", "we", "you", "he", "she", "they", "user", "not", "never", "must", "should", "always"];

/// What need not be done: 不用 before one of these exempts, before a thing it says that the
/// thing is not used.
const EXEMPTED: &str = "预约|预订|预定|申请|登记|报名|注册|登录|报告|汇报|提交|提前|填写|填表|签字|签名|签到|盖章|\
     审批|排队|付费|付款|付钱|交钱|交费|缴费|买票|带|戴|穿|来|去|等|关|开|打开|关闭|打电话|打卡|洗|换|脱|写|\
     做|买|担心|着急|加班|上班|上课|出差|回复|回答|回来|通知|检查|确认|备份|重启|安装|更新|升级|下载|准备|解释|\
     翻译|浇水|倒垃圾|锁门|吃药|吃饭|出示|验证|输入|密码登录|体检|住院|开会|参加|自带|刷卡|扫码|消毒|充电";

/// Verbs with a complement that says they succeed; between the two 得 and 不 tell whether
/// they can.
const COMPLEMENTED: &str = "看见|听见|看到|听到|看清|听清|看懂|听懂|读懂|找到|买到|做到|拿到|收到|见到|够到|打开|推开|\
     拉开|解开|分开|走开|关上|连上|跟上|赶上|进去|出去|上去|下去|过去|进来|出来|回来|回去|记住|忍住|站住|\
     吃完|做完|写完|看完|修好|做好|写好|治好|睡着|买起|住起|付起|洗掉|删掉|关掉";

/// The helpers that turn a sentence into a question when they open it.
pub(super) const ASKING: &[&str] = &[
    "is", "are", "was", "were", "am", "does", "did", "can", "could", "should", "would", "has", "shall", "do",
    "have", "will", "may",
];
/// Of those, the ones that open a question only before a person or thing.
pub(super) const ASKING_BEFORE_PERSON: &[&str] = &["do", "have", "will", "may", "can"];
/// Question words, which ask when a helper follows.
pub(super) const ASKING_WORDS: &[&str] = &["what", "which", "who", "where", "why", "how", "when", "whose"];
/// The persons and things after which a helper was a question.
pub(super) const PERSONS: &[&str] = &[
    "i", "you", "we", "they", "he", "she", "it", "the", "my", "your", "our", "this", "that", "there", "a",
    "an", "any", "his", "her",
];

/// What is known of a word besides what it does.
#[derive(Clone, Copy, Default)]
struct Entry {
    term: Option<Term>,
    /// The common form of its spellings, and of the persons of a listed verb.
    canonical: Option<&'static str>,
    attribute: bool,
    role: bool,
    singling: bool,
    color: bool,
    calendar: bool,
}

/// Whether a word names an attribute.
pub(super) fn is_attribute(word: &str) -> bool {
    entry(word).attribute || word.strip_suffix('s').is_some_and(|word| entry(word).attribute)
}

pub(super) fn is_chinese_attribute(subject: &str) -> bool {
    CHINESE_ATTRIBUTES.split('|').any(|noun| subject.ends_with(noun))
        || CHINESE_SINGLING.iter().any(|word| subject.contains(word))
}

pub(super) fn is_role(word: &str) -> bool {
    entry(word).role
}

pub(super) fn singles_out(word: &str) -> bool {
    entry(word).singling
}

pub(super) fn is_color(word: &str) -> bool {
    entry(word).color
}

pub(super) fn is_calendar(word: &str) -> bool {
    entry(word).calendar
}

/// The common form of a word's spellings, and of a listed verb's persons.
pub(super) fn canonical(word: &str) -> &str {
    entry(word).canonical.unwrap_or(word)
}

/// What a word or a phrase of words in lower case does, if it is listed.
pub(super) fn term(phrase: &str) -> Option<Term> {
    entry(phrase).term
}

/// Whether characters belong together as one Chinese word of these lists.
pub(super) fn is_chinese_word(word: &str) -> bool {
    table().contains_key(word)
}

/// Whether what follows 不用 is something to do.
pub(super) fn is_exempted(following: &str) -> bool {
    EXEMPTED.split('|').any(|verb| following.starts_with(verb))
}

/// Whether the two characters are a verb and its complement.
pub(super) fn is_complemented(verb: &str, complement: &str) -> bool {
    COMPLEMENTED.split('|').any(|word| word.strip_prefix(verb) == Some(complement))
}

fn entry(word: &str) -> Entry {
    table().get(word).copied().unwrap_or_default()
}

fn table() -> &'static HashMap<&'static str, Entry> {
    static TABLE: OnceLock<HashMap<&'static str, Entry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<&'static str, Entry> = HashMap::new();
        let mut put = |words: &'static str, set: &dyn Fn(&mut Entry)| {
            words.split('|').for_each(|word| set(table.entry(word).or_default()));
        };
        // The first list that holds a word decides what it does.
        for (term, words) in LISTS {
            put(words, &|entry| entry.term = entry.term.or(Some(*term)));
        }
        for (index, (positive, negative)) in (0u8..).zip(OPPOSITES) {
            put(positive, &|entry| entry.term = entry.term.or(Some(Term::Pair(index, true))));
            put(negative, &|entry| entry.term = entry.term.or(Some(Term::Pair(index, false))));
        }
        put(ATTRIBUTES, &|entry| entry.attribute = true);
        put(ROLES, &|entry| entry.role = true);
        put(SINGLING, &|entry| entry.singling = true);
        put(COLORS, &|entry| entry.color = true);
        put(CALENDAR, &|entry| entry.calendar = true);
        for word in RELATIVE_DAYS.iter().chain(POINTING).chain(UNDIVIDED) {
            put(word, &|_| ());
        }
        for (other, form) in SPELLINGS.split('|').filter_map(|pair| pair.split_once('=')) {
            put(other, &|entry| entry.canonical = Some(form));
        }
        for (form, verb) in
            VERBS.split('|').filter_map(|form| form.strip_suffix('s').map(|verb| (form, verb)))
        {
            put(form, &|entry| entry.canonical = Some(verb));
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_CHINESE, table};

    #[test]
    fn the_longest_chinese_entry_is_within_the_bound() {
        let longest = table().keys().filter(|word| !word.is_ascii()).map(|word| word.chars().count()).max();
        assert_eq!(longest, Some(LONGEST_CHINESE));
        assert!(table().keys().all(|word| !word.is_empty() && word.trim() == *word));
    }
}
