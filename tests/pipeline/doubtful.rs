//! What counts in doubtful cases, which docs/guide/formats.md lists: pairs of files that have the
//! same words, or do not.

use std::fs;

use crate::common::{Run, rows_of, temporary};

const WORDS: &str = "chimney saffron bottle flower castle pirate olive paper thimble linen drawer";

/// Characters that look like base64 of a compressed file.
fn base64(count: usize, seed: u64) -> String {
    const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed;
    let next = |i| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let c = char::from(ALL[(state >> 58) as usize]);
        if i % 76 == 75 {
            format!("{c}\n")
        } else {
            c.into()
        }
    };
    (0..count).map(next).collect()
}

#[test]
fn what_counts_in_doubtful_cases() {
    let spread = |between: &str| WORDS.split(' ').collect::<Vec<_>>().join(between);
    let xml = |text: &str| format!("<?xml version='1.0'?>\n<TEI><p>{text}</p></TEI>");
    let cue = |n: usize, first: usize| {
        let line = WORDS.split(' ').nth(n).unwrap();
        format!(
            "{n}\n00:00:{:02},000 --> 00:00:{:02},500\n{line}\n\n",
            first + n,
            first + n
        )
    };
    let srt = |first| (0..11).map(|n| cue(n, first)).collect::<String>();
    let hocr = format!(
        "<html><span class='ocr_line'><span class='ocrx_word'>{}</span></span></html>",
        spread("</span><span class='ocrx_word'>")
    );
    let plain = || WORDS.to_string();
    let broken = |hyphen: &str| WORDS.replace("bottle", &format!("bot{hyphen}\ntle"));
    let arabic = "أحمد إلى آخر المدرسة هدى رأى الفتاة مؤمن شيء قرآن كريم جدا".to_string();
    let interchanged = "احمد الي اخر المدرسه هدي راي الفتاه مومن شيء قران کریم جدا".to_string();
    let page = |level: &str| {
        format!("<?xml version='1.0'?><Page><Line>{level}<U>{WORDS}</U></Line></Page>")
    };
    let with = |block: &str| format!("{WORDS}\n{block}\nand more");
    for (fold, endings, texts, same) in [
        ("none", ["html", "txt"], [hocr, plain()], true),
        ("none", ["xml", "xml"], [xml(&WORDS.replace("bottle", "bot<lb break='no'/>tle")), xml(WORDS)], true),
        ("none", ["xml", "xml"], [xml(&WORDS.replace("bottle", "bot<lb/>tle")), xml(WORDS)], false),
        ("none", ["xml", "xml"], [page("<Word><U>chimney</U></Word>"), page("")], false),
        ("none", ["xml", "xml"], [
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY corp \"bottle\">]><a>x &corp; &amp;</a>".into(),
            "<?xml version='1.0'?><a>x corp</a>".into(),
        ], true),
        ("none", ["srt", "srt"], [srt(1), srt(30)], true),
        ("none", ["srt", "vtt"], [srt(1), format!("WEBVTT\n\n{}", srt(2))], true),
        ("none", ["txt", "txt"], [broken("\u{ad}"), plain()], true),
        ("none", ["txt", "txt"], [broken("-"), plain()], false),
        ("hyphens", ["txt", "txt"], [broken("-"), plain()], true),
        ("hyphens", ["html", "txt"], [broken("&not;").replace('\n', "<br>"), plain()], true),
        ("diacritics", ["txt", "txt"], [arabic.clone(), interchanged.clone()], false),
        ("arabic", ["txt", "txt"], [arabic.clone(), interchanged], true),
        ("diacritics", ["txt", "txt"], [arabic.replace("ال", "اـــل"), arabic], true),
        ("none", ["txt", "txt"], ["Ο ΣΙΣΥΦΟΣ ΚΑΙ Ο ΛΟΓΟΣ".into(), "ο σισυφος και ο λογος".into()], true),
        ("none", ["txt", "md"], [with(&base64(1600, 1)), with(&base64(1600, 2))], true),
        ("none", ["txt", "txt"], [base64(1600, 1), base64(1600, 2)], false),
        ("none", ["txt", "txt"], [with(&base64(700, 1)), with(&base64(700, 2))], false),
    ] {
        let directory = temporary();
        let input = directory.path().join("in");
        fs::create_dir(&input).unwrap();
        for (i, (ending, text)) in endings.iter().zip(&texts).enumerate() {
            fs::write(input.join(format!("{i}.{ending}")), text).unwrap();
        }
        let out = directory.path().join("out");
        let mut run = Run::default().shingle_size(3);
        run.collection.shingle.parse.fold = fold.parse().unwrap();
        run.run(&[&input], &out).unwrap();
        let copies = rows_of(&out, "exact-duplicates.tsv").len();
        assert_eq!(copies, usize::from(same), "{fold} {texts:?}");
    }
}

/// A directory of an earlier rule of tokens keeps it when documents are added.
#[test]
fn a_directory_keeps_its_rule_of_tokens() {
    let directory = temporary();
    let input = directory.path().join("in");
    fs::create_dir(&input).unwrap();
    fs::write(input.join("a.txt"), "Ο ΣΙΣΥΦΟΣ ΚΑΙ Ο ΛΟΓΟΣ").unwrap();
    let out = directory.path().join("out");
    let mut run = Run::default().shingle_size(3);
    run.collection.shingle.parse.token_rule = 3;
    run.run(&[&input], &out).unwrap();
    fs::write(input.join("b.txt"), "ο σισυφος και ο λογος").unwrap();
    fs::write(input.join("c.txt"), "ο σισυφοσ και ο λογοσ").unwrap();
    // The command line has the rule of this version.
    Run::default().shingle_size(3).run(&[&input], &out).unwrap();
    let copies = rows_of(&out, "exact-duplicates.tsv");
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert!(copies[0].contains("c.txt"), "{copies:?}");
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"token_rule\": 3"), "{manifest}");
}
