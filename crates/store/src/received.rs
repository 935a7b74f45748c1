//! Checks the names, the numbers and the length of a file of ours, wherever it comes from.
//!
//! A directory, exchange or list may come from someone else. The names in it decide which files are
//! opened, replaced and removed, and its numbers are added up. So each name and count is checked
//! here, where it is read: the types of the formats name these functions in their
//! `deserialize_with`. A file is read whole only if its length is plausible for the things that it
//! describes.

use std::fmt;
use std::io::{BufRead, Read};
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Kind, disk, part_number, part_stem, remote};
use lookalike_base::{Error, Result};

/// More bytes or records than there are anywhere.
pub const MOST: u64 = 1 << 53;
/// The most bytes of a record of parameters and counts. The arguments of a command are shorter.
pub const RECORD: u64 = 4 << 20;
/// The most bytes of a line about one file: its paths, with every character escaped.
pub const LINE: u64 = 256 << 10;
/// The most bytes of a path below a directory, and of a name on it.
const PATH: usize = 16 << 10;
const NAME: usize = 1024;

/// Whether a name leads to a file below a directory: names without links to elsewhere, one after
/// the other.
pub fn is_below(path: &str) -> bool {
    let plain =
        |name: &str| !["", ".", ".."].contains(&name) && name.len() <= NAME && !name.contains('\0');
    path.len() <= PATH && path.split('/').all(plain)
}

/// Whether a name is one of a part of this kind, or of any: its number and the ending of the kind.
pub fn is_part(name: &str, kind: Option<Kind>) -> bool {
    let (Some(number), Some((stem, ending))) = (part_number(name), name.split_once('.')) else {
        return false;
    };
    let known = match kind {
        Some(kind) => kind.extension() == ending,
        None => Kind::ALL.iter().any(|kind| kind.extension() == ending),
    };
    known && stem == part_stem(number)
}

fn checked<'de, T, D>(
    from: D,
    is: impl Fn(&T) -> bool,
    what: &str,
) -> std::result::Result<T, D::Error>
where
    T: Deserialize<'de> + std::fmt::Debug,
    D: Deserializer<'de>,
{
    let found = T::deserialize(from)?;
    match is(&found) {
        true => Ok(found),
        false => {
            let found: String = format!("{found:?}").chars().take(100).collect();
            Err(D::Error::custom(format!("{found} is not {what}")))
        }
    }
}

/// Reads the name of a part.
pub fn part<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<String, D::Error> {
    checked(
        from,
        |name: &String| is_part(name, None),
        "the name of a part",
    )
}

/// Reads the path of a file below the directory.
pub fn below<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<String, D::Error> {
    let what = "plain names on the way to a file of the directory";
    checked(from, |path: &String| is_below(path), what)
}

/// Reads the way from a directory to another one: plain names, after any number of `..` or `/`.
pub fn way<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<String, D::Error> {
    let is_way = |path: &String| {
        let mut rest = path.strip_prefix('/').unwrap_or(path);
        while !path.starts_with('/') && rest.starts_with("../") {
            rest = &rest[3..];
        }
        is_below(rest) || *path == "/" || !path.starts_with('/') && rest == ".."
    };
    checked(from, is_way, "the way to a directory")
}

/// Reads the path of an input, which messages and results name.
pub fn input<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<String, D::Error> {
    let path = String::deserialize(from)?;
    let is_local = path
        .split("://")
        .next()
        .is_some_and(|scheme| scheme.contains('/'));
    match is_local || remote::secret(path.as_ref()).is_none() {
        true => Ok(path),
        false => Err(D::Error::custom(
            "an address with a password or a signature",
        )),
    }
}

/// Reads a number of bytes or records.
pub fn count<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<u64, D::Error> {
    checked(
        from,
        |&number| number <= MOST,
        "a number of bytes or records",
    )
}

/// Reads any JSON and checks that its numbers can count bytes or records. It keeps nothing.
#[derive(Default)]
pub struct Counts;

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Counts, D::Error> {
        from.deserialize_any(Counts)
    }
}

/// Takes values of these kinds as they are.
macro_rules! passes {
    ($($visit:ident($($type:ty)?))+) => {$(
        fn $visit<E>(self, $(_: $type)?) -> std::result::Result<Counts, E> {
            Ok(Counts)
        }
    )+};
}

