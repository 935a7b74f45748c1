//! Finds the crawl of each input file, and the name of a page in all of them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::{Crawl, VersionsConfig};
use lookalike_base::{Error, Result, counted, refuse};
use lookalike_rewrite::again;
use lookalike_store::{InputList, Workspace};
use lookalike_text::read::InputFile;

/// The most crawls: each has a row in the summary.
const MOST: usize = 1 << 12;

/// A record with a longer address is left out, whether or not it is a document.
pub(super) const MOST_ADDRESS: usize = 64 << 10;

/// The crawls of a collection. The directory in which all inputs lie has a folder or a file for each.
#[derive(Default)]
pub(super) struct Crawls {
    pub(super) all: Vec<Crawl>,
    /// By input file, its crawl, and its path in the crawl's folder.
    pub(super) files: Vec<(u16, String)>,
}

impl Crawls {
    /// The crawls, the inputs to be read again, and the crawls that are asked for, by number.
    pub(super) fn of(
        workspace: &Workspace,
        config: &VersionsConfig,
    ) -> Result<(Crawls, Vec<InputFile>, Vec<u16>)> {
        let (mut paths, mut inputs) = (Vec::new(), Vec::new());
        let mut entries = InputList::open(workspace.directory())?;
        while let Some(entry) = entries.next()? {
            inputs.push(again::listed(entry)?);
            let real = entry.real.as_ref().unwrap_or(&entry.path);
            paths.push([entry.path.clone(), real.clone()]);
        }
        // Absolute and relative paths have no directory in common.
        let absolute = |path: &[String; 2]| Path::new(&path[0]).is_absolute();
        let real = paths.iter().any(absolute) && !paths.iter().all(absolute);
        let paths = paths.iter().map(|path| Path::new(&path[usize::from(real)]));
        let parts: Vec<Vec<_>> = paths.map(|path| path.components().collect()).collect();
        let common = parts.iter().map(|path| {
            let equal = path.iter().zip(&parts[0]).take_while(|(a, b)| a == b);
            equal.count().min(path.len().saturating_sub(1))
        });
        let common = common.min().unwrap_or(0);
        let mut crawls = Crawls::default();
        let mut places = HashMap::new();
        for path in &parts {
            let own = &path[common..];
            let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
            let named = own.iter().position(is_name);
            let (name, rest) = own.split_at(named.map_or(own.len(), |at| at + 1));
            let joined = |parts: &[Component<'_>]| parts.iter().collect::<PathBuf>();
            let [name, rest] = [name, rest].map(|parts| joined(parts).display().to_string());
            let number = *places.entry(name.clone()).or_insert(crawls.all.len());
            if number == crawls.all.len() {
                crawls.all.push(Crawl {
                    name,
                    number: number as u16,
                    is_file: rest.is_empty(),
                    ..Crawl::default()
                });
            }
            crawls.files.push((number as u16, rest));
        }
        let names: Vec<&str> = crawls.all.iter().map(|crawl| &*crawl.name).collect();
        if names.len() > MOST {
            let limit = format!(
                "its inputs are {}, because the directory in which all of them lie has as many files \
                 and folders, and there may be {MOST} crawls; put the files of each crawl into a \
                 folder",
                counted(names.len() as u64, "crawl")
            );
            return refuse("DIR", workspace.directory().display(), limit);
        }
        // A name, a path, or the beginning of a name up to a full stop.
        let asked = config.crawls.iter().map(|wanted| {
            let name = Path::new(wanted).file_name().unwrap_or_default();
            let name = name.to_string_lossy();
            let begin = format!("{name}.");
            let place = |fits: &dyn Fn(&str) -> bool| {
                let mut all = (0..).zip(&names).filter(|(_, of)| fits(of));
                all.next().filter(|_| all.next().is_none())
            };
            let exact = place(&|of| of == wanted || of == name);
            let found = exact.or_else(|| place(&|of| of.starts_with(&begin)));
            found.map(|(number, _)| number).ok_or_else(|| {
                let limit = format!("the crawls are {}", names.join(", "));
                Error::parameter("crawl", wanted).because(limit)
            })
        });
        let asked = asked.collect::<Result<_>>()?;
        Ok((crawls, inputs, asked))
    }
}

/// The address to which `location` leads from an address (RFC 9110, section 10.2.2; RFC 3986, section
/// 5.2). The steps `.` and `..` are taken.
pub(super) fn led(from: &str, location: &str) -> Option<String> {
    if location.is_empty() || location.len() > MOST_ADDRESS {
        return None;
    }
    let scheme = from.find("://")? + 3;
    let end = from.find(['?', '#']).unwrap_or(from.len());
    let path = from[scheme..]
        .find(['/', '?', '#'])
        .map_or(from.len(), |at| scheme + at);
    let is_scheme =
        |(scheme, _): &(&str, &str)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let (base, between) = match location.as_bytes() {
        _ if location.split_once(':').as_ref().is_some_and(is_scheme) => ("", ""),
        [b'/', b'/', ..] => (&from[..scheme - 2], ""),
        [b'/', ..] => (&from[..path], ""),
        [b'?' | b'#', ..] => (&from[..end], ""),
        _ => match from[path..end].rfind('/') {
            Some(at) => (&from[..=path + at], ""),
            None => (&from[..path], "/"),
        },
    };
    Some(without_dots(&format!("{base}{between}{location}")))
}

/// An address without the segments `.` and `..` of its path (RFC 3986, section 5.2.4).
fn without_dots(address: &str) -> String {
    let end = address.find(['?', '#']).unwrap_or(address.len());
    let scheme = address.find("://").map_or(0, |at| at + 3);
    let path = address[..end].get(scheme..).and_then(|it| it.find('/'));
    let Some(path) = path.map(|at| scheme + at) else {
        return address.into();
    };
    let mut kept = Vec::new();
    let mut segments = address[path + 1..end].split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_dots = segment == "." || segment == "..";
        if segment == ".." {
            kept.pop();
        }
        if !is_dots {
            kept.push(segment);
        } else if segments.peek().is_none() {
            kept.push("");
        }
    }
    format!("{}/{}{}", &address[..path], kept.join("/"), &address[end..])
}

#[cfg(test)]
mod tests {
    use super::led;

    #[test]
    fn locations_lead_to_addresses() {
        for (from, location, expected) in [
            ("http://e.org/a/b?c", "d", "http://e.org/a/d"),
            ("http://e.org/a/b?c/d", "/e", "http://e.org/e"),
            ("http://e.org/a", "//f.org/", "http://f.org/"),
            ("http://e.org/a", "https://e.org/a", "https://e.org/a"),
            (
                "http://e.org/a?b",
                "?c=http://x",
                "http://e.org/a?c=http://x",
            ),
            ("http://e.org", "a:", "a:"),
            ("http://e.org", "a/b:c", "http://e.org/a/b:c"),
            ("http://e.org?a/b", "c", "http://e.org/c"),
            ("http://e.org/x/a", "../b", "http://e.org/b"),
            (
                "http://e.org/x/a",
                "./c/..?d/../e",
                "http://e.org/x/?d/../e",
            ),
            ("http://e.org/x", "../..", "http://e.org/"),
            ("http://e.org", "/a//b/.", "http://e.org/a//b/"),
        ] {
            assert_eq!(
                led(from, location).as_deref(),
                Some(expected),
                "{from} {location}"
            );
        }
        assert_eq!(led("urn:a", "b"), None);
        assert_eq!(led("http://e.org/", ""), None);
    }
}
