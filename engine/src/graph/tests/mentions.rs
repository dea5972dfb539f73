use crate::graph::{Kind, Names, mentions};

/// A text, and its names with the first letter of their kinds.
const ENGLISH: &str = "
I met Anna yesterday | P:Anna
Anna Smith called | P:Anna Smith
We talked with Zorblax about it | P:Zorblax
Paris is lovely | L:Paris
She moved to New York | L:New York
They live in Xanadu now | L:Xanadu
He works at Google | O:Google
He works at Stanford University | O:Stanford University
Acme Corp shipped it | O:Acme Corp
University of Oxford | O:University of Oxford
Dr. Lee said no | P:Dr. Lee
I saw Mr Smith and Mrs Jones | P:Mr Smith P:Mrs Jones
Aunt Maria cooks | P:Aunt Maria
My sister Anna lives in Berlin | P:Anna L:Berlin
Yesterday was fun |
Monday works for me |
In March we go |
I speak French and German |
Thanks for everything |
Coffee is great |
Tom's dog is called Rex | P:Tom P:Rex
Order #48213 arrived | I:#48213
Ticket INC-90312 is open | I:INC-90312
The tracking number is SF1234567890 | I:SF1234567890
The A1603 chip is hot | I:A1603
It runs v2.3.1 | I:v2.3.1
I bought an iPhone 15 Pro | R:iPhone 15 Pro
The RTX 4090 is loud | R:RTX 4090
I run 5km at 10am on the 20th |
We need 1080p video |
I read \"The Hobbit\" twice | T:The Hobbit
She said \"I will not go there\" |
Mail anna@example.com | C:anna@example.com
See https://example.com/a?b=1. | C:https://example.com/a?b=1
We went to the Grand Canyon | L:Grand Canyon
Ludwig van Beethoven wrote it | P:Ludwig van Beethoven
J. K. Rowling wrote it | P:J. K. Rowling
Will you come? |
I told Will about it | P:Will
We met in Hyde Park | L:Hyde Park
PLEASE DO NOT SHOUT AT ME |
I love Jazz |
Caroline and Melanie talked | P:Caroline P:Melanie
Zoltan said hello | P:Zoltan
Interesting idea |
The Beatles are great |
My boss is Mr. Brown | P:Mr. Brown
Call 13812345678 | I:13812345678
turkey for dinner |
We flew to Turkey | L:Turkey
Nina's sister came | P:Nina
I use GitHub daily | R:GitHub
";

const CHINESE: &str = "
我妹妹安娜来了 | P:安娜
汤姆的妹妹 | P:汤姆
王老师来了 | P:王老师
李医生说没事 | P:李医生
张总在开会 | P:张总
小王请假了 | P:小王
老李退休了 | P:老李
阿强说好 | P:阿强
我叫李明 | P:李明
同事张伟负责这个 | P:张伟
我和王芳去吃饭 | P:王芳
李小红说她不来 | P:李小红
我的朋友叫陈静 | P:陈静
他是刘洋 | P:刘洋
欧阳娜娜是歌手 | P:欧阳娜娜
我住在杭州 | L:杭州
去杭州市出差 | L:杭州市
在南京路逛街 | L:南京路
住在文三路 |
我在腾讯工作 | O:腾讯
我在腾讯公司工作 | O:腾讯公司
毕业于北京大学 | O:北京大学
在北京协和医院看病 | O:北京协和医院
我们公司很大 |
这家公司不错 |
一家大公司 |
去医院看病 |
他在读大学 |
我读了《三体》 | T:三体
看了「霸王别姬」 | T:霸王别姬
他说“我不去了” |
买了华为Mate60 | R:华为Mate60
买了iPhone 15 Pro | R:iPhone 15 Pro
订单号SF1234567890 | I:SF1234567890
工单 INC-90312 处理了 | I:INC-90312
订单#48213 | I:#48213
邮箱是anna@example.com | C:anna@example.com
今天天气很好 |
周一开会 |
我喜欢高兴的事 |
马上就来 |
金额不对 |
白天很热 |
成都的火锅 | L:成都
他去过巴黎和东京 | L:巴黎 L:东京
和平很重要 |
小时候的事 |
老师说得对 |
万一下雨呢 |
黄金涨价了 |
我喜欢苹果 |
时间不够 |
请王师傅修车 | P:王师傅
跟赵敏说一下 | P:赵敏
昨天周杰说他病了 | P:周杰
高中同学聚会 |
温度很高 |
和小张一起 | P:小张
喝小米粥 |
";

fn check(table: &str) {
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.rsplit_once('|').expect("a line has two parts");
        let found: Vec<String> = mentions(text.trim(), &Names::new())
            .iter()
            .map(|mention| {
                let kind = match mention.kind {
                    Kind::Person => "P",
                    Kind::Organisation => "O",
                    Kind::Place => "L",
                    Kind::Product => "R",
                    Kind::Identifier => "I",
                    Kind::Title => "T",
                    Kind::Contact => "C",
                    Kind::Other => "X",
                };
                format!("{kind}:{}", mention.name)
            })
            .collect();
        if found.join(" ") != wanted.trim() {
            wrong.push(format!("{text}: {}", found.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english_names_are_found() {
    check(ENGLISH);
}

#[test]
fn chinese_names_are_found() {
    check(CHINESE);
}

#[test]
fn known_names_are_found_in_any_case_the_longest_first() {
    let names = Names::from_iter([
        ("Anna", Kind::Person),
        ("Anna Lee", Kind::Person),
        ("O'Neil", Kind::Person),
        ("赵小满", Kind::Person),
        ("小满", Kind::Other),
        ("project-x", Kind::Product),
        ("user-1", Kind::Person),
        ("a:b", Kind::Other),
        ("大", Kind::Other),
        ("Will", Kind::Person),
    ]);
    let found =
        |text: &str| mentions(text, &names).into_iter().map(|mention| mention.name).collect::<Vec<_>>();
    assert_eq!(found("ANNA LEE and anna"), ["Anna Lee", "Anna"]);
    assert_eq!(found("annabel or joanna"), Vec::<String>::new());
    assert_eq!(found("anna's, o’neil's"), ["Anna", "O'Neil"]);
    assert_eq!(found("我问赵小满和小满"), ["赵小满", "小满"]);
    assert_eq!(found("in PROJECT-X by user-1"), ["project-x", "user-1"]);
    assert_eq!(found("大的"), Vec::<String>::new());
    assert_eq!(found("will you"), Vec::<String>::new());
    assert_eq!(found("ask Will"), ["Will"]);
    assert_eq!(found("see a:b"), ["a:b"]);
    // A title that holds known names is one name; one that is a known name is that.
    assert_eq!(found("《小满日记》和小满"), ["小满日记", "小满"]);
    let quoted = mentions("《小满》", &names);
    assert_eq!((quoted[0].name.as_str(), quoted[0].kind, quoted.len()), ("小满", Kind::Other, 1));
}

#[test]
fn ten_thousand_names_with_one_beginning_cost_no_more_than_their_lengths() {
    let names: Names = (0..10_000).map(|number| (format!("User {number}"), Kind::Person)).collect();
    assert_eq!(names.len(), 10_000);
    let found = mentions("user 17 met User 9999 and user x", &names);
    assert_eq!(
        found.iter().map(|mention| mention.name.as_str()).collect::<Vec<_>>(),
        ["User 17", "User 9999"]
    );
}
