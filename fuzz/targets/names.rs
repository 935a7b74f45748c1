//! Names in the files of directories, outputs and exchanges that came from someone else: whatever
//! they are, the commands that read them change nothing outside, and make nothing new beside.
//!
//! The first byte of an input chooses a file with names, two more the name, the next one what takes
//! its place: one of [`FORGED`], or else the rest of the input.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lookalike::base::progress::{Progress, Silent, Stop};
use lookalike::cli::{Failure, Host, execute};
use lookalike::store::checksum;
use serde_json::Value;

use super::controls::Controls;
use super::directory::{held, put_whole};
use super::place;

/// The commands that make what is forged; `@` is the place.
const MAKE: [&str; 13] = [
    "run @/in.jsonl -o @/d --threshold 0.5 --keep-text",
    "index @/d",
    "run @/new.jsonl --against @/d --threshold 0.5 -o @/m",
    "dedup @/in.jsonl -o @/kept --removed @/removed",
    "tasks plan @/in.jsonl --tasks 1 -o @/ex --keep-text",
    "tasks run @/ex --task 0",
    "tasks run @/ex --task 1",
    "tasks run @/ex --task 2",
    "tasks run @/ex --task 3",
    "tasks run @/ex --task 4",
    "tasks run @/ex --task 5",
    "tasks run @/ex --task 6",
    "tasks run @/ex --task 7",
];
/// What that is, what later commands make, and somebody else's directory.
const KNOWN: [&str; 11] = [
    "in.jsonl",
    "new.jsonl",
    "d",
    "m",
    "kept",
    "kept.work",
    "removed",
    "ex",
    "out",
    "p.html",
    "v",
];
/// The files with names, and the commands that read them.
const READERS: [(&str, &[&str]); 7] = [
    (
        "d/manifest.json",
        &[
            "verify @/d",
            "index @/d",
            "report @/d",
            "join @/d --threshold 0.4",
        ],
    ),
    (
        "m/manifest.json",
        &["status @/m", "verify @/m", "add @/m @/in.jsonl"],
    ),
    (
        "kept/.lookalike/source.json",
        &["report @/kept -o @/p.html"],
    ),
    (
        "kept/.lookalike/files.jsonl",
        &["dedup @/in.jsonl -o @/kept --removed @/removed"],
    ),
    (
        "removed/.lookalike/files.jsonl",
        &["dedup @/in.jsonl -o @/kept --removed @/removed"],
    ),
    (
        "ex/1-read/00000.rows",
        &["tasks run @/ex --task 0", "tasks finish @/ex -o @/out"],
    ),
    (
        "ex/plan.json",
        &["tasks run @/ex --task 0", "tasks finish @/ex -o @/out"],
    ),
];
/// What takes the place of a name.
const FORGED: [&str; 16] = [
    "../v/bashrc",
    "../../v/bashrc",
    "../../../v/bashrc",
    "sub/../../v/bashrc",
    "@/v/bashrc",
    "@/v",
    "..",
    ".",
    "",
    "/",
    "../v",
    "000000.docs",
    "manifest.json",
    "lock",
    "nul\0",
    "\u{1b}[2J",
];

/// A host that nobody listens to.
struct Nobody;

impl Host for Nobody {
    fn say(&self, _: &str) -> lookalike::Result<()> {
        Ok(())
    }

    fn stop(&self) -> Stop {
        Stop::default()
    }

    fn progress(&self, _: bool, _: &'static [&'static str]) -> Box<dyn Progress + '_> {
        Box::new(Silent)
    }
}

type Held = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn call(home: &Path, command: &str) -> Result<(), Failure> {
    let home = home.to_str().expect("a path of text");
    let words = command.split(' ').map(|word| word.replace('@', home));
    execute(words.map(OsString::from), &Nobody)
}

