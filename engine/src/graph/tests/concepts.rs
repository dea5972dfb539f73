use crate::graph::{Concept, ConceptSet, asked, concepts};

/// A text, and concepts that it must have, or with `!` must not have.
const TEXTS: &str = "
I have been playing the violin for six years | instrument music
We adopted a puppy last weekend | pet animal
My cats are called Milo and Tom | pet
She baked a chocolate cake | sweet food cooking
We watched a documentary about whales | film animal
I finished reading a novel | book
He bought a new laptop | device
They went hiking in the mountains | outdoor activity|nature
I have a peanut allergy | allergy
I take ibuprofen for my migraines | medicine illness
She is learning Spanish and French |
The concert was amazing | concert event music
My daughter started kindergarten | child family school
I work as a software engineer | job
He got a promotion at work | job
We moved into a new apartment | home
I painted a sunset | art nature
Our trip to Japan was great | trip country place
I live in Paris | city place
We roasted a turkey |!country
Turkey is a country | country
I love pottery and ceramics | art craft
He ran a marathon | sport
They play chess every Sunday | game
I volunteer at an animal shelter | charity
I ordered sushi and ramen | dish food
Strawberries and blueberries | fruit food
Green tea please | drink
I bought a red dress | clothing colour
She planted sunflowers | plant
It rained all day | weather
I feel anxious and stressed | emotion
He won a gold medal | award
My knee hurts | body part
My boyfriend proposed | partner
My best friend called | friend
My coworkers like me | colleague
He got his master's degree in physics | field of study
We rented a car | vehicle
I go to the gym | exercise
I wrote a poem | writing
She took a lot of photos | photo
I plan to visit my parents | plan family
I saved 500 dollars | money
Happy birthday | birthday
She goes to church | religion
The server crashed with an error | problem device
The of and to |!food !book !pet
caring for others |!vehicle
rating |!animal
hated it |!clothing
我在学小提琴 | instrument
我们领养了一只小狗 | pet animal
我家的橘猫生病了 | pet illness
她烤了一个巧克力蛋糕 | sweet food
昨天看了一部纪录片 | film
我读完了一本小说 | book
他买了新的笔记本电脑 | device
周末去爬山 | nature
我对花生过敏 | allergy food
我每天吃降压药 | medicine
演唱会太精彩了 | concert event music
我女儿上幼儿园了 | child school
我是软件工程师 | job
他升职了 | job
我们搬家了 | home
我画了一幅油画 | art
去日本旅行 | trip country
我住在杭州 | city place
她喜欢陶艺 | art craft
他跑完了马拉松 | sport
每周下围棋 | game
在收容所做志愿者 | charity
点了寿司和拉面 | dish food
草莓和蓝莓 | fruit
喝绿茶 | drink
买了红色的连衣裙 | clothing colour
种了向日葵 | plant
今天下雨 | weather
我很焦虑 | emotion
得了金牌 | award
膝盖疼 | body part
我男朋友求婚了 | partner
最好的朋友 | friend
我的同事 | colleague
硕士毕业 | degree
租了一辆汽车 | vehicle
去健身房练瑜伽 | exercise
写了一首诗 |
拍了很多照片 | photo
计划去看望父母 | plan family
存了五千元存款 | money
生日快乐 | birthday
信佛 | religion
系统崩溃了 | problem
会说法语 | language
古筝和琵琶 | instrument
火锅和烧烤 | dish
我媽媽養貓 | family pet
電影很好看 | film
";

