//! The tokens of scripts without spaces between words, and of their neighbour Tibetan: against cases
//! that were written and cut without a program, and against the clusters of UAX #29.

use crate::common;
use icu_properties::CodePointMapData;
use icu_properties::props::LineBreak;
use lookalike::base::progress::{Silent, Stop};
use lookalike::engine::pipeline::{self, selected_inputs};
use lookalike::tasks::contamination::{self, ContaminationConfig};
use lookalike::tasks::passages::{self, Of, PassagesConfig, Then};
use lookalike::text::parse::{ParseConfig, Parser, TokenConsumer, Tokens};
use lookalike::text::read::{ContentKind, RawDocument};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use std::fs;

use common::{Run, cells_of, temporary};

struct Joined(String);

impl TokenConsumer for Joined {
    fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
        self.0.push_str(std::str::from_utf8(tokens.bytes).unwrap());
        tokens.bytes.len()
    }
}

/// The tokens of a text, with lines between them.
fn tokens(text: &str) -> String {
    let document = RawDocument::of_text(text, ContentKind::Text);
    let mut joined = Joined(String::new());
    Parser::new(&ParseConfig::default()).parse(&document, &mut joined);
    joined.0.replace(' ', "|")
}

const CASES: [(&str, &[(&str, &str)]); 10] = [
    (
        "Thai",
        &[
            ("ภาษาไทย", "ภ|า|ษ|า|ไ|ท|ย"),
            ("น้ำ", "น้ำ"),
            ("ที่นี่", "ที่|นี่"),
            ("กรุงเทพฯ", "ก|รุ|ง|เ|ท|พ|ฯ"),
            ("เด็กๆ", "เ|ด็|ก|ๆ"),
            ("๑๒๓ บาท", "๑๒๓|บ|า|ท"),
            ("iPhone15รุ่นใหม่", "iphone15|รุ่|น|ใ|ห|ม่"),
            ("ก.ค. ๒๕๖๗", "ก|ค|๒๕๖๗"),
            ("ราคา฿50", "ร|า|ค|า|50"),
            ("แม่น้ำเจ้าพระยา", "แ|ม่|น้ำ|เ|จ้|า|พ|ร|ะ|ย|า"),
            ("ภาษา\u{200b}ไทย", "ภ|า|ษ|า|ไ|ท|ย"),
            // Marks in another order.
            ("ป\u{e48}\u{e39}", "ป\u{e39}\u{e48}"),
            ("\"ไทย'ไทย\"", "ไ|ท|ย|ไ|ท|ย"),
        ],
    ),
    (
        "Lao",
        &[
            ("ພາສາລາວ", "ພ|າ|ສ|າ|ລ|າ|ວ"),
            ("ນ້ຳ", "ນ້ຳ"),
            ("ສະບາຍດີ", "ສ|ະ|ບ|າ|ຍ|ດີ"),
            ("ຂອບໃຈ", "ຂ|ອ|ບ|ໃ|ຈ"),
            ("ປະເທດລາວ", "ປ|ະ|ເ|ທ|ດ|ລ|າ|ວ"),
            ("ໜັງສື", "ໜັ|ງ|ສື"),
            ("໑໒໓ ກີບ", "໑໒໓|ກີ|ບ"),
            ("ເລື້ອຍໆ", "ເ|ລື້|ອ|ຍ|ໆ"),
            ("ວຽງຈັນ 2024", "ວ|ຽ|ງ|ຈັ|ນ|2024"),
            ("ຄົນ, ຄົນ", "ຄົ|ນ|ຄົ|ນ"),
            ("LaoລາວLao", "lao|ລ|າ|ວ|lao"),
        ],
    ),
    (
        "Khmer",
        &[
            ("ភាសាខ្មែរ", "ភា|សា|ខ្មែ|រ"),
            ("កម្ពុជា", "ក|ម្ពុ|ជា"),
            ("ភ្នំពេញ", "ភ្នំ|ពេ|ញ"),
            ("ព្រះរាជា", "ព្រះ|រា|ជា"),
            // Two consonants below the first.
            ("ស្ត្រី", "ស្ត្រី"),
            ("១២៣ រៀល", "១២៣|រៀ|ល"),
            ("ផ្សេងៗ", "ផ្សេ|ង|ៗ"),
            ("សួស្តី។ តើ", "សួ|ស្តី|តើ"),
            ("ខ្ញុំ\u{200b}ទៅ", "ខ្ញុំ|ទៅ"),
            ("500៛", "500"),
            ("ឥឡូវ", "ឥ|ឡូ|វ"),
            ("ក៏", "ក៏"),
            // No consonant goes below a vowel with a place of its own.
            ("កា\u{17d2}ខ", "កា\u{17d2}|ខ"),
            ("Windowsខ្មែរ", "windows|ខ្មែ|រ"),
        ],
    ),
    (
        "Myanmar",
        &[
            ("မြန်မာ", "မြ|န်|မ|ာ"),
            ("ကျေးဇူး", "ကျေ|း|ဇူ|း"),
            // A kinzi.
            ("မင်္ဂလာပါ", "မ|င်္ဂ|လ|ာ|ပ|ါ"),
            ("ဗုဒ္ဓ", "ဗု|ဒ္ဓ"),
            ("၁၂၃ ကျပ်", "၁၂၃|ကျ|ပ်"),
            ("ရန်ကုန်။", "ရ|န်|ကု|န်"),
            ("မောင်", "မေ|ာ|င်"),
            // Composed and decomposed.
            ("\u{1025}\u{102e}\u{1026}", "\u{1026}|\u{1026}"),
            ("ဤစာ၌", "ဤ|စ|ာ"),
            ("Englishစာ", "english|စ|ာ"),
            // Shan.
            ("ၵႂၢမ်းတႆး", "ၵႂ|ၢ|မ်|း|တႆ|း"),
        ],
    ),
    (
        "Tai Le",
        &[
            ("ᥖᥭᥰᥖᥬᥳ", "ᥖ|ᥭ|ᥰ|ᥖ|ᥬ|ᥳ"),
            ("ᥐᥣ", "ᥐ|ᥣ"),
            ("ᥙᥣ ᥐᥨᥢ", "ᥙ|ᥣ|ᥐ|ᥨ|ᥢ"),
            // The tones of the older spelling are marks of all scripts.
            ("ᥖᥥ\u{30c}ᥐ", "ᥖ|ᥥ\u{30c}|ᥐ"),
            ("ᥛᥫᥒ\u{308}", "ᥛ|ᥫ|ᥒ\u{308}"),
            ("ᥐ၁၂ᥐ", "ᥐ|၁၂|ᥐ"),
            ("ABᥐ", "ab|ᥐ"),
            ("ᥐ。ᥑ", "ᥐ|ᥑ"),
            ("ᥐ'ᥑ", "ᥐ|ᥑ"),
            ("ᥝᥣᥒᥰ,\u{200b}ᥛᥣ", "ᥝ|ᥣ|ᥒ|ᥰ|ᥛ|ᥣ"),
        ],
    ),
    (
        "New Tai Lue",
        &[
            ("ᦎᦷᦟ", "ᦎ|ᦷ|ᦟ"),
            ("ᦀᦱᧈ", "ᦀ|ᦱ|ᧈ"),
            ("ᦅᦳᧃᧉ", "ᦅ|ᦳ|ᧃ|ᧉ"),
            ("ᦵᦙᦲᧂ", "ᦵ|ᦙ|ᦲ|ᧂ"),
            ("᧑᧒᧓", "᧑᧒᧓"),
            // The other digit one is a digit.
            ("᧑᧚ ᦀ", "᧑᧚|ᦀ"),
            // Signs for words are not letters.
            ("ᦀ᧞ᦁ᧟", "ᦀ|ᦁ"),
            ("ᦀ ᦁ", "ᦀ|ᦁ"),
            ("xᦀ1", "x|ᦀ|1"),
            ("ᦀ\u{200b}ᦱ", "ᦀ|ᦱ"),
        ],
    ),
    (
        "Tai Tham",
        &[
            ("ᨲᩫ᩠ᩅᨾᩮᩬᩥᨦ", "ᨲᩫ᩠ᩅ|ᨾᩮᩬᩥ|ᨦ"),
            ("ᨽᩣᩈᩣ", "ᨽ|ᩣ|ᩈ|ᩣ"),
            ("ᨠ᩠ᨠ", "ᨠ᩠ᨠ"),
            ("ᩉ᩠ᩃᩣ᩠ᨿ", "ᩉ᩠ᩃ|ᩣ᩠|ᨿ"),
            ("ᨶ᩶ᩣᩴ", "ᨶ᩶|ᩣᩴ"),
            ("᪁᪂ ᪑᪒", "᪁᪂|᪑᪒"),
            ("ᨠᪧᨠ", "ᨠ|ᪧ|ᨠ"),
            ("ᨠ᪨ᨡ", "ᨠ|ᨡ"),
            ("ᨻᩕ", "ᨻᩕ"),
            ("ᩋᩢ᩠ᨠ", "ᩋᩢ᩠ᨠ"),
            ("lannaᨠ", "lanna|ᨠ"),
        ],
    ),
    (
        "Tai Viet",
        &[
            ("ꪼꪕ", "ꪼ|ꪕ"),
            ("ꪼꪕꪒꪾ", "ꪼ|ꪕ|ꪒꪾ"),
            ("ꪀ꪿", "ꪀ꪿"),
            ("ꪀꫀ", "ꪀ|ꫀ"),
            ("ꪀ꫁ꪱ", "ꪀ꫁|ꪱ"),
            ("ꪎꪳꪙ", "ꪎꪳ|ꪙ"),
            ("ꫛ꫞ꫜ", "ꫛ|ꫜ"),
            ("ꪀꫝ", "ꪀ|ꫝ"),
            ("ꪵꪮ 12", "ꪵ|ꪮ|12"),
            ("Taiꪼꪕ", "tai|ꪼ|ꪕ"),
        ],
    ),
    (
        "Ahom",
        &[
            ("𑜒𑜑𑜪𑜨", "𑜒|𑜑𑜪𑜨"),
            ("𑜀𑜠", "𑜀|𑜠"),
            ("𑜀𑜡𑜢", "𑜀|𑜡𑜢"),
            ("𑜀𑜞", "𑜀𑜞"),
            ("𑜀𑜦𑜫", "𑜀𑜦𑜫"),
            ("𑜱𑜲", "𑜱𑜲"),
            ("𑜀𑜺𑜀", "𑜀|𑜺|𑜀"),
            ("𑜀𑜼𑜁", "𑜀|𑜁"),
            ("𑜀𑜿𑜁", "𑜀|𑜁"),
            ("ahom𑜀", "ahom|𑜀"),
        ],
    ),
    (
        // Syllables between tshegs, as any letters between separators.
        "Tibetan",
        &[
            ("བོད་སྐད།", "བོད|སྐད"),
            ("བཀྲ་ཤིས་བདེ་ལེགས།", "བཀྲ|ཤིས|བདེ|ལེགས"),
            ("ལྷ་ས།", "ལྷ|ས"),
            ("༡༢༣ སྒོར", "༡༢༣|སྒོར"),
            ("ཨོཾ་མ་ཎི་པདྨེ་ཧཱུྃ༔", "ཨོཾ|མ|ཎི|པདྨེ|ཧཱུྃ"),
            ("རྒྱལ་པོ༌ལ", "རྒྱལ|པོ|ལ"),
            ("སངས་རྒྱས་", "སངས|རྒྱས"),
            ("༄༅། །བོད", "བོད"),
            ("Tibetབོད", "tibetབོད"),
            // Composed and decomposed.
            ("\u{f43} \u{f42}\u{fb7}", "\u{f42}\u{fb7}|\u{f42}\u{fb7}"),
        ],
    ),
];

