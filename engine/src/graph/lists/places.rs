//! Cities, countries and regions by name.

use crate::graph::Concept;

/// The concept, and the names of the places.
pub(in crate::graph) const PLACES: &[(Concept, &str)] = &[
    (
        Concept::Country,
        "afghanistan|albania|algeria|argentina|armenia|australia|austria|azerbaijan|bahrain|bangladesh|belarus|belgium|bolivia|bosnia|botswana|brazil|bulgaria|cambodia|cameroon|canada|chile|china|colombia|costa rica|croatia|cuba|\
         cyprus|czech republic|czechia|denmark|dominican republic|ecuador|egypt|england|estonia|ethiopia|fiji|finland|france|georgia|germany|ghana|greece|guatemala|haiti|honduras|hungary|iceland|india|indonesia|iran|iraq|ireland|northern ireland|israel|\
         italy|jamaica|japan|jordan|kazakhstan|kenya|kuwait|kyrgyzstan|laos|latvia|lebanon|libya|lithuania|luxembourg|madagascar|malaysia|maldives|mali|malta|mauritius|mexico|moldova|monaco|mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal|\
         netherlands|new zealand|nicaragua|nigeria|north korea|north macedonia|norway|oman|pakistan|panama|paraguay|peru|philippines|poland|portugal|qatar|romania|russia|rwanda|saudi arabia|scotland|senegal|serbia|singapore|slovakia|slovenia|somalia|\
         south africa|south korea|korea|spain|sri lanka|sudan|sweden|switzerland|syria|taiwan|tanzania|thailand|tunisia|turkey|turkmenistan|uganda|ukraine|united arab emirates|uae|united kingdom|uk|united states|usa|america|uruguay|uzbekistan|venezuela|vietnam|\
         wales|yemen|zambia|zimbabwe|great britain|britain|holland|europe|asia|africa|south america|north america|antarctica|middle east|scandinavia|tibet|\
         中国|美国|英国|法国|德国|日本|韩国|朝鲜|俄罗斯|加拿大|澳大利亚|澳洲|新西兰|意大利|西班牙|葡萄牙|荷兰|比利时|瑞士|瑞典|挪威|丹麦|芬兰|冰岛|爱尔兰|奥地利|希腊|土耳其|波兰|捷克|匈牙利|乌克兰|罗马尼亚|印度|巴基斯坦|孟加拉国|尼泊尔|斯里兰卡|\
         马来西亚|新加坡|泰国|越南|印度尼西亚|印尼|菲律宾|柬埔寨|老挝|缅甸|蒙古|哈萨克斯坦|伊朗|伊拉克|以色列|沙特|沙特阿拉伯|阿联酋|卡塔尔|埃及|摩洛哥|南非|肯尼亚|埃塞俄比亚|尼日利亚|巴西|阿根廷|智利|秘鲁|哥伦比亚|墨西哥|古巴|马尔代夫|欧洲|亚洲|非洲|南美|北美|东南亚|中东|苏格兰|英格兰|台湾|叙利亚|约旦|毛里求斯|斐济|克罗地亚|塞尔维亚",
    ),
    (
        Concept::Nature,
        "grand canyon|mount fuji|mount everest|niagara falls|great wall|lake tahoe|central park|times square|golden gate bridge|eiffel tower|death valley|the alps|rocky mountains|sahara|amazon river|nile|great barrier reef|lake district|富士山|珠穆朗玛峰|尼亚加拉大瀑布|阿尔卑斯山|埃菲尔铁塔",
    ),
    (
        Concept::City,
        "new york|new york city|nyc|los angeles|chicago|houston|phoenix|philadelphia|san antonio|san diego|dallas|san jose|austin|san francisco|seattle|denver|washington|washington dc|boston|las vegas|detroit|portland|memphis|nashville|baltimore|milwaukee|atlanta|miami|\
         oakland|minneapolis|tampa|new orleans|cleveland|honolulu|orlando|pittsburgh|cincinnati|salt lake city|palo alto|mountain view|brooklyn|manhattan|queens|sacramento|kansas city|st louis|charlotte|indianapolis|columbus|tucson|santa monica|santa barbara|\
         toronto|vancouver|montreal|ottawa|calgary|edmonton|quebec|quebec city|mexico city|cancun|havana|bogota|lima|santiago|buenos aires|rio|rio de janeiro|sao paulo|são paulo|brasilia|caracas|quito|montevideo|cusco|\
         london|manchester|birmingham|liverpool|leeds|bristol|edinburgh|glasgow|cardiff|belfast|oxford|cambridge|brighton|york|sheffield|newcastle|bath|dublin|cork|galway|paris|lyon|marseille|nice|bordeaux|toulouse|strasbourg|lille|nantes|berlin|munich|hamburg|cologne|frankfurt|stuttgart|düsseldorf|dusseldorf|leipzig|\
         dresden|bremen|hannover|nuremberg|heidelberg|vienna|salzburg|innsbruck|zurich|zürich|geneva|basel|bern|lausanne|rome|milan|florence|venice|naples|turin|bologna|verona|pisa|palermo|madrid|barcelona|seville|valencia|granada|malaga|bilbao|lisbon|porto|amsterdam|rotterdam|the hague|utrecht|eindhoven|\
         brussels|antwerp|bruges|ghent|copenhagen|aarhus|stockholm|gothenburg|malmö|oslo|bergen|helsinki|reykjavik|tallinn|riga|vilnius|warsaw|krakow|gdansk|prague|brno|budapest|bratislava|ljubljana|zagreb|split|dubrovnik|belgrade|sarajevo|sofia|bucharest|athens|thessaloniki|istanbul|ankara|izmir|antalya|\
         moscow|saint petersburg|st petersburg|kyiv|kiev|lviv|minsk|tbilisi|yerevan|baku|almaty|tashkent|tehran|baghdad|jerusalem|tel aviv|haifa|beirut|amman|damascus|riyadh|jeddah|mecca|dubai|abu dhabi|doha|muscat|kuwait city|cairo|alexandria|casablanca|marrakesh|marrakech|tunis|lagos|accra|nairobi|addis ababa|\
         kampala|kigali|johannesburg|cape town|durban|delhi|new delhi|mumbai|bangalore|bengaluru|chennai|hyderabad|kolkata|pune|jaipur|goa|agra|karachi|lahore|islamabad|dhaka|kathmandu|colombo|bangkok|phuket|chiang mai|hanoi|ho chi minh city|saigon|da nang|phnom penh|siem reap|vientiane|yangon|kuala lumpur|penang|\
         jakarta|bali|bandung|manila|cebu|tokyo|osaka|kyoto|yokohama|nagoya|sapporo|fukuoka|kobe|nara|hiroshima|okinawa|hokkaido|seoul|busan|jeju|pyongyang|taipei|kaohsiung|hong kong|macau|beijing|shanghai|guangzhou|shenzhen|chengdu|chongqing|hangzhou|nanjing|suzhou|wuhan|xi'an|xian|tianjin|qingdao|dalian|xiamen|\
         kunming|lijiang|dali|harbin|shenyang|changsha|zhengzhou|jinan|ningbo|hefei|fuzhou|guilin|sanya|lhasa|urumqi|sydney|melbourne|brisbane|perth|adelaide|canberra|gold coast|hobart|auckland|wellington|christchurch|queenstown|california|texas|florida|hawaii|alaska|colorado|oregon|nevada|utah|arizona|ohio|michigan|illinois|\
         massachusetts|connecticut|new jersey|new mexico|new hampshire|maine|vermont|virginia|north carolina|south carolina|tennessee|kentucky|louisiana|minnesota|wisconsin|montana|wyoming|idaho|pennsylvania|maryland|ontario|british columbia|alberta|bavaria|tuscany|sicily|provence|catalonia|andalusia|silicon valley|yosemite|yellowstone|\
         北京|上海|广州|深圳|成都|重庆|杭州|南京|苏州|武汉|西安|天津|青岛|大连|厦门|昆明|丽江|大理|哈尔滨|沈阳|长春|长沙|郑州|济南|宁波|合肥|福州|桂林|三亚|海口|拉萨|乌鲁木齐|石家庄|太原|呼和浩特|南昌|南宁|贵阳|兰州|西宁|银川|无锡|常州|佛山|东莞|珠海|中山|惠州|汕头|温州|绍兴|\
         嘉兴|扬州|徐州|烟台|威海|洛阳|开封|泉州|秦皇岛|唐山|保定|大同|延安|敦煌|喀什|香格里拉|西双版纳|景德镇|香港|澳门|台北|高雄|台中|台南|浦东|海淀|朝阳区|中关村|陆家嘴|\
         四川|广东|浙江|江苏|山东|河南|河北|湖南|湖北|福建|安徽|江西|陕西|山西|云南|贵州|广西|海南|甘肃|青海|宁夏|新疆|西藏|内蒙古|黑龙江|吉林|辽宁|\
         纽约|洛杉矶|旧金山|芝加哥|西雅图|波士顿|华盛顿|休斯顿|拉斯维加斯|夏威夷|迈阿密|费城|圣地亚哥|硅谷|加州|德州|多伦多|温哥华|蒙特利尔|渥太华|伦敦|曼彻斯特|利物浦|爱丁堡|剑桥|牛津|都柏林|巴黎|里昂|马赛|尼斯|柏林|慕尼黑|汉堡市|法兰克福|科隆|维也纳|萨尔茨堡|苏黎世|日内瓦|\
         罗马|米兰|佛罗伦萨|威尼斯|那不勒斯|马德里|巴塞罗那|里斯本|阿姆斯特丹|鹿特丹|布鲁塞尔|哥本哈根|斯德哥尔摩|奥斯陆|赫尔辛基|雷克雅未克|华沙|布拉格|布达佩斯|雅典|伊斯坦布尔|莫斯科|圣彼得堡|基辅|迪拜|阿布扎比|多哈|开罗|开普敦|约翰内斯堡|内罗毕|新德里|孟买|班加罗尔|曼谷|清迈|普吉岛|普吉|\
         河内|胡志明市|吉隆坡|槟城|雅加达|巴厘岛|马尼拉|长滩岛|东京|大阪|京都|横滨|名古屋|札幌|福冈|神户|奈良|广岛|冲绳|北海道|首尔|釜山|济州岛|济州|悉尼|墨尔本|布里斯班|珀斯|堪培拉|奥克兰|惠灵顿|皇后镇|墨西哥城|里约热内卢|里约|圣保罗|布宜诺斯艾利斯|利马",
    ),
];
