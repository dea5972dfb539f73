use crate::graph::{Statement, referents, statements};

/// A text, and what it states: `alias=name`, `from>relation>to`, `entity.attribute:value`.
const TABLE: &str = "
My sister Anna is here | user's sister=Anna
my sister's name is Anna | user's sister=Anna
My boss, Mr Lee, is strict | user's boss=Mr Lee
My dog is called Rex | user's dog=Rex
My cat is named Milo | user's cat=Milo
Rex is our dog | user's dog=Rex
Anna is my sister | user's sister=Anna
Tom is Anna's brother | Anna's brother=Tom
My best friend is Zoe | user's best friend=Zoe
My older brother Tim lives in Berlin | user's brother=Tim ; Tim>lives in>Berlin
Tom's wife Julia works at Google | Tom's wife=Julia ; Julia>works at>Google
My mother-in-law Carol | user's mother-in-law=Carol
I live in Paris | user>lives in>Paris
I work at Acme Corp | user>works at>Acme Corp
I'm currently working for Microsoft | user>works at>Microsoft
Anna works at Stanford University | Anna>works at>Stanford University
Anna is married to Tom | Anna>married to>Tom
Tom married Julia | Tom>married to>Julia
I'm friends with Zoe | user>friend of>Zoe
Zoe is a friend of Tom | Zoe>friend of>Tom
Tom is a member of the chess club | Tom>member of>chess club
My sister lives in Rome | user's sister>lives in>Rome
Tom owns a bakery | Tom>owns>bakery
My birthday is May 5 | user.birthday:May 5
Anna's birthday is on May 5 | Anna.birthday:May 5
My favourite colour is blue | user.favourite colour:blue
My favorite food is pizza, of course | user.favourite food:pizza
I am 34 years old | user.age:34
I'm 34 | user.age:34
I work as a nurse | user.job:nurse
I'm a software engineer | user.job:software engineer
Tom is a teacher | Tom.job:teacher
I'm from Spain | user.home town:Spain
I was born in Vienna | user.home town:Vienna
I was born on 3 May 1990 | user.birthday:3 May 1990
My phone number is 555-1234 | user.phone:555-1234
My email is anna@example.com | user.email:anna@example.com
My hometown is Lyon | user.home town:Lyon
I grew up in Boston | user.home town:Boston
Where does my sister Anna live? |
Is Anna my sister? |
I do not live in Paris |
I used to work at Google |
I like tea |
My sister is French |
My boss is angry |
He lives in Paris |
It costs 34 |
The weather is nice |
我妹妹安娜来了 | user's sister=安娜
我妹妹叫安娜 | user's sister=安娜
我老板是李总 | user's boss=李总
我的狗叫旺财 | user's dog=旺财
我的猫叫Milo | user's cat=Milo
我女儿的名字叫王小雨 | user's daughter=王小雨
安娜是我妹妹 | user's sister=安娜
汤姆的妹妹叫露西 | 汤姆's sister=露西
我老公叫张伟 | user's husband=张伟
我同事李明住在上海 | user's colleague=李明 ; 李明>lives in>上海
我住在杭州 | user>lives in>杭州
我现在住在北京 | user>lives in>北京
我在腾讯工作 | user>works at>腾讯
我在腾讯公司上班 | user>works at>腾讯公司
我就职于阿里巴巴 | user>works at>阿里巴巴
汤姆在谷歌工作 | 汤姆>works at>谷歌
安娜嫁给了汤姆 | 安娜>married to>汤姆
安娜和汤姆结婚了 | 安娜>married to>汤姆
我和汤姆是朋友 | user>friend of>汤姆
我妹妹住在罗马 | user's sister>lives in>罗马
我的生日是5月3日 | user.birthday:5月3日
安娜的生日是五月三日 | 安娜.birthday:五月三日
我最喜欢的颜色是蓝色 | user.favourite colour:蓝色
我最喜欢的电影是《三体》 | user.favourite film:《三体》
我今年34岁 | user.age:34
我儿子五岁了 | user's son.age:五
我是一名医生 | user.job:医生
我是程序员 | user.job:程序员
汤姆是老师 | 汤姆.job:老师
我来自西班牙 | user.home town:西班牙
我是上海人 | user.home town:上海
我的电话是13812345678 | user.phone:13812345678
我的邮箱是anna@example.com | user.email:anna@example.com
我老家在成都 | user.home town:成都
我叫李明 | user.name:李明
我妹妹住在哪里？ |
安娜是我妹妹吗？ |
我不住在巴黎 |
我喜欢喝茶 |
我老板很生气 |
他住在巴黎 |
今天天气很好 |
我妹妹是法国人 | user's sister.home town:法国
我和同事去吃饭 |
我想去北京 |
这是一家公司 |
我在家 |
";

