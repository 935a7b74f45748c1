//! A finished directory that came from someone else, changed in a few places: whatever a command
//! makes of it, nothing outside of it changes, and nothing new lies beside it.
//!
//! The first byte of an input chooses the command: from 128 on one that lets the directory grow. Changes follow: what is done, to which file or
//! directory, and with what.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use lookalike::Result;
use lookalike::base::budget::ByteSize;
use lookalike::base::ids::Threshold;
use lookalike::base::progress::Context;
use lookalike::engine::collection;
use lookalike::engine::join::JoinConfig;
use lookalike::engine::pipeline::{self, JoinParameters, Spill};
use lookalike::report::page::{PAGE_FILE, PageConfig};
use lookalike::report::{self, GraphFormat, write_graph};
use lookalike::tasks::inspect::verify;
use lookalike::tasks::plan::{self, PlanConfig, Target};
use lookalike_lab::study::StudyConfig;

use super::controls::Controls;
use super::lists::put_manifest;
use super::place;

/// A command that waits for a FIFO waits for ever, and a test would too.
const HANGS: Duration = Duration::from_secs(300);
/// Changes of an input; more say nothing new.
const MOST_CHANGES: usize = 8;
/// What is somebody else's, beside the directory.
const THEIRS: [&str; 4] = [
    "bashrc",
    "999999.run",
    "sub/000000.docs",
    "sub/deeper/000000.pairs.tmp",
];
/// Where links lead, and names in the manifest, from the directory.
const ELSEWHERE: [&str; 8] = [
    "../v",
    "../v/bashrc",
    "../v/sub",
    "../v/new",
    "..",
    ".",
    "/dev/zero",
    "study/../../v/bashrc",
];

pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    let command = controls.byte();
    let base = base();
    let home = place::subdirectory("directory");
    let out = home.join("out");
    let _ = fs::remove_dir_all(&out);
    base.copy(&out);
    base.change(&out, controls);
    // The watch ends when this is dropped.
    let (_running, ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
            eprintln!("a command over the directory hangs");
            std::process::abort();
        }
    });
    let _ = verify(&out);
    // What it answers is another target's; here it is looked at what it does.
    let _ = place::with_context(ByteSize::mib(256), |context| ask(command, &out, context));
    base.check(&home);
}

struct Base {
    /// Directories, as `None`, and files of a finished directory, by their path in it.
    entries: BTreeMap<PathBuf, Option<Vec<u8>>>,
    /// The manifest without the line of its checksum.
    body: serde_json::Value,
    /// Where it has names of files.
    names: Vec<String>,
    theirs: BTreeMap<PathBuf, Option<Vec<u8>>>,
    fifo: PathBuf,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let out = place::finished_run("directory-run");
        place::with_context(ByteSize::mib(256), |context| {
            for command in [1, 2, 3, 4, 130] {
                ask(command, &out, context).expect("a command over what is whole");
            }
        });
        let home = place::subdirectory("directory");
        for name in THEIRS {
            let path = home.join("v").join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            place::put(&path, name.as_bytes());
        }
        let fifo = place::directory().join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "a FIFO is made");
        let entries = held(&out, &out);
        let manifest = entries[Path::new("manifest.json")]
            .as_deref()
            .expect("a file");
        let mut body: serde_json::Value = serde_json::from_slice(manifest).expect("JSON");
        body.as_object_mut().expect("an object").remove("checksum");
        let mut names = Vec::new();
        names_in(&body, "", &mut names);
        Base {
            body,
            names,
            theirs: held(&home.join("v"), &home),
            entries,
            fifo,
        }
    })
}

/// What lies below a directory; anything but a file or a directory is said by its type.
pub(super) fn held(directory: &Path, root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut held = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
        let name = path
            .strip_prefix(root)
            .expect("it lies there")
            .to_path_buf();
        if kind.is_dir() {
            held.extend(self::held(&path, root));
            held.insert(name, None);
        } else if kind.is_file() {
            held.insert(name, Some(fs::read(&path).expect("a file")));
        } else {
            held.insert(name, Some(format!("{kind:?}").into_bytes()));
        }
    }
    held
}

impl Base {
    fn copy(&self, out: &Path) {
        fs::create_dir(out).expect("a directory");
        for (name, content) in &self.entries {
            match content {
                None => fs::create_dir(out.join(name)).expect("a directory"),
                Some(content) => place::put(&out.join(name), content),
            }
        }
    }

    fn change(&self, out: &Path, mut controls: Controls<'_>) {
        let names: Vec<&PathBuf> = self.entries.keys().collect();
        let mut body = self.body.clone();
        for _ in 0..MOST_CHANGES {
            let what = controls.byte();
            let mut path = out.join(names[usize::from(controls.u16()) % names.len()]);
            if controls.flag() {
                path.as_mut_os_string().push(".tmp");
            }
            let to = controls.one_of(&ELSEWHERE);
            // From how deep it is.
            let depth = path.components().count() - out.components().count() - 1;
            let away = PathBuf::from("../".repeat(depth)).join(to);
            // A change before may have made a link of what this one lies in, or of its place a hard
            // link.
            if !is_within(&path, out) {
                continue;
            }
            let _ = match what % 8 {
                0 => break,
                1 => cleared(&path).and_then(|()| symlink(away, &path)),
                2 => cleared(&path).and_then(|()| fs::hard_link(&self.fifo, &path)),
                3 => {
                    let theirs = out.with_file_name("v").join(THEIRS[0]);
                    cleared(&path).and_then(|()| fs::hard_link(theirs, &path))
                }
                4 => cleared(&path).and_then(|()| fs::create_dir_all(path.join("000000.run"))),
                5 if is_alone(&path) => {
                    let length = u64::from(controls.u16());
                    fs::File::options()
                        .write(true)
                        .open(&path)
                        .and_then(|file| file.set_len(length))
                }
                6 if !path.is_symlink() && path.is_dir() => {
                    fs::write(path.join("999999.docs"), controls.bytes(16))
                }
                7 if what >= 128 => {
                    let below = u32::from(controls.byte() % 3);
                    body["base"] = serde_json::json!({
                        "path": to,
                        "real": controls.flag().then_some(to),
                        "below": {"collection": below, "index": 1, "pairs": below / 2},
                    });
                    put_whole(&out.join("manifest.json"), &body)
                }
                7 => {
                    let at = usize::from(controls.byte()) % self.names.len();
                    if let Some(name) = body.pointer_mut(&self.names[at]) {
                        *name = to.into();
                    }
                    put_whole(&out.join("manifest.json"), &body)
                }
                _ => Ok(()),
            };
        }
    }

