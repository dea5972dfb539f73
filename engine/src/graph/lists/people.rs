//! Given names in English, surnames in Chinese.

/// Common given names. Those that are common words too (Will, May, Mark) need more signs.
pub(in crate::graph) const PEOPLE: &str = "will|mark|bill|grace|rose|james|john|robert|michael|mike|william|david|richard|joseph|thomas|tom|charles|christopher|chris|daniel|dan|matthew|matt|anthony|tony|donald|steven|steve|stephen|paul|andrew|andy|joshua|josh|kenneth|ken|kevin|brian|george|edward|eddie|\
    timothy|tim|ronald|ron|jason|jeffrey|jeff|ryan|jacob|jake|gary|nicholas|nick|eric|jonathan|jon|larry|justin|scott|brandon|benjamin|ben|samuel|sam|gregory|greg|alexander|alex|patrick|jack|dennis|jerry|tyler|aaron|jose|adam|nathan|henry|harry|zachary|zach|douglas|peter|\
    kyle|noah|ethan|jeremy|walter|keith|roger|terry|austin|sean|gerald|carl|dylan|harold|jordan|jesse|bryan|lawrence|arthur|gabriel|bruce|logan|billy|joe|joey|alan|juan|elijah|albert|willie|wayne|randy|vincent|liam|mason|oliver|oscar|lucas|luke|leo|max|theo|felix|hugo|simon|martin|\
    philip|phil|ralph|roy|eugene|russell|bobby|bob|louis|johnny|fred|frank|stanley|leonard|ted|dave|rob|jim|jimmy|tommy|danny|mateo|diego|carlos|luis|miguel|pedro|pablo|antonio|marco|luca|giovanni|matteo|pierre|jean|jacques|hans|klaus|jürgen|lars|sven|erik|ivan|dmitri|sergei|\
    vladimir|igor|boris|mohammed|muhammad|mohamed|ahmed|ali|omar|hassan|ibrahim|yusuf|raj|rahul|amit|arjun|vikram|sanjay|ravi|kenji|hiroshi|takeshi|yuki|haruto|wei|ming|jun|minho|\
    mary|patricia|jennifer|jenny|jen|linda|elizabeth|liz|beth|barbara|susan|sue|jessica|jess|sarah|karen|lisa|nancy|betty|sandra|margaret|maggie|ashley|kimberly|kim|emily|emma|donna|michelle|carol|amanda|melissa|deborah|stephanie|rebecca|becky|laura|sharon|cynthia|kathleen|kathy|amy|\
    angela|shirley|anna|ann|anne|brenda|pamela|pam|nicole|helen|samantha|katherine|kate|katie|christine|christina|debra|rachel|carolyn|caroline|janet|catherine|cathy|maria|heather|diane|ruth|julie|julia|olivia|joyce|virginia|victoria|kelly|lauren|joan|evelyn|judith|judy|megan|andrea|\
    cheryl|hannah|jacqueline|martha|gloria|teresa|sara|janice|marie|madison|frances|kathryn|jean|abigail|abby|alice|sophia|sophie|isabella|isabel|mia|charlotte|amelia|harper|ella|chloe|zoe|lily|lucy|nora|clara|eva|ava|ellen|claire|diana|molly|jane|jill|melanie|tina|wendy|monica|gina|\
    mel|priya|anita|deepa|meera|lakshmi|fatima|aisha|layla|leila|yasmin|mei|ling|yuna|sakura|naomi|keiko|akiko|elena|olga|natasha|tatiana|irina|svetlana|ingrid|astrid|freya|greta|heidi|lucia|sofia|camila|valentina|gabriela|carmen|rosa|francesca|giulia|chiara|camille|juliette|\
    caleb|calvin|melina|joanna|audrey|gina|evan|nate|jolene|deb|debbie|shannon|tracy|stacy|tiffany|vanessa|erin|brooke|paige|hailey|kayla|alexis|brittany|danielle|jasmine|courtney|sierra|savannah|penelope|stella|hazel|violet|ruby|iris|ivy|maya|tara|nina|lena|mira|tess|bella|rex|buddy|charlie|archie|\
    neil|graham|stuart|ian|craig|derek|trevor|nigel|colin|malcolm|duncan|fiona|gemma|imogen|poppy|niamh|siobhan|aoife|ciara|declan|conor|connor|owen|rhys|gareth|megan|angus|hamish|callum|finn|jasper|miles|elliot|elliott|toby|ollie|alfie|freddie|reggie|ronnie|vince|victor|hector|edgar|edwin|\
    安娜|汤姆|杰克|玛丽|约翰|露西|莉莉|艾米|艾玛|大卫|迈克|彼得|保罗|詹姆斯|罗伯特|丽莎|苏珊|凯特|凯蒂|安妮|爱丽丝|鲍勃|卡罗琳|梅兰妮|亚历克斯|本杰明|丹尼尔|托马斯|马克|卢克|索菲亚|索菲|奥利维亚|伊莎贝拉|米娅|艾丽|琳达|珍妮|杰西卡|凯文|史蒂夫|尼克|萨姆|山姆|乔治|亨利|查理|威廉|艾伦|琼|海伦|朱莉|茱莉亚|劳拉|瑞秋|莫妮卡|菲比|钱德勒|罗斯|乔伊";

/// The usual Chinese surnames of one character, in simplified form.
pub(in crate::graph) const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝";

/// Characters that given names are usually made of.
pub(in crate::graph) const GIVEN_CHARACTERS: &str = "伟芳娜秀英敏静丽强磊军洋勇艳杰娟涛明超霞平刚桂红建国华志文玉兰林海峰晓东辉鹏飞宇轩浩然子涵欣怡梓梦婷雪佳琪嘉俊思雨晨阳博瑞泽睿航天宁宏斌彬波凯健康龙云鑫森帆帅昊昕晶晖景春秋冬梅莲菊琴珍珠凤燕莉萍蓉薇蕾茜莹璐瑶琳瑾玲珊倩颖慧惠淑贤美爱心怀德仁义礼智信诚忠孝和安乐喜福禄寿荣富贵振兴中立新民生长永庆成功业光亮耀祖宗小大少一天元启正清江河山石松柏楠桐枫竹青蓝紫白墨翰书诗画琪琦璇玥悦妍媛嫣娇婉娥娅妮姗姝娴婧嫚诺依伊菲芷若芸芬芝茵荷蕙薛蔓曼曦晴昱旭晟星月辰坤乾毅恒恩惟悠忆念恺悟悦胜利岩岚峻崇川州洲沛泓泉洁津浦润涵淼渊源溪滨灵炎炜烨焕煜燃尧友双发向群先克全力加卫";
