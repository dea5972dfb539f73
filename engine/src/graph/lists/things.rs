//! Words for things, by concept: the words for the class, then those for its members.

use crate::graph::Concept;

/// Concept, words for the class, words for its members.
pub(in crate::graph) const MEMBERS: &[(Concept, &str, &str)] = &[
    (
        Concept::Book,
        "book|novel|author|writer|reading list|书|书籍|小说|图书|作家|作者",
        "reread|memoir|biography|autobiography|fiction|nonfiction|fantasy novel|thriller|paperback|hardcover|ebook|audiobook|\
         chapter|trilogy|poetry|poem|bookshelf|library|bookstore|bookshop|comic|manga|textbook|cookbook|literature|\
         kindle|goodreads|book club|传记|散文|诗集|诗歌|漫画|教材|课本|绘本|读书|看书|阅读|图书馆|书店|读书会|一本书|科幻小说|推理小说|武侠小说|名著|文学|读完|《三体》|《红楼梦》|《西游记》",
    ),
    (
        Concept::Film,
        "film|movie|documentary|documentaries|电影|影片|纪录片|片子",
        "cinema|blockbuster|netflix|sequel|screening|director|actor|actress|oscar|hollywood|rom com|horror film|anime|animation|\
         动画片|动漫|导演|演员|影院|电影院|大片|喜剧片|恐怖片|科幻片|爱情片|看电影|首映|票房",
    ),
    (
        Concept::Series,
        "tv show|tv series|series|show|sitcom|podcast|电视剧|剧集|连续剧|综艺|综艺节目|播客",
        "episode|season finale|binge|drama|soap opera|tv program|美剧|韩剧|日剧|国产剧|追剧|集数|英剧|节目",
    ),
    (
        Concept::Music,
        "music|song|genre|album|音乐|歌曲|歌|专辑|曲子",
        "jazz|rock music|hip hop|rap|classical|classical music|country music|pop music|blues|reggae|techno|heavy metal|playlist|spotify|melody|tune|symphony|\
         orchestra|choir|sing|sang|singing|lyrics|vinyl|opera|soundtrack|concerto|sonata|karaoke|band practice|tchaikovsky|mozart|bach|beethoven|chopin|vivaldi|\
         爵士|爵士乐|摇滚|摇滚乐|古典音乐|流行音乐|民谣|说唱|嘻哈|唱歌|听歌|合唱|合唱团|交响乐|歌剧|歌词|乐曲|旋律|一首歌|民歌|京剧|昆曲|莫扎特|贝多芬|肖邦",
    ),
    (
        Concept::Artist,
        "artist|musician|singer|band|composer|歌手|音乐家|乐队|艺人|艺术家|歌星|作曲家|明星",
        "rapper|vocalist|pianist|violinist|guitarist|drummer|celebrity|fan of|beatles|taylor swift|ed sheeran|adele|beyonce|coldplay|radiohead|\
         钢琴家|小提琴家|偶像|粉丝|周杰伦|陈奕迅|王菲|邓丽君|五月天|林俊杰",
    ),
    (
        Concept::Instrument,
        "instrument|musical instrument|乐器",
        "violin|piano|guitar|clarinet|flute|drum|drums|cello|viola|trumpet|saxophone|sax|harp|ukulele|banjo|harmonica|trombone|tuba|oboe|bassoon|\
         keyboard lessons|accordion|organ|mandolin|double bass|bass guitar|recorder|tambourine|xylophone|synthesizer|fiddle|bagpipes|guzheng|erhu|pipa|\
         小提琴|钢琴|吉他|单簧管|长笛|鼓|架子鼓|大提琴|中提琴|小号|萨克斯|竖琴|尤克里里|口琴|长号|圆号|手风琴|古筝|二胡|琵琶|笛子|古琴|葫芦丝|贝斯|\
         电子琴|管风琴|双簧管|唢呐|非洲鼓|弹琴|练琴|口风琴|扬琴|箫",
    ),
    (
        Concept::Pet,
        "pet|furry friend|宠物|毛孩子",
        "dog|puppy|pup|cat|kitten|kitty|hamster|guinea pig|goldfish|parrot|bunny|rabbit|turtle|tortoise|budgie|canary|ferret|gerbil|labrador|poodle|golden retriever|german shepherd|\
         beagle|bulldog|corgi|husky|dachshund|chihuahua|terrier|retriever|siamese|persian cat|gecko|bearded dragon|aquarium|fish tank|veterinarian|vet|leash|litter box|\
         狗|小狗|狗狗|犬|猫|小猫|猫咪|橘猫|布偶猫|英短|美短|仓鼠|兔子|乌龟|金鱼|鹦鹉|龙猫|荷兰猪|蜥蜴|柯基|金毛|拉布拉多|哈士奇|泰迪|贵宾犬|柴犬|边牧|\
         养猫|养狗|遛狗|猫粮|狗粮|铲屎官|宠物医院|兽医|喵|一只猫|一只狗|流浪猫|流浪狗|撸猫",
    ),
    (
        Concept::Animal,
        "animal|wildlife|species|动物|野生动物",
        "bird|fish|horse|pony|cow|sheep|goat|pig|chicken coop|duck|goose|owl|eagle|hawk|crow|penguin|dolphin|whale|shark|lion|tiger|bear|panda|elephant|giraffe|zebra|\
         monkey|gorilla|fox|wolf|deer|moose|squirrel|hedgehog|raccoon|bat|snake|lizard|frog|toad|spider|bee|butterfly|ant|mouse|mice|rat|kangaroo|koala|camel|donkey|crocodile|alligator|\
         hummingbird|parakeet|swan|otter|seal|octopus|鸟|鱼|马|牛|羊|猪|鸭子|鹅|猫头鹰|老鹰|企鹅|海豚|鲸鱼|鲨鱼|狮子|老虎|熊|熊猫|大熊猫|大象|长颈鹿|斑马|猴子|狐狸|狼|鹿|松鼠|刺猬|\
         蛇|青蛙|蜘蛛|蜜蜂|蝴蝶|蚂蚁|老鼠|袋鼠|考拉|骆驼|驴|鳄鱼|天鹅|章鱼|鸽子|鸡|孔雀|仙鹤",
    ),
    (
        Concept::Food,
        "food|meal|snack|ingredient|cuisine|diet|食物|吃的|零食|小吃|美食|菜系|食材|饮食|好吃的",
        "breakfast|lunch|dinner|supper|brunch|bread|rice|noodle|cheese|egg|butter|beef|pork|chicken|lamb|turkey breast|bacon|ham|sausage|fish and chips|salmon|tuna|shrimp|prawn|crab|lobster|oyster|\
         seafood|tofu|yogurt|yoghurt|oatmeal|cereal|peanut|nut|nuts|almond|walnut|cashew|honey|jam|spice|sauce|vegan|vegetarian|gluten|takeout|takeaway|leftovers|eat|ate|eaten|yummy|delicious|tasty|\
         早饭|早餐|午饭|午餐|晚饭|晚餐|宵夜|夜宵|面包|米饭|面条|奶酪|芝士|鸡蛋|黄油|牛肉|猪肉|鸡肉|羊肉|培根|火腿|香肠|三文鱼|金枪鱼|虾|螃蟹|龙虾|海鲜|豆腐|酸奶|燕麦|花生|坚果|杏仁|核桃|\
         腰果|蜂蜜|果酱|调料|素食|外卖|吃饭|吃素|辣的|麻辣|甜食|好吃|吃了|吃过|爱吃|喜欢吃|海参|鱼肉|排骨|肉",
    ),
    (
        Concept::Dish,
        "dish|recipe|菜|菜谱|食谱|拿手菜|菜肴",
        "pizza|pasta|spaghetti|lasagna|lasagne|burger|hamburger|sandwich|taco|burrito|sushi|ramen|curry|soup|salad|stew|steak|barbecue|bbq|fried rice|dumpling|dim sum|hot pot|hotpot|omelette|omelet|pancake|waffle|\
         risotto|paella|kebab|falafel|hummus|pho|pad thai|fries|hot dog|casserole|quiche|meatball|roast chicken|enchilada|gnocchi|ravioli|stir fry|mac and cheese|tempura|bibimbap|kimchi|biryani|\
         披萨|比萨|意大利面|意面|汉堡|三明治|寿司|拉面|咖喱|汤|沙拉|牛排|烧烤|炒饭|饺子|包子|馒头|火锅|麻辣烫|粥|煎饼|烤鸭|北京烤鸭|红烧肉|宫保鸡丁|麻婆豆腐|糖醋排骨|水煮鱼|酸菜鱼|小笼包|馄饨|粽子|\
         月饼|汤圆|炸鸡|薯条|螺蛳粉|米线|牛肉面|炸酱面|热干面|肉夹馍|烤串|鱼香肉丝|回锅肉|西红柿炒鸡蛋|番茄炒蛋|春卷|葱油饼|豆浆油条|泡面|小龙虾|羊肉串|年夜饭",
    ),
    (
        Concept::Drink,
        "drink|beverage|饮料|喝的|饮品",
        "coffee|tea|green tea|black tea|espresso|latte|cappuccino|americano|mocha|juice|orange juice|milk|oat milk|soy milk|water|soda|cola|coke|pepsi|lemonade|smoothie|milkshake|beer|wine|red wine|white wine|whisky|whiskey|vodka|gin|rum|\
         tequila|cocktail|champagne|sake|cider|kombucha|hot chocolate|matcha|bubble tea|boba|sparkling water|drank|ale|mojito|\
         咖啡|茶|绿茶|红茶|乌龙茶|普洱|龙井|拿铁|美式咖啡|卡布奇诺|果汁|橙汁|牛奶|豆浆|水|汽水|可乐|雪碧|柠檬水|奶茶|珍珠奶茶|啤酒|红酒|白酒|葡萄酒|威士忌|伏特加|鸡尾酒|香槟|清酒|黄酒|抹茶|气泡水|酒|\
         热巧克力|冰美式|喝茶|喝酒|喝咖啡|豆奶|燕麦奶|酸梅汤|凉茶",
    ),
    (
        Concept::Fruit,
        "fruit|水果|果子",
        "apple|banana|orange|grape|strawberry|blueberry|raspberry|blackberry|cherry|peach|pear|plum|mango|pineapple|watermelon|melon|kiwi|lemon|lime|grapefruit|pomegranate|fig|apricot|coconut|papaya|avocado|lychee|durian|dragon fruit|passion fruit|berry|tangerine|mandarin orange|\
         苹果|香蕉|橙子|橘子|葡萄|草莓|蓝莓|樱桃|桃子|桃|梨|李子|芒果|菠萝|西瓜|哈密瓜|猕猴桃|柠檬|柚子|石榴|无花果|杏|椰子|木瓜|牛油果|荔枝|榴莲|火龙果|百香果|杨梅|柿子|山竹|枇杷|龙眼|车厘子",
    ),
    (
        Concept::Vegetable,
        "vegetable|veggie|蔬菜|青菜",
        "tomato|potato|carrot|onion|garlic|broccoli|spinach|lettuce|cabbage|cucumber|pepper|mushroom|corn|bean|pea|eggplant|zucchini|pumpkin|celery|asparagus|cauliflower|kale|leek|radish|beet|sweet potato|ginger|cilantro|coriander|\
         西红柿|番茄|土豆|马铃薯|胡萝卜|洋葱|大蒜|西兰花|菠菜|生菜|白菜|黄瓜|辣椒|蘑菇|玉米|豆角|茄子|南瓜|芹菜|花菜|萝卜|红薯|姜|香菜|韭菜|苦瓜|冬瓜|莲藕|豆芽|香菇",
    ),
    (
        Concept::Sweet,
        "dessert|sweet|甜品|甜点|糖果",
        "cake|chocolate|ice cream|cookie|biscuit|candy|donut|doughnut|brownie|cupcake|muffin|pie|apple pie|tiramisu|cheesecake|pudding|macaron|croissant|pastry|pastries|gelato|caramel|\
         蛋糕|巧克力|冰淇淋|冰激凌|饼干|糖|甜甜圈|布朗尼|提拉米苏|布丁|马卡龙|蛋挞|雪糕|双皮奶|芝士蛋糕|泡芙|糖葫芦|绿豆糕",
    ),
    (
        Concept::Sport,
        "sport|team sport|体育|运动|体育运动|球类|运动项目",
        "football|soccer|basketball|tennis|baseball|volleyball|badminton|table tennis|ping pong|golf|rugby|cricket|hockey|ice hockey|swimming|swim|swam|running|ran a marathon|marathon|half marathon|cycling|boxing|karate|judo|taekwondo|kung fu|wrestling|\
         fencing|archery|gymnastics|skiing|ski|snowboarding|skating|ice skating|skateboarding|surfing|surf|rowing|sailing|diving|scuba diving|climbing|rock climbing|bouldering|bowling|squash|triathlon|martial arts|horse riding|horseback riding|world cup|olympics|stadium|league|nba|\
         足球|篮球|网球|棒球|排球|羽毛球|乒乓球|高尔夫|橄榄球|板球|冰球|曲棍球|游泳|跑步|马拉松|半程马拉松|半马|骑行|拳击|空手道|柔道|跆拳道|武术|功夫|太极|太极拳|摔跤|击剑|射箭|体操|滑雪|单板|滑冰|滑板|冲浪|划船|\
         帆船|潜水|攀岩|保龄球|铁人三项|骑马|踢球|打球|打篮球|踢足球|世界杯|奥运会|比赛|台球|铅球|跳高|长跑|晨跑|夜跑",
    ),
    (
        Concept::Game,
        "game|video game|board game|游戏|电子游戏|桌游|手游",
        "chess|go game|poker|bridge game|monopoly|scrabble|catan|minecraft|zelda|mario|fortnite|pokemon|tetris|xbox|playstation|ps5|nintendo|nintendo switch|steam|gaming|gamer|console|jigsaw|puzzle|crossword|sudoku|card game|role playing game|dungeons and dragons|\
         valorant|overwatch|cyberpunk|elden ring|the witcher|sims|mahjong|象棋|国际象棋|围棋|五子棋|麻将|扑克|扑克牌|斗地主|大富翁|狼人杀|剧本杀|密室逃脱|王者荣耀|原神|英雄联盟|我的世界|塞尔达|马里奥|宝可梦|打游戏|拼图|数独|塞尔达传说|黑神话|黑神话悟空|和平精英|吃鸡",
    ),
    (
        Concept::Hobby,
        "hobby|pastime|interest|free time|spare time|leisure|爱好|兴趣|兴趣爱好|业余时间|消遣|闲暇|空闲时间",
        "gardening|photography|knitting|reading|painting|collecting|collect stamps|stamps|birdwatching|birding|origami|model trains|woodworking|sewing|journaling|meditation|magic tricks|\
         园艺|摄影|编织|集邮|观鸟|折纸|木工|手工|缝纫|写日记|冥想|收藏|书法|钓鱼|下棋|养花|弹琴|模型|剪纸|茶艺|插花",
    ),
    (
        Concept::Art,
        "art|artwork|艺术|艺术品|画作|作品",
        "paint|painted|painting|drawing|drew|sketch|watercolor|watercolour|oil painting|acrylic|canvas|sculpture|sculpt|pottery|ceramics|clay|mural|portrait|landscape painting|gallery|exhibition|exhibit|museum|calligraphy|illustration|print making|abstract art|mosaic|collage|art class|art show|graffiti|\
         画画|绘画|素描|水彩|水彩画|油画|国画|雕塑|陶艺|陶瓷|壁画|肖像|风景画|画廊|展览|画展|博物馆|美术馆|书法|插画|版画|涂鸦|美术|一幅画|山水画|写生",
    ),
    (
        Concept::Craft,
        "craft|handicraft|手工艺|工艺",
        "knit|crochet|sew|quilt|embroidery|pottery|woodwork|woodworking|carpentry|candle making|jewelry making|origami|weaving|scrapbooking|diy|leatherwork|soap making|编织|钩针|缝纫|刺绣|十字绣|陶艺|木工|剪纸|折纸|手作|皮具|织毛衣",
    ),
    (
        Concept::Place,
        "place|location|destination|venue|spot|area|region|address|neighborhood|neighbourhood|地方|地点|目的地|景点|位置|地址|区域|场所",
        "museum|library|airport|station|train station|hotel|hostel|hospital|church|temple|castle|palace|bridge|downtown|village|suburb|office building|square|tower|theater|theatre|amusement park|theme park|disneyland|zoo|campus|parking lot|garage|headquarters|\
         博物馆|图书馆|机场|车站|火车站|地铁站|酒店|宾馆|民宿|医院|教堂|寺庙|寺|城堡|宫殿|故宫|长城|天安门|外滩|大桥|市中心|村|村子|郊区|广场|塔|剧院|游乐园|迪士尼|动物园|校园|停车场|车库|总部|小区|天坛|颐和园|兵马俑|西湖|鼓浪屿",
    ),
    (
        Concept::City,
        "city|town|hometown|城市|城镇|家乡|老家",
        "capital|metropolis|moved to the city|首都|省会",
    ),
    (
        Concept::Country,
        "country|nation|countries|国家|哪国|国",
        "abroad|overseas|foreign|homeland|home country|immigrate|emigrate|visa|passport|国外|海外|出国|祖国|移民|签证|护照|留学",
    ),
    (
        Concept::Nature,
        "nature|landscape|大自然|自然|风景|景色",
        "beach|mountain|lake|river|forest|woods|ocean|sea|island|park|national park|waterfall|canyon|grand canyon|desert|valley|hill|trail|sunset|sunrise|star|stargazing|meteor shower|perseid|glacier|volcano|coast|cliff|cave|meadow|countryside|garden|\
         海滩|沙滩|山|爬山|湖|河|江|森林|树林|海|大海|海边|海洋|岛|海岛|公园|国家公园|瀑布|峡谷|沙漠|山谷|日落|日出|星空|流星雨|冰川|火山|海岸|悬崖|洞穴|草原|乡下|花园|泰山|黄山|华山|长江|黄河|九寨沟|张家界|珠穆朗玛峰",
    ),
    (
        Concept::Restaurant,
        "restaurant|cafe|café|bar|eatery|diner|bistro|餐厅|饭店|餐馆|咖啡馆|咖啡厅|酒吧|馆子",
        "pub|coffee shop|bakery|pizzeria|steakhouse|food truck|buffet|starbucks|mcdonald|mcdonalds|kfc|tea house|reservation|michelin|星巴克|麦当劳|肯德基|海底捞|面馆|茶馆|面包店|甜品店|奶茶店|自助餐|火锅店|烤肉店|日料店|食堂",
    ),
    (
        Concept::Shop,
        "shop|store|商店|店|超市",
        "mall|shopping mall|supermarket|grocery store|market|farmers market|boutique|pharmacy|ikea|walmart|costco|amazon|bookstore|shopping|shopped|bought|buy|purchase|purchased|商场|市场|菜市场|便利店|药店|宜家|淘宝|京东|拼多多|购物|逛街|买了|网购|购买|书店",
    ),
    (
        Concept::Event,
        "event|activity|celebration|occasion|活动|事件|庆典|聚会|盛会",
        "wedding|conference|festival|party|ceremony|parade|pride parade|workshop|seminar|fair|exhibition|reunion|gathering|graduation|baby shower|funeral|fundraiser|race|charity race|competition|contest|tournament|talent show|open mic|support group|picnic|barbecue party|potluck|hackathon|summit|webinar|game night|open house|anniversary|retreat|carnival|\
         婚礼|会议|大会|派对|典礼|游行|工作坊|研讨会|展会|展览会|团聚|聚餐|毕业典礼|葬礼|募捐|竞赛|大赛|锦标赛|野餐|黑客松|峰会|讲座|周年|纪念日|年会|团建|庙会|音乐节|漫展|运动会|同学会|家长会|结婚|订婚|毕业|满月酒",
    ),
    (
        Concept::Concert,
        "concert|gig|live show|演唱会|音乐会|演出",
        "live music|music festival|tour dates|recital|performance|performed|symphony hall|coachella|glastonbury|encore|音乐节|现场演出|巡演|独奏会|livehouse|话剧|听演唱会",
    ),
    (
        Concept::Trip,
        "trip|vacation|travel|holiday trip|journey|tour|getaway|旅行|旅游|度假|旅程|行程|出差|出游",
        "travelled|traveled|road trip|roadtrip|flight|flew|cruise|backpacking|itinerary|luggage|suitcase|booking|airbnb|business trip|honeymoon|sightseeing|vacationing|staycation|visited|went to|自驾游|自驾|航班|机票|飞到|游轮|背包客|行李|蜜月|观光|跟团|出国旅游|去了|去过|旅居|高铁票|火车票",
    ),
    (
        Concept::Family,
        "family|relative|family member|家人|亲戚|家庭|亲人|家庭成员|家里人",
        "married|marry|marriage|engaged|divorce|divorced|pregnant|newborn|adoption|adoption agency|twin|twins|in laws|ancestor|grandchildren|grandkids|结婚|已婚|离婚|怀孕|生孩子|双胞胎|领养孩子|全家|家里|爸妈",
    ),
    (
        Concept::Child,
        "child|kid|children|孩子|小孩|子女|儿女",
        "son|daughter|baby|toddler|newborn|teenager|stepson|stepdaughter|godson|goddaughter|儿子|女儿|宝宝|婴儿|新生儿|二胎|娃|男孩|女孩|小朋友",
    ),
    (
        Concept::Partner,
        "partner|spouse|significant other|伴侣|配偶|对象|另一半",
        "husband|wife|girlfriend|boyfriend|fiance|fiancé|fiancee|fiancée|date night|dating|relationship|breakup|broke up|single mom|single parent|single|丈夫|妻子|老公|老婆|女朋友|男朋友|女友|男友|未婚夫|未婚妻|恋爱|约会|分手|单身|相亲|恋人|谈恋爱",
    ),
    (
        Concept::Friend,
        "friend|buddy|朋友|好友",
        "friendship|pal|bestie|best friend|neighbor|neighbour|roommate|flatmate|classmate|hang out|hung out|闺蜜|哥们|邻居|室友|同学|友谊|老朋友",
    ),
    (
        Concept::Colleague,
        "colleague|coworker|teammate|同事|队友",
        "boss|manager|supervisor|workmate|team lead|mentor|cto|ceo|老板|上司|领导|经理|主管|搭档",
    ),
    (
        Concept::Person,
        "person|people|who|guy|man|woman|人|谁|人物|哪些人",
        "men|women|boy|girl|lady|gentleman|someone|stranger|guest|男人|女人|男生|女生|客人|嘉宾|陌生人",
    ),
    (
        Concept::Name,
        "name|names|nickname|surname|名字|姓名|昵称|外号|小名|姓",
        "named|called|call me|叫做|名叫|全名|英文名|笔名|网名",
    ),
    (
        Concept::Job,
        "job|profession|occupation|career|work|position|role|living|工作|职业|职位|岗位|行业|职务",
        "engineer|software engineer|teacher|doctor|nurse|lawyer|accountant|designer|programmer|developer|manager|chef|cook at|waiter|waitress|driver|pilot|journalist|reporter|architect|scientist|researcher|professor|consultant|salesperson|cashier|barista|plumber|electrician|\
         carpenter|mechanic|farmer|firefighter|police officer|policeman|soldier|dentist|pharmacist|therapist|counselor|counselling|counseling|psychologist|analyst|data scientist|product manager|entrepreneur|freelancer|freelance|intern|internship|receptionist|librarian|photographer|editor|translator|interpreter|marketing|promoted|promotion|hired|fired|laid off|resigned|quit my job|retired|salary|job interview|employed|unemployed|\
         工程师|软件工程师|教师|老师|医生|护士|律师|会计|设计师|程序员|开发者|经理|厨师|服务员|司机|飞行员|记者|建筑师|科学家|研究员|教授|顾问|销售|收银员|咖啡师|水管工|电工|木匠|农民|消防员|警察|军人|牙医|药剂师|心理咨询师|分析师|产品经理|创业|自由职业|实习|实习生|前台|图书管理员|摄影师|编辑|翻译|公务员|上班|入职|离职|辞职|跳槽|升职|退休|裁员|面试|工资|薪水|加班|架构师|运营|数据分析师",
    ),
    (
        Concept::Company,
        "company|employer|organization|organisation|firm|startup|brand|business|公司|企业|单位|机构|组织|品牌",
        "google|microsoft|apple inc|amazon web services|meta platforms|facebook|tesla|netflix inc|ibm|intel|nvidia|samsung|sony|huawei|tencent|alibaba|bytedance|baidu|xiaomi|openai|agency|corporation|bank|hospital|factory|headquarters|own business|\
         谷歌|微软|亚马逊|特斯拉|英特尔|英伟达|三星|索尼|华为|腾讯|阿里巴巴|阿里|字节跳动|字节|百度|小米|京东|美团|滴滴|网易|比亚迪|集团|工厂|银行|事务所|创业公司|律所|分公司",
    ),
    (
        Concept::School,
        "school|university|college|学校|大学|院校|母校",
        "kindergarten|preschool|elementary school|middle school|high school|academy|campus|harvard|stanford|oxford|cambridge|mit|yale|princeton|berkeley|alma mater|graduated|graduate school|grad school|dorm|semester|freshman|sophomore|alumni|\
         幼儿园|小学|初中|中学|高中|学院|研究生院|北大|北京大学|清华|清华大学|复旦|复旦大学|浙大|浙江大学|交大|上海交通大学|南大|中科大|武汉大学|哈佛|斯坦福|牛津|剑桥|毕业于|上学|开学|学期|宿舍|校友|大一|大二|大三|大四|高三|考研|高考",
    ),
    (
        Concept::Course,
        "course|class|lesson|training|tutorial|课程|课|培训",
        "lecture|bootcamp|certification|certificate|exam|homework|enrolled|sign up for a class|signed up for|coding class|pottery class|yoga class|online course|coursera|讲课|网课|证书|考试|作业|补习|报名|培训班|学习|辅导班|驾照|公开课|雅思|托福",
    ),
    (
        Concept::Degree,
        "degree|qualification|学位|学历|文凭",
        "bachelor|bachelors|master's|masters degree|phd|doctorate|mba|diploma|ba|bsc|msc|undergraduate|postgraduate|thesis|dissertation|本科|学士|硕士|博士|研究生|博士后|论文|毕业证|双学位|专科",
    ),
    (
        Concept::Subject,
        "major|subject|field of study|field|专业|学科|科目|领域",
        "mathematics|math|maths|physics|chemistry|biology|history|geography|economics|psychology|philosophy|computer science|engineering degree|medicine studies|literature|linguistics|sociology|political science|law school|finance|accounting|statistics|machine learning|artificial intelligence|astronomy|数学|物理|化学|生物|历史|地理|经济学|心理学|哲学|计算机|计算机科学|文学|语言学|社会学|法学|金融|会计学|统计学|机器学习|人工智能|天文学|医学|语文|政治",
    ),
    (
        Concept::Vehicle,
        "vehicle|car|transport|transportation|交通工具|车|座驾|车型",
        "truck|van|suv|sedan|motorcycle|motorbike|scooter|bicycle|bike|e bike|bus|train|subway|tram|taxi|boat|ship|ferry|plane|airplane|helicopter|toyota|honda|bmw|mercedes|audi|ford|volkswagen|prius|convertible|jeep|tesla model|camper van|drive|drove|driving|road test|car repair|\
         汽车|卡车|面包车|轿车|摩托车|摩托|电动车|自行车|单车|公交车|公交|火车|高铁|地铁|出租车|打车|船|轮渡|飞机|直升机|丰田|本田|宝马|奔驰|奥迪|福特|大众汽车|特斯拉|开车|买车|新能源车|房车|滑板车|比亚迪|蔚来|理想汽车|越野车",
    ),
    (
        Concept::Device,
        "device|gadget|appliance|equipment|设备|电器|电子产品|数码产品",
        "phone|smartphone|iphone|ipad|laptop|macbook|computer|pc|tablet|camera|headphone|headphones|earbuds|airpods|smartwatch|apple watch|watch strap|tv|television|monitor|printer|keyboard|mouse pad|router|speaker|kindle|gpu|rtx|cpu|server|hard drive|ssd|usb|charger|drone|fridge|refrigerator|oven|microwave|dishwasher|washing machine|vacuum|air fryer|coffee machine|espresso machine|blender|fitbit|thermostat|robot vacuum|\
         手机|智能手机|笔记本电脑|笔记本|电脑|平板|相机|耳机|手表|智能手表|电视|电视机|显示器|打印机|键盘|鼠标|路由器|音箱|显卡|服务器|硬盘|充电器|无人机|冰箱|烤箱|微波炉|洗碗机|洗衣机|吸尘器|空气炸锅|咖啡机|空调|扫地机器人|电饭煲|镜头",
    ),
    (
        Concept::Software,
        "software|app|application|program|programming language|tool|framework|软件|应用|程序|编程语言|工具|框架|操作系统",
        "windows|linux|macos|ubuntu|android|ios|python|java|javascript|typescript|rust language|golang|c++|docker|kubernetes|git|github|excel|photoshop|figma|notion|slack|zoom|chrome|vscode|vim|emacs|database|postgres|postgresql|mysql|redis|website|api|algorithm|code|coding|microservice|deploy|chatgpt|wechat|whatsapp|instagram|tiktok|twitter|youtube|reddit|\
         微信|支付宝|抖音|小红书|微博|知乎|钉钉|飞书|数据库|网站|代码|编程|写代码|算法|接口|部署|浏览器|插件|系统|公众号|小程序|哔哩哔哩|b站",
    ),
    (
        Concept::Clothing,
        "clothes|clothing|outfit|garment|衣服|服装|穿着|穿搭|服饰",
        "shirt|t shirt|dress|skirt|jeans|trousers|pants|shorts|jacket|coat|sweater|hoodie|suit|tie|scarf|hat|cap|glove|gloves|sock|socks|shoe|shoes|boots|sneakers|sandals|heels|underwear|pajamas|swimsuit|necklace|ring finger|earrings|bracelet|jewelry|jewellery|handbag|purse|backpack|sunglasses|belt|uniform|wear|wore|costume|blouse|cardigan|\
         衬衫|裙子|连衣裙|牛仔裤|裤子|短裤|夹克|外套|大衣|毛衣|卫衣|西装|领带|围巾|帽子|手套|袜子|鞋|鞋子|靴子|运动鞋|凉鞋|高跟鞋|内衣|睡衣|泳衣|项链|耳环|手链|首饰|包包|背包|墨镜|皮带|校服|旗袍|汉服|羽绒服|跑鞋|戒指",
    ),
    (
        Concept::Plant,
        "plant|flower|tree|植物|花|树|绿植|花卉",
        "rose|tulip|lily|lilies|sunflower|orchid|daisy|daisies|lavender|cactus|succulent|fern|bonsai|oak|pine|maple|cherry blossom|ivy|herb|basil|mint|rosemary|garden|gardening|seed|seedling|bouquet|monstera|jasmine|peony|peonies|dahlia|\
         玫瑰|郁金香|百合|向日葵|兰花|雏菊|薰衣草|仙人掌|多肉|多肉植物|盆栽|绿萝|樱花|薄荷|罗勒|迷迭香|花园|种花|养花|种子|花束|茉莉|牡丹|桂花|梅花|荷花|菊花|康乃馨|月季|君子兰|竹子|银杏|发财树",
    ),
    (
        Concept::Medicine,
        "medicine|medication|drug|药|药物|药品",
        "pill|tablets|antibiotic|ibuprofen|aspirin|paracetamol|acetaminophen|insulin|vitamin|vaccine|vaccination|inhaler|painkiller|antihistamine|prescription|dose|dosage|supplement|melatonin|metformin|statin|ointment|penicillin|amoxicillin|antidepressant|probiotic|\
         药片|抗生素|布洛芬|阿司匹林|对乙酰氨基酚|胰岛素|维生素|疫苗|吸入器|止痛药|处方|剂量|保健品|褪黑素|二甲双胍|降压药|药膏|青霉素|阿莫西林|头孢|中药|感冒药|打针|吃药|退烧药|降糖药",
    ),
    (
        Concept::Illness,
        "illness|disease|condition|symptom|health issue|health problem|疾病|病|症状|健康问题|毛病|不舒服",
        "flu|cold symptoms|caught a cold|fever|cough|headache|migraine|stomachache|nausea|diabetes|asthma|cancer|high blood pressure|hypertension|heart disease|stroke|arthritis|insomnia|depression|anxiety|adhd|autism|covid|pneumonia|infection|injury|injured|fracture|broken leg|broken arm|sprained|surgery|operation|hospitalized|diagnosed|diagnosis|back pain|sore throat|eczema|anemia|cholesterol|toothache|cavity|rash|dizzy|sick|burnout|concussion|ulcer|gastritis|\
         流感|感冒|发烧|咳嗽|头疼|头痛|偏头痛|胃疼|胃痛|恶心|糖尿病|哮喘|癌症|高血压|心脏病|中风|关节炎|失眠|抑郁|抑郁症|焦虑|焦虑症|自闭症|新冠|肺炎|感染|受伤|骨折|扭伤|手术|住院|确诊|诊断|腰疼|腰痛|嗓子疼|湿疹|贫血|高血脂|牙疼|牙痛|头晕|生病|胃炎|颈椎病|痛风|近视|胃溃疡|腹泻|拉肚子",
    ),
    (
        Concept::Allergy,
        "allergy|allergies|intolerance|过敏|过敏原|忌口",
        "allergic|allergen|lactose intolerant|gluten free|hay fever|pollen|epipen|hives|peanut allergy|花粉|花粉症|花粉过敏|乳糖不耐|乳糖不耐受|麸质|荨麻疹|过敏性鼻炎",
    ),
    (
        Concept::Exercise,
        "exercise|workout|fitness|锻炼|健身|运动",
        "gym|yoga|pilates|jogging|jog|run|ran|weight training|weights|cardio|hiit|push ups|pushups|squats|stretching|crossfit|zumba|aerobics|treadmill|personal trainer|steps a day|spin class|deadlift|bench press|plank|健身房|瑜伽|普拉提|慢跑|跑步|举重|有氧|俯卧撑|深蹲|拉伸|跳绳|跑步机|私教|减肥|减脂|增肌|仰卧起坐|广场舞|晨练|撸铁|动感单车",
    ),
    (
        Concept::Outdoor,
        "outdoor activity|outdoor activities|户外活动|户外",
        "hiking|hike|camping|camp|campfire|campsite|fishing|kayaking|kayak|canoeing|rafting|mountain biking|rock climbing|birdwatching|backpacking|picnic|tent|trail|stargazing|paragliding|bungee jumping|skydiving|snorkeling|biking|trekking|orienteering|safari|sledding|徒步|露营|野营|钓鱼|皮划艇|漂流|登山|爬山|山地车|攀岩|观星|野餐|帐篷|滑翔伞|蹦极|跳伞|浮潜|骑行|远足|篝火|越野跑|溯溪|采摘|放风筝",
    ),
    (
        Concept::Language,
        "language|语言|外语|方言",
        "english language|mandarin|cantonese|bilingual|fluent|fluently|accent|duolingo|ielts|toefl|dialect|translation|英语|法语|德语|西班牙语|日语|韩语|俄语|意大利语|葡萄牙语|阿拉伯语|普通话|粤语|中文|汉语|上海话|四川话|闽南语|双语|流利|口语|口音|托福|雅思|泰语|越南语|拉丁语|手语",
    ),
    (
        Concept::Religion,
        "religion|faith|belief|宗教|信仰",
        "christian|christianity|catholic|protestant|muslim|islam|buddhist|buddhism|hindu|hinduism|jewish|judaism|atheist|agnostic|church|mosque|synagogue|temple|pray|prayer|bible|quran|god|spiritual|ramadan|lent|monk|priest|pastor|基督教|基督徒|天主教|伊斯兰教|穆斯林|佛教|信佛|道教|印度教|犹太教|无神论|教堂|清真寺|寺庙|祈祷|圣经|古兰经|上帝|佛|和尚|斋月|牧师|烧香|拜佛",
    ),
    (
        Concept::Charity,
        "charity|charities|volunteering|volunteer work|cause|nonprofit|慈善|公益|志愿服务|公益活动|慈善机构",
        "volunteer|volunteered|donate|donated|donation|fundraiser|fundraising|homeless shelter|animal shelter|food bank|soup kitchen|red cross|unicef|ngo|charity run|mentoring|community service|community work|志愿者|义工|捐款|捐赠|募捐|收容所|红十字会|希望工程|支教|义卖|献血|捐血|救助站",
    ),
    (
        Concept::Money,
        "money|price|cost|budget|salary|income|expense|fee|钱|价格|费用|预算|工资|收入|花费|多少钱|薪水",
        "dollar|euro|pound sterling|yuan|rmb|cash|loan|mortgage|debt|savings|invest|investment|stock market|stocks|crypto|bitcoin|tax|taxes|rent|bill|invoice|refund|discount|credit card|bank account|insurance|pension|deposit|tip money|cheap|expensive|paid|pay|sold|人民币|美元|欧元|现金|贷款|房贷|车贷|债|存款|投资|股票|基金|比特币|税|房租|租金|账单|发票|退款|折扣|信用卡|银行卡|保险|养老金|押金|便宜|贵|报销|奖金|工资条|理财|红包",
    ),
    (
        Concept::Home,
        "home|house|apartment|flat|room|accommodation|家里|房子|公寓|房间|住处|住所|住宅",
        "bedroom|kitchen|bathroom|living room|balcony|garage|basement|attic|backyard|studio apartment|condo|townhouse|roof|renovation|renovate|moved house|moved into|move in|landlord|tenant|lease|rented|fireplace|卧室|厨房|浴室|卫生间|客厅|阳台|地下室|阁楼|院子|单间|别墅|装修|搬家|房东|租客|租房|租约|合租|买房|书房|新房|小区|次卧|主卧",
    ),
    (
        Concept::Furniture,
        "furniture|家具",
        "sofa|couch|chair|table|desk|bed|mattress|bookshelf|shelf|wardrobe|lamp|rug|carpet|curtain|cabinet|drawer|dresser|bookcase|nightstand|armchair|沙发|椅子|桌子|书桌|床|床垫|书架|架子|衣柜|台灯|地毯|窗帘|柜子|抽屉|茶几|餐桌|鞋柜|床头柜",
    ),
    (
        Concept::Colour,
        "colour|color|shade|颜色|色",
        "red|blue|green|yellow|orange|purple|pink|black|white|grey|gray|brown|beige|turquoise|teal|navy|navy blue|gold|silver|violet|magenta|crimson|maroon|lavender|红色|蓝色|绿色|黄色|橙色|紫色|粉色|粉红色|黑色|白色|灰色|棕色|米色|青色|深蓝色|金色|银色|咖啡色|天蓝色|墨绿色|红|蓝|绿|黑|白",
    ),
    (
        Concept::Weather,
        "weather|climate|temperature|天气|气候|气温",
        "rain|rained|rainy|snow|snowed|snowy|sunny|cloudy|windy|storm|thunderstorm|hurricane|typhoon|fog|foggy|humid|heatwave|hot weather|freezing|degrees|forecast|drizzle|hail|下雨|下雪|晴天|晴|多云|刮风|大风|暴雨|台风|雾|雾霾|潮湿|炎热|寒冷|零下|天气预报|阴天|闷热|降温|梅雨",
    ),
    (
        Concept::Holiday,
        "holiday|festival|public holiday|节日|假期|节假日|放假",
        "christmas|easter|thanksgiving day|thanksgiving|halloween|new year|new year's eve|hanukkah|diwali|eid|valentine's day|valentine|lunar new year|chinese new year|spring festival|mid autumn festival|dragon boat festival|independence day|labor day|mother's day|father's day|圣诞|圣诞节|复活节|感恩节|万圣节|元旦|新年|春节|过年|除夕|中秋|中秋节|端午|端午节|清明|清明节|国庆|国庆节|劳动节|五一|十一|情人节|七夕|元宵节|母亲节|父亲节|重阳节|儿童节|双十一|暑假|寒假",
    ),
    (
        Concept::Emotion,
        "emotion|feeling|mood|fear|情绪|感受|心情|感觉",
        "happy|happiness|sad|angry|anger|anxious|worried|scared|afraid|excited|nervous|stressed|stress|lonely|proud|jealous|grateful|thankful|upset|frustrated|disappointed|joy|love|hate|overwhelmed|relieved|relaxed|bored|depressed|hopeful|ashamed|embarrassed|thrilled|inspired|motivated|heartbroken|高兴|开心|快乐|难过|伤心|生气|愤怒|担心|害怕|恐惧|兴奋|紧张|压力|孤独|骄傲|自豪|嫉妒|感激|感动|沮丧|失望|喜悦|焦虑|放松|无聊|郁闷|激动|尴尬|后悔|烦|烦恼|委屈",
    ),
    (
        Concept::Award,
        "award|prize|medal|trophy|奖|奖项|奖牌|荣誉|获奖",
        "won|winner|champion|championship|first place|second place|gold medal|silver medal|bronze medal|scholarship|nobel|grammy|nominated|honor|honour|certificate of merit|runner up|冠军|亚军|季军|金牌|银牌|铜牌|第一名|奖学金|诺贝尔奖|获得|赢了|一等奖|二等奖|优秀员工|中奖|奖杯|奖状",
    ),
    (
        Concept::Body,
        "body part|body|身体部位|身体|部位",
        "head|eye|ear|nose|mouth|tooth|teeth|neck|shoulder|arm|elbow|wrist|hand|finger|chest|back pain|stomach|hip|leg|knee|ankle|foot|feet|toe|skin|hair|heart|lung|liver|kidney|brain|bone|muscle|tattoo|头|眼睛|耳朵|鼻子|嘴|牙|牙齿|脖子|肩膀|肩|胳膊|手肘|手腕|手指|胸|背|肚子|胃|腿|膝盖|脚踝|脚|皮肤|头发|心脏|肺|肝|肾|大脑|骨头|肌肉|腰|颈椎|纹身|左手|右手",
    ),
    (
        Concept::Birthday,
        "birthday|date of birth|生日|出生日期",
        "happy birthday|生日快乐|birthday party|birthday gift|turned thirty|born|过生日|生日派对|生日礼物|生于|出生于|寿辰|周岁",
    ),
    (Concept::Age, "age|年龄|年纪|岁数", "years old|year old|aged|岁|周岁|虚岁"),
    (Concept::Number, "number|amount|quantity|数字|数量|号码|个数", ""),
    (Concept::Date, "date|day|日期|日子|哪天", ""),
    (
        Concept::Time,
        "time|时间|时刻|钟点",
        "o'clock|a.m|p.m|am|pm|noon|midnight|点钟|点半|中午|午夜|凌晨|闹钟",
    ),
    (Concept::Duration, "duration|length of time|时长|多久|期限", ""),
    (
        Concept::Dance,
        "dance|舞蹈|舞",
        "dancing|danced|dancer|ballet|salsa|tango|waltz|swing dance|contemporary dance|tap dance|ballroom|dance class|dance studio|choreography|跳舞|芭蕾|芭蕾舞|探戈|华尔兹|街舞|民族舞|拉丁舞|广场舞|舞蹈课|现代舞|肚皮舞",
    ),
    (
        Concept::Writing,
        "writing|写作|文章",
        "write|wrote|written|poem|poetry|essay|article|blog|diary|journal|screenplay|short story|script|manuscript|published|newsletter|letter|写诗|写书|写文章|作文|博客|日记|剧本|手稿|出版|写小说|投稿|书信|发表",
    ),
    (
        Concept::Photo,
        "photo|picture|photograph|照片|相片|图片",
        "photography|camera|selfie|snapshot|photo album|took a picture|photographed|摄影|拍照|自拍|相册|拍了|合影|合照|拍摄|胶片",
    ),
    (
        Concept::Cooking,
        "cooking|baking|烹饪|烘焙|做饭|下厨",
        "cook|cooked|bake|baked|recipe|chef|grill|roast|stir fried|culinary|homemade|cooking class|做菜|炒菜|煲汤|烤面包|包饺子|烧菜|菜谱|炖|蒸",
    ),
    (
        Concept::Plan,
        "plan|goal|dream|resolution|intention|ambition|计划|目标|打算|梦想|愿望|规划|安排",
        "planning|hope to|hoping|want to|would like to|going to|aim|thinking about|thinking of|considering|decided|intend|look forward|looking forward|bucket list|想要|准备|希望|决定|考虑|期待|立志|想去|争取",
    ),
    (
        Concept::Toy,
        "toy|玩具",
        "doll|lego|teddy bear|puzzle|stuffed animal|action figure|kite|yo yo|rubik|plush|乐高|娃娃|洋娃娃|积木|毛绒玩具|手办|盲盒|风筝|魔方|玩偶|泰迪熊",
    ),
    (
        Concept::Contact,
        "phone number|email address|email|contact|address|电话|电话号码|邮箱|联系方式|地址|手机号|微信号|qq号",
        "telephone|mailbox|postcode|zip code|e mail|username|handle|邮编|住址|电子邮件|邮件|用户名",
    ),
    (
        Concept::Gift,
        "gift|present|礼物|礼品",
        "gave me|given to me|received a|souvenir|gift card|bouquet|surprise|necklace from|送给|送我|送了|收到|纪念品|礼品卡|红包|伴手礼|特产",
    ),
    (
        Concept::Meeting,
        "meeting|appointment|interview|会议|预约|约会|面试|会面",
        "schedule|scheduled|agenda|standup|stand up meeting|conference call|one on one|reminder|deadline|check up|checkup|met with|video call|日程|议程|例会|周会|开会|提醒|截止日期|体检|复诊|复查|见面|挂号|视频会议|站会",
    ),
    (
        Concept::Identity,
        "identity|gender|orientation|nationality|ethnicity|身份|性别|国籍|民族|籍贯",
        "transgender|trans|nonbinary|lgbtq|lgbt|gay|lesbian|bisexual|queer|pride|immigrant|citizen|zodiac|星座|属相|汉族|回族|户口|跨性别|同性恋|白羊座|金牛座|双子座|巨蟹座|狮子座|处女座|天秤座|天蝎座|射手座|摩羯座|水瓶座|双鱼座",
    ),
    (
        Concept::Document,
        "document|file|report|certificate|文件|文档|报告|证件|资料",
        "contract|passport|driver's license|driving licence|license|id card|invoice|receipt|spreadsheet|slides|presentation|pdf|manual|resume|cv|合同|护照|驾照|身份证|发票|收据|表格|幻灯片|简历|说明书|户口本|社保卡|签证|房产证",
    ),
    (
        Concept::Problem,
        "problem|issue|error|bug|challenge|difficulty|setback|struggle|问题|故障|错误|困难|挑战|麻烦|挫折",
        "broken|broke|crashed|crash|failed|failure|failing|outage|leak|leaking|stolen|accident|damage|damaged|complaint|timeout|incident|坏了|崩溃|失败|宕机|漏水|被偷|事故|损坏|投诉|超时|报错|丢了|出错|堵车",
    ),
    (
        Concept::Project,
        "project|task|assignment|项目|任务|工程",
        "milestone|release|launch|launched|roadmap|sprint|prototype|repository|milestone plan|里程碑|发布|上线|路线图|迭代|原型|仓库|需求|课题|开源项目",
    ),
    (
        Concept::Preference,
        "favourite|favorite|preference|最喜欢|最爱|偏好|喜好",
        "prefer|prefers|preferred|like|likes|liked|love|loves|loved|enjoy|enjoys|enjoyed|dislike|dislikes|hate|hates|can't stand|fond of|keen on|into|喜欢|爱|讨厌|不喜欢|偏爱|热爱|受不了|感兴趣|更喜欢|迷上",
    ),
];