/// A question, and the chains in it.
const CHAINS: &str = "
Where does my sister live? | Mia>sister
Who is Tom's sister? | Tom>sister
What is my sister's boss called? | Mia>sister>boss
Tom's wife's dog | Tom>wife>dog
my best friend's car | Mia>best friend>car
When is my older brother's birthday? | Mia>brother
Is my mother-in-law coming? | Mia>mother-in-law
the sister of Tom | Tom>sister
my boss and my dog | Mia>boss ; Mia>dog
my kids' school? | Mia>child
our cat | Mia>cat
my new puppy | Mia>dog
Anna's mum | Anna>mother
my dad's hometown | Mia>father>hometown
my roommate | Mia>roommate
Anna Smith's colleague | Anna Smith>colleague
his sister |
your boss |
the dog |
my tea |
Tom's tea |
Where is Tom? |
我妹妹住在哪里？ | Mia>sister
汤姆的妹妹是谁？ | 汤姆>sister
我老板的儿子 | Mia>boss>son
我的狗几岁？ | Mia>dog
我妈妈的生日 | Mia>mother
我最好的朋友 | Mia>best friend
安娜的老公的公司 | 安娜>husband>company
我和我弟弟 | Mia>brother
我女朋友的生日是哪天？ | Mia>girlfriend
我同事的猫 | Mia>colleague>cat
王老师的学生 | 王老师>student
我爷爷 | Mia>grandfather
我岳母喜欢什么？ | Mia>mother-in-law
我外婆家在哪？ | Mia>grandmother
Tom的妹妹 | Tom>sister
我室友叫什么？ | Mia>roommate
他妹妹 |
你老板 |
狗几岁？ |
我的茶 |
汤姆的茶 |
汤姆在哪？ |
";

fn shown(statement: &Statement) -> String {
    match statement {
        Statement::Alias { alias, name } => format!("{alias}={name}"),
        Statement::Relation { from, relation, to } => format!("{from}>{relation}>{to}"),
        Statement::Attribute { entity, attribute, value } => format!("{entity}.{attribute}:{value}"),
    }
}

#[test]
fn texts_state_what_they_state() {
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.rsplit_once('|').expect("a line has two parts");
        let found = statements(text.trim(), None).iter().map(shown).collect::<Vec<_>>().join(" ; ");
        if found != wanted.trim() {
            wrong.push(format!("{text}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn questions_have_their_chains() {
    let mut wrong = Vec::new();
    for line in CHAINS.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.rsplit_once('|').expect("a line has two parts");
        let found: Vec<String> = referents(text.trim(), Some("Mia"))
            .iter()
            .map(|reference| format!("{}>{}", reference.owner, reference.relations.join(">")))
            .collect();
        if found.join(" ; ") != wanted.trim() {
            wrong.push(format!("{text}: {}", found.join(" ; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_speaker_stands_for_the_first_person() {
    let found = statements("My sister Anna lives in Rome. I live in Bern.", Some("Mia"));
    let found: Vec<String> = found.iter().map(shown).collect();
    assert_eq!(found, ["Mia's sister=Anna", "Anna>lives in>Rome", "Mia>lives in>Bern"]);
}