impl<'de> Visitor<'de> for Counts {
    type Value = Counts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    passes! { visit_bool(bool) visit_i64(i64) visit_f64(f64) visit_str(&str) visit_unit() }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<Counts, E> {
        match number <= MOST {
            true => Ok(Counts),
            false => Err(E::custom(format!("a count of {number}; at most {MOST}"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> std::result::Result<Counts, A::Error> {
        while all.next_element::<Counts>()?.is_some() {}
        Ok(Counts)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> std::result::Result<Counts, A::Error> {
        while all.next_entry::<IgnoredAny, Counts>()?.is_some() {}
        Ok(Counts)
    }
}

/// Refuses a file of more than `most` bytes.
fn refuse_longer(path: &Path, size: u64, most: u64) -> Result<()> {
    match size <= most {
        true => Ok(()),
        false => Err(Error::corrupt(path, "size")
            .expected(format!("at most {most} bytes"), format!("{size} bytes"))),
    }
}

/// Reads a file of at most `most` bytes.
pub fn read_whole(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = disk::open(path)?;
    let size = file.metadata().map_err(Error::io("inspect", path))?.size();
    refuse_longer(path, size, most)?;
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.map_err(Error::io("read", path))?;
    refuse_longer(path, bytes.len() as u64, most)?;
    Ok(bytes)
}

/// The most bytes of a file of this size that describes the files of `directory`: with those few
/// that may be missing, each has `each` bytes.
pub(crate) fn most_of(directory: &Path, size: u64, each: u64) -> Result<u64> {
    let mut most = RECORD;
    let mut left = vec![(directory.to_path_buf(), 0)];
    while let Some((place, depth)) = left.pop()
        && size > most
    {
        for entry in disk::entries(&place).map_err(Error::io("list", &place))? {
            let entry = entry.map_err(Error::io("list", &place))?;
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match is_directory && depth < 2 {
                true => left.push((entry.path(), depth + 1)),
                false => most = most.saturating_add(each),
            }
        }
    }
    Ok(most)
}

/// Reads the next line, with its end, of at most [`LINE`] bytes. Returns 0 after the last one.
pub fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>, path: &Path) -> Result<usize> {
    line.clear();
    let read = from.take(LINE + 1).read_until(b'\n', line);
    let read = read.map_err(Error::io("read", path))?;
    match read as u64 <= LINE {
        true => Ok(read),
        false => Err(Error::corrupt(path, "size of a line")
            .expected(format!("at most {LINE} bytes"), "more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_counts_are_what_their_place_expects() {
        for (name, is) in [
            ("000000.docs", true),
            ("7-000001.rejects", true),
            ("1000000.run", true),
            ("0.docs", false),
            ("+00001.docs", false),
            ("0-000001.docs", false),
            ("000000.docs.tmp", false),
            ("000000.bashrc", false),
            ("../000000.docs", false),
            ("/000000.docs", false),
            ("000000.docs\0", false),
            ("", false),
            ("..", false),
        ] {
            assert_eq!(is_part(name, None), is, "{name:?}");
            let json = serde_json::to_string(name).unwrap();
            let read = part(&mut serde_json::Deserializer::from_str(&json));
            assert_eq!(read.is_ok(), is, "{name:?}");
        }
        assert!(!is_part("000000.docs", Some(Kind::Text)));
        let long = "x".repeat(NAME + 1);
        let deep = "x/".repeat(PATH);
        for (path, is) in [
            ("a", true),
            ("a/b c/.d", true),
            ("", false),
            ("/a", false),
            ("a/", false),
            ("a//b", false),
            ("a/../b", false),
            ("./a", false),
            ("a\0", false),
            (&long, false),
            (&deep, false),
        ] {
            assert_eq!(is_below(path), is, "{path:?}");
        }
        let deep = format!("{}w", "../".repeat(9));
        for (path, is) in [
            ("w", true),
            ("../kept.work", true),
            (&deep, true),
            ("../..", true),
            ("/", true),
            ("/a/b", true),
            ("", false),
            (".", false),
            ("../a/../b", false),
            ("/../a", false),
            ("//a", false),
            ("..//a", false),
            ("../", false),
            ("a\0", false),
            (&long, false),
        ] {
            let json = serde_json::to_string(path).unwrap();
            let read = way(&mut serde_json::Deserializer::from_str(&json));
            assert_eq!(read.is_ok(), is, "{path:?}");
        }
        for (path, is) in [
            ("s3://user:secret@bucket/a", false),
            ("https://host/a?sig=secret", false),
            ("s3://bucket/a?b@c", true),
            ("x/s3://user:secret@bucket", true),
            ("a@b/c?d", true),
        ] {
            let read = input(&mut serde_json::Deserializer::from_str(&format!(
                "{path:?}"
            )));
            assert_eq!(read.is_ok(), is, "{path}");
        }
        for (json, is) in [
            (
                r#"{"a":[1,{"b":-3}],"c":"9007199254740993","d":null,"e":1e300,"f":true}"#,
                true,
            ),
            (r#"{"a":[1,{"b":9007199254740993}]}"#, false),
            ("[18446744073709551615]", false),
        ] {
            assert_eq!(serde_json::from_str::<Counts>(json).is_ok(), is, "{json}");
        }
        for (number, is) in [
            ("0", true),
            ("9007199254740992", true),
            ("9007199254740993", false),
        ] {
            let read = count(&mut serde_json::Deserializer::from_str(number));
            assert_eq!(read.is_ok(), is, "{number}");
        }
    }

    #[test]
    fn what_is_longer_than_it_can_be_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("sparse");
        std::fs::File::create(&path)
            .unwrap()
            .set_len(3 << 30)
            .unwrap();
        let error = read_whole(&path, RECORD).unwrap_err().to_string();
        assert!(
            error.contains("sparse") && error.contains("3221225472"),
            "{error}"
        );
        let mut lines = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut line = Vec::new();
        assert!(read_line(&mut lines, &mut line, &path).is_err());
        assert!(line.len() as u64 <= LINE + 1);
        assert_eq!(most_of(place.path(), RECORD + 1, 7).unwrap(), RECORD + 7);
    }
}
