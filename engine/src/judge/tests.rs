//! Every rule of judgement, in both languages and both directions.

use super::{ANALYSIS_LIMIT, Relation, Stance, analyze, normalized_hash, relation, relation_to_previous};

const CHANGED: Relation = Relation::ValueChanged { explicit: false };
const EXPLICIT: Relation = Relation::ValueChanged { explicit: true };

fn judged(old: &str, new: &str) -> Relation {
    relation(&analyze(old), &analyze(new))
}

/// Checks pairs; those whose relation has no direction are checked both ways round.
fn check(expected: Relation, pairs: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (old, new) in pairs {
        let mut ways = vec![(old, new)];
        if !matches!(expected, Relation::ValueChanged { .. }) {
            ways.push((new, old));
        }
        for (old, new) in ways {
            let found = judged(old, new);
            if found != expected {
                wrong.push(format!("{old:?} → {new:?}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not {expected:?}:\n{}", wrong.join("\n"));
}

#[test]
fn the_same_text_in_another_form_is_identical() {
    check(
        Relation::Identical,
        &[
            ("Tea is ready", "tea is ready."),
            ("Tea is ready", "  Tea   is\nready!"),
            ("Ｔｅａ　１２", "tea 12"),
            ("caf\u{e9} opens", "cafe\u{301} opens"),
            ("我喜欢绿茶。", "我喜欢绿茶"),
            ("我用 Rust 写程序", "我用Rust写程序"),
            ("端口是８０８０", "端口是8080"),
            ("PLEASE USE THE BLUE DOOR", "please use the blue door"),
            ("I agree.", "i agree"),
        ],
    );
}

#[test]
fn padding_alone_leaves_the_statement_the_same() {
    check(
        Relation::Same,
        &[
            ("Use spaces for indentation", "Please use spaces for indentation"),
            ("Use spaces for indentation", "Use spaces for indentation, please."),
            ("Use pnpm for the frontend", "Do not forget to use pnpm for the frontend"),
            ("Use pnpm for the frontend", "Don't forget to use pnpm for the frontend!"),
            ("Use pnpm for the frontend", "Remember to use pnpm for the frontend"),
            ("Use pnpm for the frontend", "Please make sure to use pnpm for the frontend"),
            ("Use pnpm for frontend", "Use pnpm for the frontend"),
            ("Utilize pnpm for the frontend", "Use pnpm for the frontend"),
            ("I prefer short answers", "The user prefers short answers"),
            ("I prefer short answers", "User prefers short answers"),
            ("My birthday is 3 May", "The user's birthday is 3 May"),
            ("I play chess too.", "I play chess"),
            ("I also play chess", "I play chess"),
            ("I don't eat pork", "I do not eat pork"),
            ("You can't park here", "You cannot park here"),
            ("We use Rust. We avoid Java.", "Please, we use Rust. We avoid Java."),
            ("The colour is blue", "The color is blue"),
            ("Do NOT touch the wire", "do not touch the wire"),
            ("用空格缩进", "请用空格缩进"),
            ("用空格缩进", "别忘了用空格缩进"),
            ("用空格缩进", "不要忘记用空格缩进"),
            ("用空格缩进", "请记得用空格缩进"),
            ("用空格缩进", "用空格缩进吧"),
            ("检查一下日志", "检查日志"),
            ("我喜欢绿茶", "用户喜欢绿茶"),
            ("我的生日是5月3日", "用户的生日是5月3日"),
        ],
    );
}

#[test]
fn the_opposite_stance_on_one_topic_is_opposite() {
    check(
        Relation::Opposite,
        &[
            ("Smoking is allowed", "Smoking is not allowed"),
            ("Smoking is allowed here", "Smoking is forbidden here"),
            ("Smoking is permitted", "Smoking is prohibited"),
            ("You can park here", "You cannot park here"),
            ("You can park here", "You must not park here"),
            ("You can park here", "You are not allowed to park here"),
            ("You are allowed to park here", "You can't park here"),
            ("Guests may bring dogs", "Guests must not bring dogs"),
            ("I love jazz", "I hate jazz"),
            ("I like jazz", "I don't like jazz"),
            ("Emails may be sent", "Emails may not be sent"),
            ("I'm vegetarian", "I'm not vegetarian anymore"),
            ("Smoking isn't forbidden", "Smoking is forbidden"),
            ("Version 1.2 is supported", "Version 1.2 is not supported"),
            ("I like jazz", "I dislike jazz"),
            ("I adore jazz", "I can't stand jazz"),
            ("I love jazz", "I do not love jazz anymore"),
            ("I really like jazz", "I hate jazz"),
            ("I like to swim", "I hate to swim"),
            ("I want sugar in my tea", "I don't want sugar in my tea"),
            ("Use tabs", "Don't use tabs"),
            ("Use tabs", "Never use tabs"),
            ("Always use tabs", "Never use tabs"),
            ("Please use tabs", "Please do not use tabs"),
            ("You must wear a helmet", "You must not wear a helmet"),
            ("You must wear a helmet", "You don't have to wear a helmet"),
            ("He works at Acme", "He no longer works at Acme"),
            ("She drives to work", "She doesn't drive to work any more"),
            ("Ben smokes", "Ben stopped smoking"),
            ("Ben smokes", "Ben does not smoke"),
            ("Ben worked on Sunday", "Ben did not work on Sunday"),
            ("The cache is enabled", "The cache is disabled"),
            ("Plan B is available", "Plan B is unavailable"),
            ("I have cats", "I have no cats"),
            ("I eat meat", "I do not eat any meat"),
            ("The colour is blue", "The colour is not blue"),
            ("Remember to use tabs", "Do not use tabs"),
            ("Don't forget to use tabs", "Don't use tabs"),
        ],
    );
}

#[test]
fn the_opposite_stance_in_chinese_is_opposite() {
    check(
        Relation::Opposite,
        &[
            ("这里可以吸烟", "这里不可以吸烟"),
            ("这里可以吸烟", "这里禁止吸烟"),
            ("这里允许吸烟", "这里不允许吸烟"),
            ("这里能停车", "这里不能停车"),
            ("这里可以停车", "这里不得停车"),
            ("要用红色", "不要用红色"),
            ("要用红色", "别用红色"),
            ("用红色", "别用红色"),
            ("用红色", "不要用红色"),
            ("请用红色", "请不要用红色"),
            ("你可以用红色", "你不可以用红色"),
            ("我喜欢爵士乐", "我讨厌爵士乐"),
            ("我喜欢爵士乐", "我不喜欢爵士乐"),
            ("我爱爵士乐", "我恨爵士乐"),
            ("我非常喜欢爵士乐", "我讨厌爵士乐"),
            ("必须戴头盔", "禁止戴头盔"),
            ("必须戴头盔", "不必戴头盔"),
            ("我有猫", "我没有猫"),
            ("他去北京了", "他没去北京"),
            ("我对花生过敏", "我对花生不过敏"),
            ("不要给我发邮件", "可以给我发邮件"),
            ("项目用Rust", "项目不用Rust了"),
            ("我会说法语", "我不会说法语"),
            ("我抽烟", "我不再抽烟"),
            ("我抽烟", "我现在不抽烟了"),
            ("我同意这个方案", "我不同意这个方案"),
            ("我同意这个方案", "我反对这个方案"),
            ("别忘了用红色", "别用红色"),
            ("我用茶包", "我不用茶包"),
            ("他是老师", "他不是老师"),
            ("停止使用旧接口", "使用旧接口"),
        ],
    );
}

#[test]
fn another_value_of_one_subject_is_a_changed_value() {
    check(
        CHANGED,
        &[
            ("The colour is blue", "The colour is red"),
            ("My favourite colour is blue", "My favourite colour is red"),
            ("My favourite colour is blue", "The user's favorite color is red"),
            ("Meeting is on Monday", "The meeting is on Tuesday"),
            ("The deadline for the report is 3 May", "The deadline for the report is 9 May"),
            ("The limit is 5", "The limit is 7"),
            ("The cat is black", "The cat is white"),
            ("I am 30 years old", "I am 31 years old"),
            ("I live in Berlin", "I live in Paris"),
            ("Anna works at Acme", "Anna works at Initech"),
            ("My name is Eva", "My name is Evelyn"),
            ("I was born in Rome", "I was born in Milan"),
            ("timeout = 30", "timeout = 60"),
            ("log_level=debug", "log_level=info"),
            ("Port: 8080", "Port: 9090"),
            ("My boss is Anna", "My boss is Ben"),
            ("颜色是蓝色", "颜色是红色"),
            ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是红色"),
            ("截止日期是5月3日", "截止日期是5月9日"),
            ("会议是星期一", "会议是星期二"),
            ("我住在北京", "我住在上海"),
            ("我在腾讯工作", "我在百度工作"),
            ("我叫小明", "我叫小红"),
            ("端口：8080", "端口：9090"),
            ("我的老板是张三", "我的老板是李四"),
        ],
    );
    check(
        EXPLICIT,
        &[
            ("The colour is blue", "The colour is now red"),
            ("The colour is blue", "Now the colour is red"),
            ("The colour is blue", "From now on, the colour is red"),
            ("The colour is blue", "Colour now red"),
            ("The colour is blue", "The colour has changed to red"),
            ("The colour is blue", "The colour was changed to red"),
            ("The colour is blue", "The colour changed from blue to red"),
            ("My address is 5 Elm Street", "I changed my address to 9 Oak Street"),
            ("Meeting is on Monday", "Meeting moved to Tuesday"),
            ("The meeting is on Monday", "The meeting moved from Monday to Tuesday"),
            ("The meeting is on Monday", "The meeting was rescheduled to Tuesday"),
            ("The office is in Berlin", "The office moved to Paris"),
            ("My phone number is 555-1234", "We changed my phone number to 555-9999"),
            ("I live in Berlin", "I moved to Paris"),
            ("I live in Berlin", "I now live in Paris"),
            ("I live in Berlin", "I moved from Berlin to Paris"),
            ("Anna works at Acme", "Anna now works at Initech"),
            ("My car is Tesla", "My car is now Volvo"),
            ("颜色是蓝色", "颜色现在是红色"),
            ("颜色是蓝色", "现在颜色是红色"),
            ("颜色是蓝色", "颜色改成红色"),
            ("颜色是蓝色", "颜色改成了红色"),
            ("颜色是蓝色", "颜色换成了红色"),
            ("颜色是蓝色", "把颜色改为红色"),
            ("颜色是蓝色", "颜色从蓝色改成红色"),
            ("我的邮箱是a@b.com", "我的邮箱改成了c@d.com"),
            ("会议是星期一", "会议改到星期二"),
            ("我住在北京", "我搬到上海了"),
            ("我住在北京", "我现在住在上海"),
        ],
    );
}

#[test]
fn look_alikes_are_different() {
    check(
        Relation::Different,
        &[
            ("chip A1603 needs 5 V", "chip A1605 needs 5 V"),
            ("chip A1603 needs 5 V", "chip A1603 needs 6 V"),
            ("chip A1603 is 5 V", "chip A1605 is 5 V"),
            ("5 May: 120/80", "6 May: 118/79"),
            ("On 5 May the pressure was 120", "On 6 May the pressure was 118"),
            ("The temperature is 20 on Monday", "The temperature is 25 on Tuesday"),
            ("Anna likes tea", "Hanna likes tea"),
            ("I like tea", "I like coffee"),
            ("I love tea", "I hate coffee"),
            ("red apples are cheap", "green apples are cheap"),
            ("I like red apples", "I like green apples"),
            ("Anna taught Ben", "Ben taught Anna"),
            ("Use spaces instead of tabs", "Use tabs instead of spaces"),
            ("I prefer tea to coffee", "I prefer coffee to tea"),
            ("My favourite colour is blue", "My colour printer is blue"),
            ("My favourite colour is blue", "My car's colour is red"),
            ("Anna is tall", "Anna is a doctor"),
            ("Anna is a doctor", "Anna is now a mother"),
            ("The office is noisy", "The office moved to Paris"),
            ("The deadline is Friday", "The deadline is tight"),
            ("The price is 7", "The price was 5"),
            ("Today the price is 7", "Today the price is 5"),
            ("TODO: buy milk", "TODO: buy eggs"),
            ("It is red", "It is blue"),
            ("I work at Acme", "I live in Berlin"),
            ("I worked at Acme", "I don't work at Acme"),
            ("I smoked", "I don't smoke"),
            ("I have a dog", "I have dogs"),
            ("Restart the server", "Restart the servers"),
            ("There are few reasons", "There are a few reasons"),
            ("Tea with sugar", "Tea without sugar"),
            ("Contact us", "Contact US"),
            ("C++ is fine", "C is fine"),
            ("I love tea", "I like tea"),
            ("I hate tea", "I don't like tea"),
            ("You must use A", "You can use A"),
            ("I can swim", "I don't swim"),
            ("I can swim", "I don't have to swim"),
            ("The police are strict", "The policy is not strict"),
            ("It looks like rain", "It does not look like snow"),
            ("The colour I love is blue", "The colour I hate is blue"),
            ("Anna's birthday is 3 May", "Ben's birthday is 4 May"),
            ("Version 1.2 is supported", "Version 1.3 is not supported"),
            ("I prefer dark mode", "I prefer light mode"),
            ("This colour is blue", "This colour is red"),
            ("I would like tea", "I wouldn't like tea"),
            ("Anna called Ben", "Anna called Eva"),
            ("The doctor is kind", "The doctor is late"),
            ("My boss is kind", "My boss is Anna"),
            ("The price is 7", "The price is nice"),
            ("I live in Berlin", "I live in fear"),
            ("I work for Acme", "I work for money"),
            ("Lunch costs 5 euros", "Lunch costs nerves"),
            ("She speaks kindly", "She speaks"),
            ("The tea is too hot", "The tea is hot"),
            ("No one came", "One came"),
            ("No 5 is open", "5 is open"),
            ("The bus stops at Rome", "The bus at Rome"),
        ],
    );
}

#[test]
fn look_alikes_in_chinese_are_different() {
    check(
        Relation::Different,
        &[
            ("芯片A1603需要5伏", "芯片A1605需要5伏"),
            ("5月3日血压120", "5月4日血压118"),
            ("5月3日：120/80", "5月4日：118/79"),
            ("张三教李四", "李四教张三"),
            ("我喜欢茶", "我喜欢咖啡"),
            ("我喜欢茶", "我讨厌咖啡"),
            ("红苹果便宜", "绿苹果便宜"),
            ("我最喜欢的颜色是蓝色", "我的彩色打印机是蓝色"),
            ("我最喜欢的颜色是蓝色", "我最讨厌的颜色是蓝色"),
            ("他是老师", "他是父亲"),
            ("今天天气是晴", "今天天气是雨"),
            ("他去北京", "他去了北京"),
            ("我们公司有三个人", "我们公司有五个人"),
            ("这个功能重要", "这个性能重要"),
            ("他是个别人", "他是个人"),
            ("价格不同", "价格同"),
            ("味道不错", "味道错"),
            ("不得不加班", "加班"),
            ("不得不加班", "不加班"),
            ("它是红色", "它是蓝色"),
            ("三点以后开会", "三点以后不开会吗"),
            ("去酒吧", "去酒"),
            ("请他吃饭", "他吃饭"),
            ("我申请假期", "我申假期"),
            ("妈妈叫我吃饭", "妈妈叫他吃饭"),
            ("不可能下雨", "可能下雨"),
            ("待办：买牛奶", "待办：买鸡蛋"),
        ],
    );
}

#[test]
fn scope_frequency_condition_and_question_keep_statements_apart() {
    check(
        Relation::Different,
        &[
            ("I drink tea", "I only drink tea"),
            ("I drink tea", "I sometimes drink tea"),
            ("I drink tea", "I drink tea on weekends"),
            ("I often drink tea", "I never drink tea"),
            ("I usually drink tea", "I rarely drink tea"),
            ("All tests pass", "Some tests pass"),
            ("All tests pass", "Not all tests pass"),
            ("Use tabs", "Use tabs except in YAML"),
            ("Do not use tabs", "Use tabs except in YAML"),
            ("Use tabs", "Do not only use tabs"),
            ("Use tabs", "Do not always use tabs"),
            ("I like tea", "I don't really like tea"),
            ("Smoking is allowed", "Is smoking allowed?"),
            ("Smoking is allowed", "Is smoking not allowed"),
            ("Smoking is not allowed", "Can I ask whether smoking is allowed?"),
            ("You can park here", "Can you park here?"),
            ("The colour is blue", "Is the colour red?"),
            ("The colour is blue", "The colour is red?"),
            ("The colour is blue", "What is the colour?"),
            ("If it rains, use the car", "If it snows, use the car"),
            ("If it rains, use the car", "Use the car"),
            ("If it is raining, use the car", "If it is not raining, use the car"),
            ("The colour is blue", "If you like, the colour is red"),
            ("The colour is blue", "The colour is only red on weekends"),
            ("I love jazz and hate rock", "I hate jazz and love rock"),
            ("I like it because it is not loud", "I like it because it is loud"),
            ("Use Rust. Use Go.", "Use Rust. Don't use Go."),
            ("The colour is blue. The size is 5.", "The colour is red. The size is 5."),
            ("The colour is blue", "The colour is red. The size is 5."),
            ("我喝茶", "我只喝茶"),
            ("我喝茶", "我有时喝茶"),
            ("我经常喝茶", "我不喝茶"),
            ("所有人都来", "有些人来"),
            ("除了周末都上班", "都上班"),
            ("我喜欢茶", "我不太喜欢茶"),
            ("这里可以吸烟", "这里可以吸烟吗"),
            ("这里可以吸烟", "这里可不可以吸烟"),
            ("这里不能吸烟", "这里能不能吸烟？"),
            ("这里可以吸烟", "这里可以吸烟？"),
            ("如果下雨就开车", "如果下雪就开车"),
            ("如果下雨就开车", "如果不下雨就开车"),
            ("颜色是蓝色", "颜色是什么"),
            ("颜色是蓝色", "颜色是不是红色"),
            ("不吃不喝", "吃喝"),
            ("颜色是蓝色。大小是5。", "颜色是红色。大小是5。"),
            ("不仅便宜", "便宜"),
        ],
    );
}

#[test]
fn a_negated_negation_affirms() {
    for text in [
        "Use tabs",
        "Do not forget to use tabs",
        "Don't forget to use tabs",
        "Remember to use tabs",
        "I can't help laughing",
        "Tea not without sugar",
        "Don't stop using tabs",
        "别忘了用红色",
        "不要忘记用红色",
        "记得用红色",
        "不得不加班",
        "不能不加班",
        "别人用红色",
        "区别很重要",
        "不锈钢的锅",
        "I love jazz",
        "我喜欢爵士乐",
        "not only cheap",
    ] {
        assert_eq!(analyze(text).stance(), Stance::Affirmed, "{text}");
    }
    for text in [
        "Don't use tabs",
        "Never model B",
        "No e-mail",
        "I hate jazz",
        "I don't want tea",
        "You can't park here",
        "He no longer works here",
        "Stop using tabs",
        "Smoking is forbidden",
        "别用红色",
        "不要用红色",
        "不能用红色",
        "禁止吸烟",
        "我讨厌爵士乐",
        "我不喜欢爵士乐",
        "不再用红色",
        "我没有猫",
        "I don't really like tea",
    ] {
        assert_eq!(analyze(text).stance(), Stance::Negated, "{text}");
    }
    for text in ["", "??", "的", "Is it allowed?", "I love jazz but I hate rock"] {
        assert_eq!(analyze(text).stance(), Stance::Neutral, "{text}");
    }
}

#[test]
fn change_markers_are_seen() {
    for text in [
        "It is now red",
        "He no longer works",
        "From now on use tabs",
        "Use tabs instead",
        "现在用红色",
        "改成红色",
        "换成红色",
        "不再用红色",
        "以后用红色",
        "Meeting moved to Friday",
    ] {
        assert!(analyze(text).changed(), "{text}");
    }
    for text in ["It is red", "I know", "用红色", "三点以后开会", "Avoid using tabs", "现在时"] {
        assert!(!analyze(text).changed(), "{text}");
    }
}

#[test]
fn topics_leave_out_stance_inflection_and_politeness() {
    let topics = |left: &str, right: &str| analyze(left).topic_hash() == analyze(right).topic_hash();
    assert!(topics("Please use tabs", "Never use the tabs"));
    assert!(topics("He uses tabs", "He is not using a tab"));
    assert!(topics("我喜欢茶", "我讨厌茶"));
    assert!(!topics("use tabs", "use spaces"));
    for text in ["", " ", "的", "??", "the", "not", "…"] {
        assert_eq!(analyze(text).topic_hash(), None, "{text:?}");
    }
}

#[test]
fn what_says_the_same_without_a_topic_is_found_by_its_hashes() {
    for (old, new) in [("不\r\r", "\r?不\r"), ("please", "Please remember:")] {
        let (old, new) = (analyze(old), analyze(new));
        if relation(&old, &new) != Relation::Different {
            let (ours, theirs) = (old.lookup_hashes(), new.lookup_hashes());
            assert!(ours.iter().flatten().any(|hash| theirs.contains(&Some(*hash))), "{ours:?} {theirs:?}");
        }
    }
    assert_eq!(judged("不\r\r", "\r?不\r"), Relation::Same);
}

#[test]
fn facts_are_collected() {
    let seen = analyze("Yesterday Anna Smith paid 12.50 for the v2.1 manual in New York on 3 May");
    let strings = |list: &[Box<str>]| list.iter().map(|item| item.to_string()).collect::<Vec<_>>();
    assert_eq!(strings(seen.names()), ["Anna Smith", "New York"]);
    assert_eq!(strings(seen.numbers()), ["12.50"]);
    assert_eq!(strings(seen.identifiers()), ["v2.1"]);
    assert_eq!(strings(seen.dates()), ["Yesterday", "3", "May"]);
    assert_eq!(strings(analyze("我读《三体》").names()), ["三体"]);
    assert_eq!(analyze("The colour is now red").value(), Some("red"));
    assert_eq!(analyze("颜色改成了红色").value(), Some("红色"));
}

#[test]
fn a_pointing_subject_is_resolved_only_on_request() {
    let follows = |old: &str, new: &str| relation_to_previous(&analyze(old), &analyze(new));
    assert!(analyze("Now it is red").refers_back());
    assert_eq!(judged("Colour is blue", "now it is red"), Relation::Different);
    assert_eq!(follows("Colour is blue", "now it is red"), EXPLICIT);
    assert_eq!(follows("The meeting is on Monday", "It moved to Tuesday"), EXPLICIT);
    assert_eq!(follows("颜色是蓝色", "现在它是红色"), EXPLICIT);
    assert_eq!(follows("Colour is blue", "now it is big"), Relation::Different);
    assert_eq!(follows("Colour is blue", "it is red"), Relation::Different);
    assert_eq!(follows("Smoking is allowed", "Smoking is not allowed"), Relation::Opposite);
}

#[test]
fn the_normalised_hash_keeps_what_distinguishes() {
    for (left, right) in [
        ("C++", "C"),
        ("a*b", "ab"),
        ("fooBar", "foobar"),
        ("A1603", "a1603"),
        ("a.B", "a.b"),
        ("10⁵ cells", "105 cells"),
        ("5 M", "5 m"),
        ("5 GB", "5 Gb"),
        ("US", "us"),
        ("is it red?", "is it red"),
        ("use tabs", "do not use tabs"),
        ("1 2", "12"),
        ("a, b", "a b"),
        ("..", "."),
        ("cd ..", "cd"),
        ("5!", "5"),
        ("", "?"),
        ("我 不", "我"),
        ("\u{1f600}", "\u{1f601}"),
    ] {
        assert_ne!(normalized_hash(left), normalized_hash(right), "{left} / {right}");
    }
}

#[test]
fn a_long_text_is_compared_for_identity_only() {
    let long = "Smoking is allowed. ".repeat(ANALYSIS_LIMIT / 16);
    assert_eq!(judged(&long, &long.to_uppercase().to_lowercase()), Relation::Identical);
    assert_eq!(judged(&long, &format!("please {long}")), Relation::Different);
    assert_eq!(analyze(&long).sentences(), 0);
}

#[test]
fn the_answer_is_the_same_on_every_thread() {
    let texts =
        ["I wouldn't like tea", "颜色改成了红色", "Don't forget to use tabs", "The meeting moved to Tuesday"];
    let seen = || texts.map(|text| format!("{:?}", analyze(text)));
    let expected = seen();
    std::thread::scope(|scope| {
        for thread in [(); 4].map(|()| scope.spawn(seen)) {
            assert_eq!(thread.join().ok().as_ref(), Some(&expected));
        }
    });
}

#[test]
fn needing_it_and_being_free_of_it_are_opposite() {
    check(
        Relation::Opposite,
        &[
            ("这个账号需要验证", "这个账号不需要验证"),
            ("体检需要空腹", "体检无需空腹"),
            ("体检需要空腹", "体检无须空腹"),
            ("理发需要预约", "理发不用预约"),
            ("理发需要预约", "理发用不着预约"),
            ("入住需要护照", "入住不需要护照"),
            ("退货需要提前登记", "退货不需要提前登记"),
            ("他需要拐杖", "他不需要拐杖"),
            ("我需要眼镜", "我不再需要眼镜"),
            ("应该先断电", "不应该先断电"),
            ("应当通知房东", "不应当通知房东"),
            ("必须打领带", "不必打领带"),
            ("不得不搬家", "不必搬家"),
            ("你必须穿雨衣", "你不必穿雨衣"),
            ("你需要穿雨衣", "你不用穿雨衣"),
            ("必须穿雨衣", "不需要穿雨衣"),
            ("记得锁门", "不用锁门"),
            ("别忘了锁门", "不必锁门"),
            ("能听见钟声", "听不见钟声"),
            ("这里看得见海", "这里看不见海"),
            ("窗户打得开", "窗户打不开"),
            ("我找得到钥匙", "我找不到钥匙"),
            ("我能看懂乐谱", "我看不懂乐谱"),
            ("我爱吃香菜", "我讨厌香菜"),
            ("我爱吃香菜", "我不爱吃香菜"),
            ("我喜欢吃香菜", "我讨厌吃香菜"),
            ("我爱吃芹菜", "我恨吃芹菜"),
            ("我酷爱喝豆汁", "我受不了喝豆汁"),
            ("我爱吃醋", "我讨厌吃醋"),
            ("邮箱是必填的", "邮箱是选填的"),
            ("You need to wear gloves", "No need to wear gloves"),
        ],
    );
}

#[test]
fn taking_and_leaving_a_thing_are_opposite() {
    check(
        Relation::Opposite,
        &[
            ("I prefer oat milk", "I dislike oat milk"),
            ("I prefer window seats", "I avoid window seats"),
            ("I prefer oat milk", "I don't prefer oat milk"),
            ("I am a fan of opera", "I detest opera"),
            ("I'm a big fan of opera", "I am not a fan of opera"),
            ("I prefer to fly", "I prefer not to fly"),
            ("Use semicolons", "Avoid semicolons"),
            ("Always use semicolons", "Avoid semicolons"),
            ("You can use semicolons", "Avoid semicolons"),
            ("I use plastic bags", "I avoid plastic bags"),
            ("Avoid semicolons", "Don't avoid semicolons"),
            ("A deposit is required", "A deposit is optional"),
            ("A deposit is required", "A deposit is not required"),
            ("The form is mandatory", "The form is now optional"),
            ("We have firewood", "We are out of firewood"),
            ("I enjoy camping", "I can't stand camping"),
        ],
    );
}

#[test]
fn what_only_looks_like_a_denial_is_different() {
    check(
        Relation::Different,
        &[
            ("不用谢", "谢"),
            ("不用谢我", "需要谢我"),
            ("不得不搬家", "必须搬家"),
            ("盐不可或缺", "盐或缺"),
            ("需要的话锁门", "不需要锁门"),
            ("需要的材料在桌上", "不需要材料在桌上"),
            ("根据需要加盐", "根据不需要加盐"),
            ("我需要睡觉", "我不能睡觉"),
            ("我锁门", "我不用锁门"),
            ("可以锁门", "不用锁门"),
            ("需要护照", "不需要签证"),
            ("需要不需要护照", "不需要护照"),
            ("用不着的东西很多", "必须的东西很多"),
            ("我喜欢鱼", "我不喜欢吃鱼"),
            ("我喜欢鱼", "我讨厌吃鱼"),
            ("我爱吃汤圆", "我讨厌喝汤圆"),
            ("我爱吃醋", "我讨厌醋"),
            ("他看不起人", "他看得见人"),
            ("找不到工作", "没找到工作"),
            ("听不见", "看得见"),
            ("我想打开心结", "我打不开心结"),
            ("I like oat milk", "I don't prefer oat milk"),
            ("I like to fly", "I prefer not to fly"),
            ("I like crisps", "I avoid crisps"),
            ("I use tabs", "I hate tabs"),
            ("I like tabs", "I don't use tabs"),
            ("Use up the milk", "Avoid the milk"),
            ("Use up the milk", "Don't use the milk"),
            ("Use gloves to avoid burns", "Use gloves"),
            ("No need to hurry", "You must wear gloves"),
            ("No need to hurry", "Hurry"),
            ("The required field is empty", "The optional field is empty"),
            ("The lift is out of order", "The lift has power"),
            ("Take it out of the box", "Take it, have the box"),
            ("I bought a fan of steel", "I hate steel"),
            ("I prefer tea to milk", "I dislike tea"),
        ],
    );
    assert_eq!(analyze("Use gloves to avoid burns").stance(), Stance::Affirmed);
    assert_eq!(analyze("不用谢").stance(), Stance::Affirmed);
    assert_eq!(analyze("不得不搬家").stance(), Stance::Affirmed);
}

#[test]
fn a_correction_is_an_explicit_change() {
    check(
        EXPLICIT,
        &[
            ("My hat size is 56", "Correction: my hat size is 57"),
            ("My hat size is 56", "Update: my hat size is 57"),
            ("My hat size is 56", "Actually, my hat size is 57"),
            ("My hat size is 56", "Actually my hat size is 57"),
            ("My default port is 80", "It's 81 now, my default port"),
            ("端口是80", "更正：端口是81"),
            ("端口是80", "更新：端口是81"),
            ("The vet is on Monday", "The vet moved to Thursday"),
            ("The doctor is on Monday", "The doctor moved to Thursday"),
            ("展览在二楼", "展览改到四楼了"),
            ("展览在周二", "展览改到周四了"),
            ("聚餐在礼堂", "聚餐改到食堂了"),
        ],
    );
    check(
        Relation::Different,
        &[
            ("My hat size is 56", "Correction: my hat size is 56"),
            ("My hat size is 56", "Update: my coat size is 57"),
            ("Correction: 56 is odd", "Update: 57 is odd"),
            ("My default port is 80", "It is 81 now, not my default port"),
            ("My default port is 80", "It is 81 now, my coat size"),
            ("My default port is 80", "It is late now, and my default port is open"),
            ("The doctor is on Monday", "The doctor is on Thursday"),
            ("展览在二楼", "展览在四楼"),
            ("他在三班", "他在吃饭"),
            ("展览在二楼", "开幕式改到四楼了"),
        ],
    );
    let follows = |old: &str, new: &str| relation_to_previous(&analyze(old), &analyze(new));
    assert_eq!(follows("窗帘是黑色的", "现在是黄色的"), EXPLICIT);
    assert_eq!(follows("窗帘是黑色的", "是黄色的"), Relation::Different);
    assert_eq!(follows("窗帘是黑色的", "现在是冬天"), Relation::Different);
    assert_eq!(judged("窗帘是黑色的", "现在是黄色的"), Relation::Different);
}

#[test]
fn what_takes_back_what_was_said_corrects_it() {
    check(
        EXPLICIT,
        &[
            ("My boss is Carl", "My boss is now Dora, not Carl"),
            ("My boss is Carl", "My boss is Dora, not Carl"),
            ("My boss is Carl", "No, my boss is Dora"),
            ("My boss is Carl", "Sorry, no, my boss is Dora."),
            ("My boss is Carl", "Scratch that, my boss is Dora"),
            ("The deadline is Friday", "Wrong. The deadline is Monday."),
            ("The deadline is Friday", "That's not right, the deadline is Monday"),
            ("The deadline is Friday", "The deadline is Monday instead of Friday"),
            ("My favourite colour is blue", "My favourite colour is green rather than blue"),
            ("I live in Lisbon", "I live in Porto, not in Lisbon"),
            ("我的老板是小李", "不对，我的老板是小王"),
            ("我的老板是小李", "我的老板是小王，不是小李"),
            ("我的老板是小李", "我说错了，我的老板是小王"),
            ("密码是1234", "密码是5678，而不是1234"),
            ("截止日期是周五", "抱歉，搞错了，截止日期是周一"),
            ("展览在二楼", "不对，展览在四楼"),
        ],
    );
    check(
        Relation::Different,
        &[
            // Another thing is corrected.
            ("My boss is Carl", "No, my dentist is Dora"),
            ("My boss is Carl", "No, I like tea"),
            ("My boss is Carl", "Sorry, my phone is dead"),
            ("我的老板是小李", "不，我喜欢喝茶"),
            // No correction of the same value.
            ("My boss is Dora", "My boss is Dora, not Carl"),
        ],
    );
    check(
        Relation::Opposite,
        &[("I like tea", "No, I don't like tea"), ("我喜欢喝茶", "不对，我不喜欢喝茶")],
    );
}

#[test]
fn a_correction_need_not_say_of_what() {
    let follows = |old: &str, new: &str| relation_to_previous(&analyze(old), &analyze(new));
    for (old, new) in [
        ("The meeting is on floor 3", "No, floor 4"),
        ("The meeting is on floor 3", "Sorry, I meant floor 4."),
        ("The meeting is on Monday", "No, Tuesday"),
        ("The meeting is on Monday", "No, it's on Tuesday"),
        ("The meeting is on Monday", "Correction: Tuesday"),
        ("My boss is Carl", "No, Dora"),
        ("My favourite colour is blue", "Wrong, green"),
        ("会议是周一", "不对，是周二"),
        ("会议在周一", "不对，是周二"),
        ("会议在周一", "我说错了，周二"),
        ("房租是3000元", "不是，是3500元"),
    ] {
        assert_eq!(follows(old, new), EXPLICIT, "{old:?} → {new:?}");
        assert_eq!(judged(old, new), Relation::Different, "{old:?} → {new:?}");
    }
    for (old, new) in [
        ("The meeting is on floor 3", "No, thanks"),
        ("The meeting is on floor 3", "No, Thanks"),
        ("The meeting is on floor 3", "No, I like tea"),
        ("The meeting is on floor 3", "No, room 12"),
        ("The meeting is on Monday", "No, Dora"),
        ("The meeting is on Monday", "Tuesday"),
        ("My hobby is chess", "No, I like tea"),
        ("My hobby is chess", "No, that is all"),
        ("会议在周一", "不，谢谢"),
        ("会议在周一", "不对，我喜欢喝茶"),
    ] {
        assert_eq!(follows(old, new), Relation::Different, "{old:?} → {new:?}");
    }
}