/// What the commands made, and `v` beside it.
fn base() -> &'static Held {
    static BASE: OnceLock<Held> = OnceLock::new();
    BASE.get_or_init(|| {
        let home = place::subdirectory("names");
        let run = place::finished_run("names-run");
        fs::copy(run.with_file_name("input.jsonl"), home.join("in.jsonl")).expect("a copy");
        place::put(
            &home.join("new.jsonl"),
            b"{\"id\":\"N\",\"text\":\"one two three\"}\n",
        );
        fs::create_dir_all(home.join("v")).expect("a directory");
        place::put(&home.join("v/bashrc"), b"precious");
        for command in MAKE {
            let made = call(&home, command);
            assert!(made.is_ok(), "{command} over what is whole: {made:?}");
        }
        held(&home, &home)
    })
}

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    let (base, home) = (base(), place::subdirectory("names"));
    let (file, commands) = controls.one_of(&READERS);
    let (at, which) = (controls.u16(), usize::from(controls.byte()));
    let rest = String::from_utf8_lossy(controls.rest());
    let name = FORGED.get(which).map_or(rest, |&forged| forged.into());
    let name = name.replace('@', home.to_str().expect("a path of text"));
    let whole = base[Path::new(file)].as_deref().expect("a file");
    forge(&home.join(file), whole, at.into(), &name);
    for command in commands {
        if let Err(Failure::Failed(error)) = call(&home, command) {
            let text = error.to_string();
            assert!(!text.contains("panicked"), "{command}: {text}");
        }
    }
    let now = held(&home, &home);
    let outside = |held: &Held| -> Held {
        let ours = |path: &Path| path.starts_with("v") || path == Path::new("in.jsonl");
        let ours = held.iter().filter(|(path, _)| ours(path));
        ours.map(|(path, content)| (path.clone(), content.clone()))
            .collect()
    };
    let top = |path: &PathBuf| KNOWN.iter().any(|known| path.starts_with(known));
    assert!(
        outside(&now) == outside(base),
        "something outside has changed"
    );
    assert!(now.keys().all(top), "something is beside the directories");
    restore(&home, &now, base);
}

/// Makes what a place holds what it was, and leaves what has not changed: an input that is written
/// again is another one.
fn restore(home: &Path, now: &Held, base: &Held) {
    for (path, content) in now
        .iter()
        .rev()
        .filter(|(path, _)| !base.contains_key(*path))
    {
        let _ = match content {
            None => fs::remove_dir(home.join(path)),
            Some(_) => fs::remove_file(home.join(path)),
        };
    }
    for (path, content) in base
        .iter()
        .filter(|(path, content)| now.get(*path) != Some(content))
    {
        match content {
            None => fs::create_dir_all(home.join(path)).expect("a directory"),
            Some(content) => place::put(&home.join(path), content),
        }
    }
}

/// Writes a file with another name in one place, and the checksum that it must have.
fn forge(path: &Path, whole: &[u8], at: usize, name: &str) {
    let change = |json: &[u8]| -> Value {
        let mut value: Value = serde_json::from_slice(json).expect("JSON");
        let mut strings = Vec::new();
        strings_in(&mut value, &mut strings);
        let chosen = at % strings.len().max(1);
        if let Some(string) = strings.into_iter().nth(chosen) {
            *string = name.into();
        }
        value
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => {
            let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
            let (number, mut bytes) = (at % lines.len(), Vec::new());
            for (n, line) in lines.iter().enumerate() {
                match n == number {
                    true => bytes.extend(format!("{}\n", change(line)).bytes()),
                    false => bytes.extend_from_slice(line),
                }
            }
            place::put(path, &bytes);
        }
        Some("rows") => {
            let foot = &whole[whole.len() - 56..];
            let number =
                |at: usize| u64::from_le_bytes(std::array::from_fn(|n| foot[at + n])) as usize;
            let (begin, end) = (number(0), number(0) + number(8));
            let mut bytes = change(&whole[begin..end]).to_string().into_bytes();
            let length = bytes.len() as u64;
            bytes.extend_from_slice(&whole[end..whole.len() - 48]);
            bytes.extend(length.to_le_bytes());
            bytes.extend_from_slice(&foot[16..48]);
            bytes.extend(checksum(&bytes).to_le_bytes());
            place::put(path, &[&whole[..begin], &bytes].concat());
        }
        _ if path.ends_with("manifest.json") => {
            let mut value = change(whole);
            value
                .as_object_mut()
                .map(|fields| fields.remove("checksum"));
            put_whole(path, &value).expect("a manifest");
        }
        _ => place::put(path, change(whole).to_string().as_bytes()),
    }
}

fn strings_in<'v>(value: &'v mut Value, found: &mut Vec<&'v mut String>) {
    match value {
        Value::String(string) => found.push(string),
        Value::Array(values) => values.iter_mut().for_each(|value| strings_in(value, found)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| strings_in(value, found)),
        _ => {}
    }
}
