use crate::graph::{Aim, Kinds, intent};

const TABLE: &str = "
good morning | none
hi | none
Hello! | none
hey there | none
thanks | none
Thank you so much! | none
ok great | none
ok | none
yes | none
lol | none
haha nice | none
Sounds good | none
See you tomorrow! | none
bye | none
How are you? | none
Hi Anna! | none
good night, sleep well | none
👍 | none
!!! | none
 | none
Great, thanks for your help! | none
no problem | none
That's awesome | none
Translate this to French: I like tea | none
Please summarize the following text: The cat sat. | none
Rewrite this sentence: he go home | none
Hi, what's my sister's name? | who
thanks, and where did I park? | !none
hello kitty is what? | !none
good morning, the server is down | !none
ok, book the flight | !none
Was it good | !none
today | !none
Anna | !none
is that right? | !none
good restaurants in Berlin | !none
Thanks to Anna we won | !none
Translate what I said yesterday | !none
translate my last note: which one? | !none
What happened at the meeting? | happened
What did we decide last week? | happened
Did Anna call yesterday? | happened
Where did I park? | happened
Who did I meet at the conference? | happened
What is the rule for expenses? | rule
What's our refund policy? | rule
Am I allowed to smoke here? | rule
Should I use tabs? | rule
What are the guidelines for commits? | rule
Who is Anna? | who
Who is my boss? | who
What is Kubernetes? | who
Tell me about Tom | who
What is Tom's phone number? | who
What's my dog called? | who
How do I restart the server? | how
How to make pancakes | how
What are the steps to deploy? | how
How is the release made? | how
When is Anna's birthday? | when
What time is dinner? | when
When did we move? | when
What year was it? | when
What is my favourite colour? | prefer
Which tea do I like? | prefer
Do I prefer tea or coffee? | prefer
What does Anna enjoy? | prefer
Where does Anna live? | find
the wifi password | find
How many dogs does Tom have? | find
deadline of project X | find
你好 | none
您好！ | none
早上好 | none
晚安 | none
谢谢 | none
谢谢你 | none
好的 | none
好的，谢谢！ | none
嗯嗯 | none
哈哈哈 | none
收到 | none
明白了 | none
再见 | none
辛苦了 | none
太好了 | none
没问题 | none
不客气 | none
在吗 | none
在吗？ | none
你好呀！ | none
恭喜恭喜 | none
生日快乐！ | none
知道了，谢谢 | none
把这句话翻译成英文：今天天气很好 | none
润色下面这段话：我很好 | none
hello kitty 是什么 | !none
你好，我妹妹叫什么？ | who
谢谢，我的车停在哪里？ | !none
早上好，服务器挂了 | !none
好的，帮我订机票 | !none
好吗 | !none
今天 | !none
安娜 | !none
好吃的餐厅 | !none
谢谢安娜帮我们赢了 | !none
会议上发生了什么？ | happened
我们上周决定了什么？ | happened
昨天安娜打电话了吗？ | happened
上次我去了哪里？ | happened
报销的规定是什么？ | rule
退款政策是什么？ | rule
这里允许抽烟吗？ | rule
我应该用空格吗？ | rule
可以带宠物吗？ | rule
提交代码的规范有哪些？ | rule
安娜是谁？ | who
谁是我的老板？ | who
我的狗叫什么？ | who
汤姆的电话是什么？ | who
汤姆是做什么工作的？ | who
怎么重启服务器？ | how
如何做蛋糕？ | how
部署的步骤是什么？ | how
怎样安装？ | how
安娜的生日是哪天？ | when
几点吃晚饭？ | when
我们什么时候搬家的？ | when
哪年结婚的？ | when
我最喜欢的颜色是什么？ | prefer
我喜欢喝什么茶？ | prefer
我喜欢茶还是咖啡？ | prefer
安娜讨厌什么？ | prefer
安娜住在哪里？ | find
无线密码 | find
汤姆有几只狗？ | find
";

#[test]
fn questions_have_their_aim() {
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| line.contains('|')) {
        let (text, wanted) = line.rsplit_once('|').expect("a line has two parts");
        let found = intent(text.trim());
        let wanted = wanted.trim();
        let right = match wanted.strip_prefix('!') {
            Some(other) => found.aim.name() != other,
            None => found.aim.name() == wanted,
        };
        if !right {
            wrong.push(format!("{text}: {found:?}"));
        }
        assert_eq!(found.kinds == Kinds::NONE, found.aim == Aim::None);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