    fn check(&self, home: &Path) {
        assert!(
            held(&home.join("v"), home) == self.theirs,
            "something outside has changed"
        );
        let mut beside = fs::read_dir(home).expect("a directory");
        let known = |name: &str| ["out", "v"].contains(&name);
        assert!(
            beside.all(|entry| entry.is_ok_and(|e| e.file_name().to_str().is_some_and(known))),
            "something is beside the directory"
        );
    }
}

/// Does a path lead to a place within a directory?
fn is_within(path: &Path, out: &Path) -> bool {
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    parent.is_some_and(|parent| out.canonicalize().is_ok_and(|out| parent.starts_with(out)))
}

/// Is it a file, of this name alone?
fn is_alone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.nlink() == 1)
}

/// A manifest, in place of whatever there is.
pub(super) fn put_whole(path: &Path, body: &serde_json::Value) -> std::io::Result<()> {
    cleared(path)?;
    let mut text = serde_json::to_vec_pretty(body)?;
    text.push(b'\n');
    put_manifest(path, &text);
    Ok(())
}

fn cleared(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Where a manifest has names of files.
fn names_in(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            if fields.contains_key("checksum") && fields.contains_key("name") {
                found.push(format!("{at}/name"));
            }
            let fields = fields.iter();
            fields.for_each(|(key, value)| names_in(value, &format!("{at}/{key}"), found));
        }
        serde_json::Value::Array(values) => {
            let values = values.iter().enumerate();
            values.for_each(|(n, value)| names_in(value, &format!("{at}/{n}"), found));
        }
        _ => {}
    }
}

/// Adds an input to a directory, makes its index, or compares the input with it.
fn grow(command: u8, out: &Path, context: &Context<'_>) -> Result<()> {
    let input = place::directory().join("more.jsonl");
    place::put(&input, b"{\"id\":\"N\",\"text\":\"one two three four\"}\n");
    let inputs = pipeline::inputs(&[input], out)?;
    if command.is_multiple_of(3) {
        return pipeline::add(out, &inputs, false, None, context).map(drop);
    }
    if command % 3 == 1 {
        return pipeline::index(&mut pipeline::open(out)?, None, context).map(drop);
    }
    let new = place::directory().join("directory-compared");
    let _ = fs::remove_dir_all(&new);
    let manifest = pipeline::look(out)?;
    let config = collection::config(&manifest);
    let threshold = "0.5".parse().expect("a threshold");
    let question = question(threshold);
    pipeline::run_against(&inputs, out, &new, config, &question, false, context).map(drop)
}

fn question(threshold: Threshold) -> JoinParameters {
    JoinParameters {
        sampling: "full".parse().expect("a sampling"),
        plan: None,
        join: JoinConfig {
            join: "prefix".parse().expect("a join"),
            threshold,
            measure: Default::default(),
            max_postings: None,
            pairs: "all".parse().expect("a kind of pairs"),
            ..JoinConfig::default()
        },
        results: Default::default(),
        spill: Spill::Always,
        all_postings: true,
        fan_in: None,
    }
}

/// What commands do to a directory.
fn ask(command: u8, out: &Path, context: &Context<'_>) -> Result<()> {
    let threshold = "0.5".parse().expect("a threshold");
    if command >= 128 {
        return grow(command, out, context);
    }
    let mut workspace = pipeline::open(out)?;
    let workspace = &mut workspace;
    match command % 6 {
        0 => {
            let question = question("0.7".parse().expect("a threshold"));
            pipeline::join(workspace, &question, context)?;
            pipeline::cluster(workspace, context).map(drop)
        }
        1 => {
            let config = PageConfig {
                clusters: 1,
                pairs: 1,
                ..PageConfig::default()
            };
            report::write_page(workspace, &config, &out.join(PAGE_FILE), context).map(drop)
        }
        2 => {
            let config = PlanConfig {
                target: Target {
                    threshold,
                    precision: "0.8".parse().expect("a precision"),
                    recall: None,
                },
                ratios: vec![2],
                subset: None,
            };
            let planned = plan::make(workspace, &config, context)?;
            plan::keep(workspace, &out.join(plan::PLAN_FILE), &planned.plan)
        }
        3 => {
            let config = StudyConfig {
                ratios: vec![2],
                thresholds: vec![threshold],
            };
            lookalike_lab::report::write_study(workspace, &config, context).map(drop)
        }
        4 => GraphFormat::ALL.into_iter().try_for_each(|format| {
            let output = out.join(format.file_name());
            write_graph(workspace, format, &output, context)
        }),
        _ => pipeline::cluster(workspace, context).map(drop),
    }
}
