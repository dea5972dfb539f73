//! The form in which characters are compared: one character for one, so that places hold.

/// Traditional characters of the lexicon's words, each followed by its simplified form.
const TRADITIONAL: &str = "嗎吗麼么樂乐書书電电臺台學学習习師师醫医貓猫魚鱼鳥鸟馬马龍龙龜龟烏乌雞鸡鴨鸭鵝鹅豬猪\
飯饭麵面湯汤魷鱿餃饺餅饼飲饮蘋苹藍蓝綠绿紅红黃黄紫紫顏颜車车機机飛飞輪轮腳脚雙双軟软體体頭头髮发臉脸\
國国語语漢汉韓韩東东北北長长門门開开關关問问聽听說说話话誰谁請请謝谢對对錯错認认識识記记誌志論论討讨\
訪访談谈計计劃划買买賣卖錢钱價价貴贵費费賽赛賞赏獎奖遊游戲戏運运動动滑滑過过還还這这裡里裏里個个們们\
媽妈爸爸爺爷奶奶姊姐妹妹孫孙兒儿嬰婴婦妇親亲愛爱戀恋結结婚婚歲岁號号點点鐘钟時时間间週周級级業业職职\
員员廠厂產产餐餐廳厅館馆園园場场橋桥樓楼層层屋屋燈灯視视歡欢氣气溫温熱热風风雲云陰阴陽阳雨雨雪雪\
藥药療疗瘡疮癌癌病病痛痛過过敏敏鼻鼻齒齿傷伤護护養养寵宠狗狗種种樹树葉叶蘭兰薔蔷營营露露釣钓繪绘\
畫画寫写讀读詩诗詞词歌歌曲曲劇剧團团隊队會会議议節节慶庆聖圣誕诞賀贺禮礼物物筆笔紙纸鋼钢鐵铁銀银\
線线網网絡络軟软碼码郵邮設设備备顯显螢荧幕幕鍵键盤盘鼠鼠標标聯联繫系絲丝綢绸襯衬褲裤裙裙襪袜帽帽\
簡简單单雜杂難难題题從从來来後后從从應应該该當当與与並并無无沒没為为於于著着給给讓让將将進进遠远邊边\
處处幾几萬万億亿歷历史史經经濟济數数學学驗验測测檢检實实際际類类樣样歐欧亞亚羅罗蘇苏倫伦紐纽約约灣湾\
廣广雙双慶庆漢汉濱滨瀋沈寧宁鄭郑濟济連连島岛門门灘滩蘭兰貝贝爾尔帳账戶户單单貨货訂订陳陈劉刘楊杨趙赵\
吳吴孫孙許许鄧邓馮冯蕭萧葉叶蔣蒋賈贾鍾钟譚谭陸陆鄒邹賀贺賴赖龔龚嚴严盧卢蘇苏鄰邻導导闆板總总課课\
製制作作參参預预歲岁離离總总練练鍛锻鍊炼";

/// The form of one character: width, apostrophes, hyphens, simplified Chinese.
pub(super) fn fold(character: char) -> char {
    match character {
        '\0'..='\u{7f}' => character,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(character as u32 - 0xfee0).unwrap_or(character),
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        'İ' => 'I',
        '\u{4e00}'..='\u{9fff}' => simplified(character),
        _ => character,
    }
}

fn simplified(character: char) -> char {
    use std::sync::LazyLock;
    static TABLE: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
        let characters: Vec<char> = TRADITIONAL.chars().collect();
        let mut table: Vec<(char, char)> = characters
            .chunks_exact(2)
            .map(|pair| (pair[0], pair[1]))
            .filter(|(from, to)| from != to)
            .collect();
        table.sort_unstable();
        table.dedup_by_key(|(from, _)| *from);
        table
    });
    TABLE.binary_search_by_key(&character, |(from, _)| *from).map_or(character, |at| TABLE[at].1)
}