#[test]
fn tokens_of_scripts_without_spaces() {
    let breaks = CodePointMapData::<LineBreak>::new();
    let complex = |c: char| c.is_alphabetic() && breaks.get(c) == LineBreak::ComplexContext;
    for (script, cases) in CASES {
        assert!(cases.len() >= 10, "{script}");
        for (text, expected) in cases {
            assert_eq!(tokens(text), *expected, "{script}: {text}");
            // The same from the Unicode data: clusters that begin with a letter of such a script.
            let seen: String = text.nfc().filter(|&c| c != '\u{200b}').collect();
            let first = |token: &&str| token.chars().next().is_some_and(complex);
            let clusters: Vec<&str> = seen.graphemes(true).filter(first).collect();
            let cut: Vec<&str> = expected.split('|').filter(first).collect();
            assert_eq!(cut, clusters, "{script}: {text}");
        }
    }
}

/// Nine words of Thai.
const QUESTION: &str = "ประเทศไทยมีกี่จังหวัดในปีนี้ครับ";
const BEFORE: &str = "ข่าววันนี้จากสำนักพิมพ์แห่งหนึ่ง ";
const AFTER: &str = " คำตอบอยู่ในหนังสือเล่มนั้น";

#[test]
fn a_question_of_nine_thai_words_is_found_in_a_corpus() {
    let place = temporary();
    let at = |name: &str| place.path().join(name);
    let line = |id: &str, name: &str, text: &str| {
        serde_json::json!({"id": id, name: text}).to_string() + "\n"
    };
    let corpus = [
        line("a", "text", BEFORE),
        line("b", "text", &format!("{BEFORE}{QUESTION}{AFTER}")),
        line("c", "text", AFTER),
    ];
    fs::write(at("corpus.jsonl"), corpus.concat()).unwrap();
    fs::write(at("test.jsonl"), line("q", "question", QUESTION)).unwrap();
    let config = ContaminationConfig {
        against: vec![at("test.jsonl")],
        fields: vec!["question".into()],
        output: Some(at("out")),
        read: Run::default().collection.read,
        ..ContaminationConfig::default()
    };
    let inputs = selected_inputs(&[at("corpus.jsonl")], &Default::default(), &at("out")).unwrap();
    let (stop, run) = (Stop::default(), Run::default());
    contamination::run(&inputs, &config, &run.context(&stop, &Silent)).unwrap();
    let found = fs::read_to_string(at("out/contaminated.jsonl")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["item"], "q");
    let listed = found["listed"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{found}");
    assert_eq!(listed[0]["docno"], "b");
}

#[test]
fn a_passage_is_where_it_is_in_a_thai_text() {
    let place = temporary();
    let input = place.path().join("in");
    fs::create_dir(&input).unwrap();
    let texts = [
        format!("{BEFORE}{QUESTION}"),
        format!("ไทย{QUESTION}{AFTER}"),
    ];
    for (name, text) in ["a.txt", "b.txt"].iter().zip(&texts) {
        fs::write(input.join(name), text).unwrap();
    }
    let out = place.path().join("out");
    let run = Run::default();
    drop(run.ingest(&[&input], &out).unwrap());
    let mut workspace = pipeline::open(&out).unwrap();
    let config = PassagesConfig {
        length: 15,
        of: Of::All,
        units: None,
        excluded: None,
        condition: None,
        matches: None,
        boilerplate: None,
        results: Default::default(),
    };
    let (stop, silent) = (Stop::default(), Silent);
    passages::run(
        &mut workspace,
        &config,
        Then::End,
        &run.context(&stop, &silent),
    )
    .unwrap();
    let spans = cells_of(&out.join("spans.tsv"));
    let found = spans.iter().zip(&texts).map(|(row, text)| {
        let at = |name: &str| row[name].parse::<usize>().unwrap();
        &text[at("begin_byte")..at("end_byte")]
    });
    assert_eq!(found.collect::<Vec<_>>(), [QUESTION, QUESTION]);
}
