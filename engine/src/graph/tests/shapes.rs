use crate::graph::{Length, Ordering, content_shape, shape};

/// A question, what it wants, and other signs: list, first, last, than (comparison), often.
const QUESTIONS: &str = "
When was Anna born? | Time
What time is the flight? | Time
What year did we move? | Time
What date is the wedding? | Time
How long ago did I buy it? | Time
How long has Anna lived there? | Duration
How long did the trip take? | Duration
Where does my sister live? | Place
Which city did we visit? | Place
What country is she from? | Place
Who is my boss? | Person
Whose car is it? | Person
Which friend came along? | Person
How many dogs does he have? | Number
How much did I pay? | Number
How old is Tom? | Number
How often do I run? | Number often
How many times did we meet? | Number often
Why did she leave? | Reason
How come he quit? | Reason
What is the reason for the delay? | Reason
What made her move? | Reason
How do I restart the server? | Manner
How did she react? | Manner
What books has he read? | List list
Which movies did we watch? | List list
What are my hobbies? | List list
What kinds of food does she like? | List list
List all my appointments | List list
Tell me all the songs she likes | List list
Is Anna married? | YesNo
Does he have a car? | YesNo
Did she call when I was out? | YesNo
Can we meet on Monday? | YesNo
Do I prefer tea or coffee? | Choice
Which is better, tea or coffee? | Choice than
What did she say? | Thing
What is the wifi password? | Thing
What was the first book I read? | Thing first
When did I last see Tom? | Time last
What is the latest version? | Thing last
Is Tom taller than Anna? | YesNo than
Do you know where Anna lives? | Place
Tell me when the train leaves | Time
I had a nice day | -
Tom lives in Paris. | -
What's his last name? | Thing
And who else came? | Person
我什么时候出生的？ | Time
会议几点开始？ | Time
哪年搬的家？ | Time
他多久以前买的？ | Time
他住了多久？ | Duration
旅行用了几天？ | Duration
我妹妹住在哪里？ | Place
去了哪个城市？ | Place
他在哪儿工作？ | Place
谁是我的老板？ | Person
这是谁的车？ | Person
他有几个孩子？ | Number
一共多少钱？ | Number
我儿子多大了？ | Number
我多久一次跑步？ | Number often
她为什么离开？ | Reason
为啥不去？ | Reason
怎么重启服务器？ | Manner
如何做蛋糕？ | Manner
他读过哪些书？ | List list
我有哪些爱好？ | List list
看过哪几部电影？ | List list
列出所有的预约 | List list
安娜结婚了吗？ | YesNo
他有车吗？ | YesNo
你是不是喜欢茶？ | YesNo
能不能周一见？ | YesNo
我喜欢茶还是咖啡？ | Choice
她说了什么？ | Thing
密码是什么？ | Thing
第一次见面是什么时候？ | Time first
上次去哪里了？ | Place last
最新的版本是什么？ | Thing last
汤姆比安娜高吗？ | YesNo than
你知道安娜住在哪里吗？ | Place
告诉我火车什么时候开 | Time
今天天气很好 | -
汤姆住在巴黎。 | -
还有谁来了？ | Person
哪位医生？ | Person
我几岁？ | Number
离家多远？ | Number
什么原因？ | Reason
怎么去机场？ | Manner
我的生日是哪天？ | Time
他最近看了什么电影？ | Thing last
哪家餐厅好吃？ | Place
我去过什么地方？ | Place
";

const CONTENTS: &str = "
I paid $40 for lunch | money number first
It cost 30 euros | money number
We met yesterday | date first
The meeting is on Monday | date
On 2023-05-07 we moved | date number first
She was born in 1990 | date number
I lived there for three years | duration number first
It takes 20 minutes | duration number
Anna lives in Berlin | place person
We flew to Tokyo | place first
Where is it? | question
Did you go? | question
I like tea | first
Thanks! | talk
good morning | talk
ok great | talk
lol 😂 | talk
haha that's great | talk
Thank you so much for your help | talk
Hello Anna | talk
Hi, what's up? | talk question
Sounds good, see you tomorrow! | talk
The server is down |
Good morning, the server is down |
When I was young I played chess | first
What a lovely day |
My son turned 5 | number first
Dr. Lee called | person
Tom said hello | person
May I come in? | question first
She will arrive in March | date
They march on |
He has two dogs | number
Prices rose by 5% | number
Room 101 | number
I'm so happy for you | first
We visited the Grand Canyon | first place
I'll be there in two weeks | duration number first
See Mr Smith about it | person
The first of May |
我花了40元吃午饭 | money number first
一共三百块 | number money
昨天见面了 | date
周一开会 | date
2023年5月7日搬家 | date number
住了三年 | duration number
需要20分钟 | duration number
安娜住在柏林 | place person
我们飞到东京 | place first
在哪里？ | question
你去了吗 | question
我喜欢茶 | first
谢谢！ | talk
早上好 | talk
好的，谢谢 | talk
哈哈 | talk
辛苦了，再见 | talk
你好呀 | talk
嗯嗯好的 | talk
太好了！ | talk
晚安 | talk
没问题 | talk
服务器挂了 |
早上好，服务器挂了 |
我儿子五岁了 | first
王老师来了 | person
李医生说没事 | person
下周三体检 | date
他有两只狗 | number
价格涨了5% | number
我很开心 | first
两个月后见 | duration
三月去北京 | date place
小王请假了 | person
五一去三亚 | place
我妈妈叫李秀英 | person first
我去过巴黎 | place first
为什么不去 | question
花了3个小时 | duration number
今天 | date
半年没见 | duration
";

#[test]
fn questions_have_their_shape() {
    let mut wrong = Vec::new();
    for line in QUESTIONS.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.rsplit_once('|').expect("a line has two parts");
        let found = shape(text.trim());
        let mut signs = vec![found.wants.map_or("-".to_owned(), |wants| format!("{wants:?}"))];
        let mut sign = |on: bool, name: &str| signs.extend(on.then(|| name.to_owned()));
        sign(found.list, "list");
        sign(found.ordering == Some(Ordering::First), "first");
        sign(found.ordering == Some(Ordering::Last), "last");
        sign(found.comparison, "than");
        sign(found.frequency, "often");
        if signs.join(" ") != wanted.trim() {
            wrong.push(format!("{text}: {}", signs.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn contents_have_their_shape() {
    let mut wrong = Vec::new();
    for line in CONTENTS.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.rsplit_once('|').expect("a line has two parts");
        let found = content_shape(text.trim());
        // Figures and dates are checked where the table names them; the others both ways.
        for (on, name, both) in [
            (found.money, "money", true),
            (found.number, "number", false),
            (found.date, "date", false),
            (found.duration, "duration", true),
            (found.place, "place", true),
            (found.person, "person", false),
            (found.question, "question", true),
            (found.small_talk, "talk", true),
            (found.first_person, "first", false),
        ] {
            let asked = wanted.split_whitespace().any(|word| word == name);
            if on != asked && (both || asked) {
                wrong.push(format!("{text}: {name} {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lengths_are_classes() {
    assert_eq!(content_shape("").length, Length::Empty);
    assert_eq!(content_shape("I like tea").length, Length::Few);
    assert_eq!(content_shape("我喜欢喝茶").length, Length::Few);
    assert_eq!(content_shape(&"word ".repeat(15)).length, Length::Sentence);
    assert_eq!(content_shape(&"word ".repeat(60)).length, Length::Paragraph);
    assert_eq!(content_shape(&"中文".repeat(200)).length, Length::Long);
}
