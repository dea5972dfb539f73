//! Function words and all other words that the rules name by what they do.

use crate::graph::lexicon::Tag;

const STOP: Tag = Tag::STOP;

/// The tags of a word, and the words.
pub(in crate::graph) const TAGGED: &[(Tag, &str)] = &[
    // Common words that a sentence may begin with; no names.
    (
        STOP,
        "a|an|the|this|that|these|those|some|any|each|every|either|neither|both|such|many|much|more|most|few|several|all|another|other|others|no|not|none|nothing|something|anything|everything|nobody|somebody|anybody|everybody|everyone|someone|anyone|\
         and|or|but|nor|so|if|then|than|because|as|while|until|though|although|unless|since|whereas|whether|however|therefore|moreover|meanwhile|otherwise|instead|besides|also|too|very|just|only|even|still|yet|already|again|ever|never|always|often|sometimes|usually|rarely|maybe|perhaps|probably|\
         actually|really|basically|honestly|finally|eventually|recently|lately|currently|previously|originally|initially|apparently|obviously|clearly|luckily|fortunately|unfortunately|hopefully|suddenly|surely|certainly|definitely|absolutely|exactly|especially|generally|specifically|personally|seriously|\
         there|here|now|later|soon|once|twice|after|before|first|second|third|last|next|one|it|its|itself|what|when|where|who|whom|whose|which|why|how|do|does|did|done|doing|be|been|being|have|has|had|having|will|would|shall|should|can|could|may|might|must|let|lets|let's|\
         get|got|give|given|go|going|gone|went|make|made|take|took|put|keep|kept|say|said|says|tell|told|ask|asked|show|see|saw|seen|look|looking|try|tried|find|found|know|knew|think|thought|feel|felt|want|need|use|used|using|remember|remind|note|don't|didn't|doesn't|isn't|aren't|wasn't|weren't|can't|won't|couldn't|\
         shouldn't|wouldn't|haven't|hasn't|hadn't|add|set|send|check|call|come|came|turn|start|stop|open|close|run|write|read|buy|sell|work|working|play|playing|change|changed|update|create|delete|remove|fix|help|save|love|loved|like|liked|enjoy|watch|meet|met|call|talk|speak|visit|visiting|enter|click|select|press|avoid|prefer|\
         new|old|good|great|nice|best|better|big|small|little|long|short|early|late|right|wrong|true|false|sure|same|different|important|please|dear|happy|merry|lovely|beautiful|amazing|awesome|cool|wonderful|fantastic|excellent|perfect|interesting|congratulations|congrats|sorry|glad|proud|thank|thanks|welcome|\
         hello|hi|hey|yes|yeah|yep|yup|nope|nah|ok|okay|oh|ah|wow|well|hmm|um|uh|haha|lol|omg|ugh|oops|yay|aww|whoa|bye|goodbye|cheers|gosh|sir|madam|folks|guys|everyone|people|person|today|tomorrow|yesterday|tonight|morning|afternoon|evening|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\
         question|answer|reminder|summary|title|name|address|email|phone|date|time|subject|re|fwd|ps|fyi|btw|asap|faq|todo|tbd|eta|rsvp|aka|imo|tv|pc|id|ai|api|url|pdf|sql|html|css|json|xml|http|ceo|cto|cfo|hr|pm|qa|ui|ux|vip|diy|nothing|step|part|chapter|section|figure|table|appendix|version|page|number|order|room|floor|\
         user|assistant|system|human|agent|bot|customer|team|company|despite|during|without|within|throughout|regarding|according|given|unlike|whenever|wherever|whatever|whichever|whoever|above|below|between|among|across|along|around|behind|beyond|near|toward|towards|upon|via|per|plus|minus|versus|okay",
    ),
    (
        Tag(STOP.0 | Tag::FIRST.0),
        "i|me|my|mine|myself|we|us|our|ours|ourselves|i'd|we'd|我|我的|我们|我们的|咱们|咱|俺|本人|我自己|我家",
    ),
    (Tag(STOP.0 | Tag::SECOND.0), "you|your|yours|yourself|u|ur|你|你们|您|你的|您的"),
    (
        Tag(STOP.0 | Tag::THIRD.0),
        "he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves|他|她|它|他们|她们|它们|他的|她的",
    ),
    (
        Tag(STOP.0 | Tag::ASKS.0),
        "what|when|where|who|whom|whose|which|why|how|how many|how much|how long|how often|how old|how far|how many times|how come|what time|what kind of|what kinds of|what type of|what types of|what sort of|what sorts of|what date|what day|which day|what year|which year|what month|which month|how soon|how big|how tall|how heavy|how high|what else|\
         什么|什么时候|什么时间|什么地方|什么人|什么样|什么样的|什么日子|怎么|怎么样|怎样|怎么办|为什么|为何|为啥|如何|谁|哪|哪里|哪儿|哪个|哪些|哪位|哪种|哪天|哪一天|哪年|哪一年|哪本|哪部|哪只|哪家|哪所|哪门|哪首|哪款|哪边|哪个人|哪个地方|哪几|哪几个|哪几种|哪几本|哪几部|哪一个|何时|何处|何人|几|几个|几次|几只|几本|几部|几条|几岁|几点|几点钟|几号|几月|几年|几天|几个月|几个小时|几小时|几周|\
         多少|多少钱|多少岁|多久|多长时间|多大|多大年纪|多高|多远|多重|多快|周几|星期几|啥|咋|吗|呢|多久一次|是谁",
    ),
    (
        Tag(STOP.0 | Tag::AUXILIARY.0),
        "do|does|did|is|are|was|were|am|has|have|had|will|would|shall|should|can|could|may|might|must|be|been|'s|'re|'ve|'ll|'d|'m|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|cannot|couldn't|won't|wouldn't|shouldn't|haven't|hasn't|hadn't",
    ),
    (
        Tag(STOP.0 | Tag::PREPOSITION.0),
        "of|at|by|for|with|about|against|between|into|through|during|to|from|in|on|onto|upon|off|over|under|up|down|out|within|without|near|around|after|before|since|that|who|which|because|while",
    ),
    (
        Tag(STOP.0 | Tag::DATE.0),
        "today|tomorrow|yesterday|tonight|last night|last week|last month|last year|last weekend|next week|next month|next year|next weekend|this week|this month|this year|this morning|this afternoon|this evening|this weekend|weekend|the other day|a few days ago|ago|spring|summer|autumn|winter|last summer|last winter|next summer|day before yesterday|day after tomorrow|\
         今天|明天|昨天|前天|后天|大后天|今晚|昨晚|今早|今年|明年|去年|前年|后年|上周|下周|本周|这周|上个月|下个月|这个月|上个星期|下个星期|周末|上周末|下周末|这周末|早上|上午|下午|晚上|傍晚|清晨|刚才|最近|月底|年底|年初|月初|上周五|下周一|春天|夏天|秋天|冬天|以前|前几天|之前|现在|当天",
    ),
    (
        Tag(STOP.0 | Tag::DATE.0 | Tag::CALENDAR.0),
        "monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|tues|wed|thu|thur|thurs|fri|january|february|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|christmas|easter|thanksgiving|halloween|\
         周一|周二|周三|周四|周五|周六|周日|周天|星期一|星期二|星期三|星期四|星期五|星期六|星期日|星期天|礼拜一|礼拜二|礼拜三|礼拜四|礼拜五|礼拜六|礼拜天|一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月|下周二|下周三|下周四|下周五|下周六|下周日|上周一|上周二|上周三|上周四|上周六|上周日",
    ),
    (Tag(STOP.0 | Tag::CALENDAR.0), "march|may"),
    (
        Tag::UNIT,
        "second|seconds|sec|secs|minute|minutes|min|mins|hour|hours|hr|hrs|day|days|night|nights|week|weeks|month|months|year|years|decade|decades|fortnight|秒|分钟|小时|个小时|钟头|个钟头|天|日|周|星期|个星期|个月|月|年|个多月|年多|多年|刻钟|半小时|半年|半天|整天|几年来",
    ),
    (
        Tag::MONEY,
        "dollar|dollars|euro|euros|yuan|rmb|usd|eur|gbp|bucks|cents|pounds|yen|元|块|块钱|美元|欧元|人民币|英镑|日元|港币|万元|亿元|美金|毛钱|分钱",
    ),
    (
        Tag::NUMBER,
        "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|twice|thrice|couple|a couple of|\
         一|二|三|四|五|六|七|八|九|十|百|千|万|亿|两|半|俩|一百|一千|一万|第一次|十几|几十",
    ),
    // Greetings, thanks, reactions: content of their own they have none.
    (
        Tag(STOP.0 | Tag::SMALL_TALK.0),
        "hello|hi|hey|hiya|howdy|yo|greetings|hi there|hello there|hey there|good morning|good afternoon|good evening|good night|goodnight|morning|gm|gn|how are you|how are you doing|how are you today|how's it going|what's up|whats up|sup|how do you do|nice to meet you|pleased to meet you|long time no see|welcome back|welcome|\
         thanks|thank you|thank you so much|thank you very much|thanks a lot|many thanks|thx|ty|tysm|cheers|much appreciated|appreciate it|appreciated|you're welcome|no problem|no worries|np|my pleasure|don't mention it|\
         bye|goodbye|bye bye|see you|see ya|see you later|see you soon|see you tomorrow|talk to you later|ttyl|take care|later|have a good day|have a nice day|have a great day|have a good one|have a good night|have a good weekend|have a nice weekend|have a great weekend|good luck|sleep well|sweet dreams|good bye|cya|\
         yes|yeah|yep|yup|yea|no|nope|nah|ok|okay|k|kk|okey|alright|all right|right|sure|sure thing|of course|fine|great|good|nice|cool|awesome|amazing|perfect|excellent|wonderful|fantastic|brilliant|lovely|wow|oh|ah|aha|hmm|hm|mm|mhm|uh|um|haha|hahaha|hehe|lol|lmao|rofl|omg|oops|yay|ugh|aww|whoa|got it|gotcha|i see|\
         understood|makes sense|sounds good|sounds great|sounds like a plan|that's great|that's good|that's nice|that's cool|that's awesome|that's amazing|that's wonderful|that's right|that makes sense|that sounds good|well done|good job|great job|nice work|nice one|good work|noted|agreed|exactly|absolutely|definitely|indeed|true|correct|\
         very good|very nice|so cool|so good|so nice|not bad|never mind|nevermind|whatever|i agree|i know|same here|me too|sorry|my bad|excuse me|pardon|congratulations|congrats|happy birthday|merry christmas|happy new year|happy holidays|love it|i love it|love that|interesting|really|please|yes please|no thanks|no thank you|not really|not yet|maybe|perhaps|done|great idea|good idea|good point|fair enough|\
         你好|您好|你们好|大家好|嗨|哈喽|哈啰|嘿|喂|在吗|在不在|在么|早|早安|早上好|上午好|中午好|下午好|晚上好|晚安|好久不见|最近好吗|你好吗|最近怎么样|你还好吗|吃了吗|吃了么|幸会|很高兴认识你|谢谢|谢谢你|谢谢您|多谢|感谢|非常感谢|十分感谢|太感谢了|谢啦|谢了|辛苦了|辛苦|麻烦了|麻烦你了|麻烦您了|不客气|不用谢|没关系|没事|没事儿|没问题|\
         再见|拜拜|拜|回见|明天见|回头见|下次见|一会儿见|待会见|好的|好|好吧|好滴|好哒|好呀|好啊|好嘞|好的呢|行|行吧|行啊|可以|嗯|嗯嗯|嗯呢|哦|哦哦|噢|喔|啊|哎|唉|哎呀|呀|哇|哇塞|哈|哈哈|哈哈哈|哈哈哈哈|呵呵|嘻嘻|嘿嘿|呜呜|对|对的|对啊|对呀|是|是的|是啊|是呀|没错|不是|不|不用了|不用|算了|明白|明白了|知道了|我知道了|懂了|了解|了解了|收到|原来如此|这样啊|\
         原来是这样|太好了|真好|真棒|很棒|太棒了|棒|厉害|真厉害|太厉害了|牛|牛逼|赞|不错|很好|非常好|挺好的|有道理|有意思|真的|真的吗|真的假的|不会吧|好主意|同意|我同意|加油|祝你好运|生日快乐|新年快乐|圣诞快乐|节日快乐|恭喜|恭喜恭喜|恭喜发财|周末愉快|祝好|对不起|不好意思|抱歉|打扰了|随便|无所谓|好耶|哼|切|额|呃|嘛|吧|啦|哒|呢|嗯哼|好极了|完美|妙|爱了|绝了|6|666|ok的|先这样|就这样|就这样吧|先这样吧|回聊|下次聊|再聊|好梦|午安|保重|慢走",
    ),
    // Mean nothing beside small talk: alone and with it they are still small talk.
    (
        Tag(STOP.0 | Tag::PADDING.0),
        "so|very|much|really|a|lot|again|then|just|too|all|everyone|everybody|guys|folks|my friend|buddy|mate|man|dude|bro|dear|sir|madam|there|to|you|today|and|well|for now|for your help|for the help|for helping|for everything|for that|for this|for telling me|for letting me know|for the info|for the information|for explaining|for your time|for the update|for the tip|for sharing|\
         it|that|that's|this|is|are|was|'s|the|thing|i|'m|very well|as|always|most|kind|of you|super|totally|pretty|assistant|agent|bot|ai|claude|chatgpt|gpt|siri|alexa|friend|let's go|\
         的|了|呀|啊|哦|呢|吧|啦|嘛|哈|你|您|我|大家|各位|朋友|朋友们|亲|老师|同学|同学们|宝贝|非常|真|太|很|挺|那|就|先|啊啊|咯|哟|喽|滴|们|都|今天|助手|小助手|机器人|小爱|小度",
    ),
    (
        Tag(Tag::TITLE.0 | STOP.0),
        "mr|mrs|ms|miss|dr|prof|professor|doctor|sir|lady|lord|aunt|auntie|uncle|grandma|grandpa|captain|officer|coach|president|senator|judge|father|sister|brother|pastor|king|queen|prince|princess|detective|mister|dame|saint|cousin|nurse",
    ),
    (
        Tag::CHINESE_TITLE,
        "老师|医生|大夫|教授|经理|主任|先生|女士|小姐|同学|师傅|总|董|总监|院长|校长|律师|教练|阿姨|叔叔|大爷|大妈|奶奶|爷爷|哥|姐|警官|导师|护士|部长|局长|处长|科长|博士|工|师兄|师姐|太太|夫人|会计|秘书|书记|店长|组长|班长|队长|总裁|伯伯|婶|大哥|大姐|老板|主席",
    ),
    (
        Tag::ORGANISATION,
        "inc|ltd|llc|corp|corporation|company|university|college|hospital|institute|foundation|bank|school|academy|association|society|club|group|agency|labs|laboratories|technologies|motors|airlines|airways|church|museum|library|council|committee|ministry|department|organization|organisation|studio|studios|press|gmbh|plc|clinic|theatre|theater|orchestra|restaurant|hotel|\
         公司|大学|医院|银行|集团|学院|中学|小学|学校|研究所|研究院|基金会|协会|幼儿园|有限公司|股份有限公司|科技公司|事务所|出版社|俱乐部|实验室|委员会|博物馆|图书馆|酒店|餐厅|工作室|局|诊所|律师事务所|高中|初中",
    ),
    (
        Tag::PLACE_END,
        "street|avenue|road|park|lake|river|mountain|mount|beach|island|bridge|square|station|airport|city|county|state|province|valley|boulevard|lane|drive|garden|gardens|castle|tower|bay|hall|falls|canyon|市|省|县|路|街|区|镇|村|山|湖|岛|大街|大道|胡同|广场|公园|机场|火车站|地铁站|车站|站|州|湾|寺|塔|桥|小区",
    ),
    (
        Tag::NATION,
        "american|british|english|chinese|french|german|spanish|italian|japanese|korean|russian|indian|canadian|australian|mexican|brazilian|dutch|swedish|norwegian|danish|finnish|polish|turkish|greek|portuguese|irish|scottish|welsh|thai|vietnamese|indonesian|arabic|arab|hebrew|hindi|mandarin|cantonese|latin|european|asian|african|swiss|austrian|belgian|czech|hungarian|\
         ukrainian|egyptian|iranian|persian|israeli|jewish|muslim|christian|catholic|buddhist|hindu|islamic|protestant|christianity|islam|buddhism|western|eastern|northern|southern|english language|urdu|bengali|filipino|malay|taiwanese|nigerian|kenyan|cuban|argentinian|colombian|internet|covid|god|bible|wifi|bluetooth",
    ),
    (
        Tag::PERSONAL_VERB,
        "said|says|told|thinks|thought|lives|lived|works|worked|likes|liked|loves|loved|hates|hated|wants|wanted|went|goes|moved|married|met|called|calls|asked|asks|bought|visited|started|studies|studied|plays|played|enjoys|prefers|has|had|is|was|will|recommended|suggested|mentioned|agreed|helped|gave|got|made|came|comes|knows|joined|teaches|taught|drives|speaks|adopted|owns|\
         joked|laughed|smiled|replied|wrote|invited|introduced|needs|can|and|just|also|really|won|lost|left|quit|does|did|doesn't|didn't|isn't|wasn't|feels|felt|plans|decided|promised|sent|brought|took|'s|'ll|'d|turned|turns|grew|runs|ran|eats|cooks|reads|used|would|should|could|might|never|always",
    ),
    (
        Tag::ORDER,
        "first|last|latest|earliest|most recent|newest|oldest|最早|最后|最新|最近一次|第一次|首次|最后一次|上次|上一次|第一个|最近",
    ),
    (
        Tag::CHINESE_FUNCTION,
        "的|了|是|在|和|跟|与|及|或|就|都|也|很|到|说|要|去|会|着|没有|没|不|有|让|给|把|被|从|向|对|比|为|以|于|因为|所以|但是|如果|以及|并且|或者|还是|关于|这个|那个|这些|那些|这里|那里|一个|一些|一下|自己|可以|可能|应该|需要|时候|已经|正在|曾经|刚刚|觉得|认为|知道|告诉|记得|打算|开始|一起|非常|特别|比较|真的|还有|而且|然后|于是|不过|只是|其实|通过|经常|总是|一直|今后|\
         请|帮我|帮忙|麻烦|能不能|可不可以|有没有|是不是|会不会|我想|想要|昨日|认识|介绍|推荐|听说|见过|遇到|住在|来自|发现|决定|以后|以前|的话|之后|那么|这么|所有|每天|每周|每个|别人|有人|没人|人们|大家|小时候|不要|必须|一定|建议|左右|大概|差不多|高兴|方便|明确|于今|于此|向来|方面|方法|方式|方向|时代|安排|安全|安装|安静|温度|温暖|温柔|康复|常见|常用|平时|平常|公开|成功|成为|成绩|成本|成员|严重|严格|\
         高中|高级|高度|高速|高铁|马上|马路|金额|金钱|白天|白色|黄金|项目|管理|管道|关系|关心|关闭|关键|关注|任何|任务|石头|路上|路线|和平|全部|全家|全职|全国|计算|计划|连接|连续|简单|车上|水平|水果|包括|包含|包装|支持|支付|段时间|毛病|万一|万能|江边|汤圆|范围|经济|经历|经验|项链|花费|解决|解释|解决方案|解除|古代|单独|单词|单位|单身|钱包|钱财|余额|余下|唐朝|宋朝|明朝|清朝|汉语|米饭|米色|鱼缸|游泳|游戏|游客|于事|别的|成都|安徽|云南|云服务|云端|云|景点|景色|强调|强大|党员|司机|司法|师傅|查询|查看|查找|晚会|时间|时刻|白板|盛大|储存|符合|终于|季节|季度|习惯|牛逼|古典|向日葵|应聘|应用|苗条|曲子|谷物|柴火|房间|房子|凌晨|童年|麦克风|路由|盘子|强烈|龙虾|段落|阳光|国家|雷雨|温馨|汪汪|万圣节|黑板|田野|夏令营|夏季|秋季|冬季|金色|金融|陶瓷|陶艺|花园|花生|葛根|贺卡|顾客|顾问|武器|武术|左边|右边|左转|武侠",
    ),
    (
        Tag(Tag::BEFORE_NAME.0),
        "叫|是|和|跟|与|同事|朋友|同学|叫做|认识|名叫|老板|室友|邻居|表哥|表姐|表弟|表妹|哥哥|姐姐|弟弟|妹妹|儿子|女儿|老公|老婆|丈夫|妻子|女朋友|男朋友|女友|男友|爸爸|妈妈|老师|领导|经理|客户|房东|导师|好友|闺蜜|搭档|遇到|见到|给|找|问|联系|约|告诉|请|喜欢|嫁给|娶了|爱上|陪|帮|教|让|听|由|姑姑|舅舅|叔叔|阿姨|律师|医生|教练|助理|上司|主管|负责人|作者|导演|歌手|演员|教授|校长",
    ),
    (
        Tag(Tag::AFTER_NAME.0),
        "说|是|的|在|和|跟|告诉|喜欢|去|有|住|住在|就职于|毕业于|认为|觉得|来|会|把|给|要|也|今年|昨天|今天|明天|负责|推荐|介绍|毕业|结婚|工作|出生|养|爱|不|没|买|做|很|都|问|叫|想|打算|从|对|为|与|已经|已|正在|刚|刚刚|上周|搬|搬到|送|请|帮|吃|喝|开|当|教|还|又|经常|最近|因为|一起|生日|电话",
    ),
    (
        Tag::COMPANY,
        "google|microsoft|amazon|facebook|tesla|netflix|ibm|intel|nvidia|samsung|sony|huawei|tencent|alibaba|bytedance|baidu|xiaomi|openai|anthropic|deepmind|spacex|uber|airbnb|linkedin|oracle|cisco|paypal|stripe|siemens|bosch|volkswagen|toyota|starbucks|mcdonald's|ikea|walmart|costco|nasa|unicef|unesco|deloitte|accenture|goldman sachs|jpmorgan|\
         谷歌|微软|亚马逊|英特尔|英伟达|腾讯|阿里巴巴|阿里|字节跳动|字节|百度|京东|美团|滴滴|网易|拼多多|哔哩哔哩|星巴克|麦当劳|肯德基|海底捞|北京大学|清华大学|复旦大学|浙江大学|上海交通大学|北大|清华",
    ),
    (Tag::SURNAME, "欧阳|司马|上官|诸葛|慕容|令狐|皇甫|尉迟|公孙|司徒|夏侯|端木|东方朔|独孤"),
    (
        Tag::WHOLE,
        "协和|和谐|和解|说明|是非|在意|在乎|跟踪|去世|要求|都市|到底|到达|有限|有效|不同|不足|没收|让步|给予|把握|被子|从前|向往|对象|对方|比例|比较|为难|以为|于今",
    ),
    // Words that the rules name, listed so that Chinese is cut at them.
    (
        Tag::CHINESE_FUNCTION,
        "规则|规定|政策|制度|规范|准则|约定|允许|禁止|禁忌|不许|守则|原则|惯例|步骤|流程|教程|操作方法|做法|怎么做|怎么弄|怎么用|发生|发生了|怎么了|怎么回事|出了什么事|经过|翻译|翻译成|润色|改写|总结|概括|校对|以下|下面|下列|这段|这段话|这句话|这句|这篇|都有|都是|不能|要不要|该不该|当时|那天|那次|去了|看了|买了|吃了|读了|读过|去过|吃过|玩过|听过|做过|养了|养过|养着|喝过|喝了|穿了|画过|画了|种了|种过|学过|学了|听了|看过|\
         列出|列举|原因|理由|原因是|干什么|相比|叫做|是否|嫁给|娶了|爱上|毕业于|就职于|位于|搬到|搬家|多少次|前|名叫|任职于|供职于|效力于|住在|定居|出生于|来自|属于|拥有|成员|多年|看待|更|多年前|家住|生于|服用|种类型",
    ),
    (
        Tag::BRAND,
        "iphone|ipad|macbook|airpods|imac|apple watch|galaxy|pixel|rtx|gtx|geforce|radeon|ryzen|thinkpad|surface|kindle|playstation|ps5|ps4|xbox|nintendo switch|switch|tesla model|model|gopro|dji|windows|macos|android|ios|ubuntu|python|gpt|claude|core|raspberry pi|canon|nikon|oneplus|mate|redmi|roomba|fitbit|dyson|air jordan|boeing|airbus|\
         华为|小米|荣耀|红米|苹果|三星|索尼|佳能|尼康|大疆|比亚迪|特斯拉|蔚来|小鹏|理想|联想",
    ),
];