/// A question, and the concepts that it asks for; `-` for none.
const QUESTIONS: &str = "
What instruments does Anna play? | instrument
Which books has Tim read? | book
What pets does Melanie have? | pet
What kind of music does he like? | music
What types of food do they enjoy? | food
How many children does she have? | child family number
Where did they go on vacation? | place
Who is Anna's boss? | person
When is my birthday? | date
What time is the meeting? | time
What is my favourite colour? | colour preference
What are the names of Tom's dogs? | name pet
Which city does John live in? | city
What countries has he visited? | country
What did Anna read last week? | book
What did they eat for dinner? | food
What did she paint? | art
What does he drink in the morning? | drink
What is she allergic to? | allergy
How long has he been working there? | duration
How old is my son? | age
How much does it cost? | money number
Does Anna have any pets? | pet
Tell me all the movies we watched | film
List the hobbies of Tom | hobby
What sports does she do? | sport
Which games does Joe own? | game
What languages can he speak? | language
What awards did she win? | award
What events has Caroline attended? | event
Which concert did we go to? | concert
What activities does Melanie do with her family? | event
What medicine do I take? | medicine
What symptoms did I have? | illness
What car does he drive? | vehicle
What plants are in the garden? | plant
What classes did she take? | course
What university did she attend? | school
What is his job? | job
What company does she work for? | company
What artists has she seen? | artist
What gifts did I receive? | gift
What color is the house? | colour
What charity did she run for? | charity
Hello | -
她养了什么宠物？ | pet
他会什么乐器？ | instrument
安娜看过哪些电影？ | film
我读过哪些书？ | book
他喜欢什么音乐？ | music
她喜欢吃什么？ | food
他有几个孩子？ | child number
我们去哪里旅行了？ | place
谁是我的老板？ | person
什么时候开会？ | date
会议几点开始？ | time
我最喜欢的颜色是什么？ | colour
我的猫叫什么？ | name pet
他住在哪个城市？ | city
她去过哪些国家？ | country
他读了什么？ | book
晚上吃了什么？ | food
她画了什么？ | art
早上喝什么？ | drink
我对什么过敏？ | allergy
他工作多久了？ | duration
我儿子几岁？ | age
这个多少钱？ | money number
她做什么运动？ | exercise sport
他有什么爱好？ | hobby
他会说什么语言？ | language
她得过什么奖？ | award
参加了哪些活动？ | event
我吃什么药？ | medicine
我有哪些症状？ | illness
他开什么车？ | vehicle
花园里有哪些植物？ | plant
她上了什么课？ | course
她读的哪所大学？ | school
他做什么工作？ | job
他在哪家公司？ | company
收到了什么礼物？ | gift
什么颜色的？ | colour
她弹什么？ | instrument
玩了什么？ | game
穿了什么？ | clothing
多大了？ | age
谁来了？ | person
在哪儿？ | place
";

fn by_name(name: &str) -> Concept {
    let name = name.trim_matches('|').replace('_', " ");
    *Concept::ALL.iter().find(|concept| concept.name() == name).unwrap_or_else(|| panic!("{name}"))
}

fn names(list: &str) -> Vec<(bool, Concept)> {
    let mut list = list.trim().to_owned();
    for long in Concept::ALL.iter().filter(|concept| concept.name().contains(' ')) {
        list = list.replace(long.name(), &long.name().replace(' ', "_"));
    }
    let names = list.split([' ', '|']).filter(|name| !name.is_empty() && *name != "-");
    names.map(|name| (!name.starts_with('!'), by_name(name.trim_start_matches('!')))).collect()
}

#[test]
fn texts_have_their_concepts() {
    let mut wrong = Vec::new();
    for line in TEXTS.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.split_once('|').expect("a line has two parts");
        let found = concepts(text);
        for (has, concept) in names(wanted) {
            if found.contains(concept) != has {
                wrong.push(format!("{text}: {concept:?} {:?}", found.iter().collect::<Vec<_>>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn questions_ask_for_their_concepts() {
    let mut wrong = Vec::new();
    for line in QUESTIONS.lines().filter(|line| !line.is_empty()) {
        let (text, wanted) = line.split_once('|').expect("a line has two parts");
        let found = asked(text);
        let wanted: ConceptSet = names(wanted).into_iter().map(|(_, concept)| concept).collect();
        // The words of the head may say more than the table; no less.
        if found.intersection(wanted) != wanted
            || found.len() > wanted.len() + 2
            || (wanted.is_empty() && !found.is_empty())
        {
            wrong.push(format!("{text}: {:?}", found.iter().collect::<Vec<_>>()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bits_come_back_and_unknown_ones_do_not() {
    for concept in Concept::ALL {
        let set = ConceptSet::of(&[*concept]);
        assert_eq!(ConceptSet::from_bits(set.bits()), set);
        assert_eq!(set.iter().collect::<Vec<_>>(), [*concept]);
    }
    assert_eq!(ConceptSet::from_bits(u128::MAX).len(), Concept::ALL.len());
    assert!(Concept::ALL.len() < 128);
}
