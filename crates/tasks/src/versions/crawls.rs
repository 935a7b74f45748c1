//! Which crawl each input file belongs to, and what names a page in all of them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::VersionsConfig;
use lookalike_base::error::refuse;
use lookalike_base::numbers::counted;
use lookalike_base::{Error, Result};
use lookalike_rewrite::again;
use lookalike_store::workspace::{InputList, Workspace};
use lookalike_text::read::{InputFile, normal_url};

/// The most crawls: their number takes 12 bits of the key of a sort.
const MOST: usize = 1 << 12;

/// The crawls of a collection. The directory in which all inputs lie has a folder or a file for each.
#[derive(Debug, Default)]
pub(super) struct Crawls {
    pub names: Vec<String>,
    /// By input file, its crawl, and its path in the crawl's folder.
    files: Vec<(u32, String)>,
}

impl Crawls {
    /// The crawls, and the inputs to be read again.
    pub(super) fn of(
        workspace: &Workspace,
        config: &VersionsConfig,
    ) -> Result<(Crawls, Vec<InputFile>)> {
        let (mut paths, mut inputs) = (Vec::new(), Vec::new());
        let mut reals = Vec::new();
        let mut entries = InputList::open(workspace.directory())?;
        while let Some(entry) = entries.next()? {
            inputs.push(again::listed(entry)?);
            paths.push(entry.path.clone());
            reals.push(entry.real.clone().unwrap_or_else(|| entry.path.clone()));
        }
        // Absolute and relative paths have no directory in common.
        let absolute = |path: &String| Path::new(path).is_absolute();
        if paths.iter().any(absolute) && !paths.iter().all(absolute) {
            paths = reals;
        }
        let parts: Vec<Vec<Component<'_>>> = (paths.iter())
            .map(|path| Path::new(path).components().collect())
            .collect();
        let first = parts.first().map_or(&[][..], Vec::as_slice);
        let common = parts.iter().map(|path| {
            let equal = path.iter().zip(first).take_while(|(a, b)| a == b).count();
            equal.min(path.len().saturating_sub(1))
        });
        let common = common.min().unwrap_or(0);
        let mut crawls = Crawls::default();
        let mut places = HashMap::new();
        for path in &parts {
            let own = path.get(common..).unwrap_or_default();
            let named = own
                .iter()
                .position(|part| matches!(part, Component::Normal(_)));
            let (name, rest) = own.split_at(named.map_or(own.len(), |at| at + 1));
            let [name, rest] = [name, rest].map(|parts| {
                let path: PathBuf = parts.iter().collect();
                path.to_string_lossy().into_owned()
            });
            let next = crawls.names.len();
            let crawl = *places.entry(name.clone()).or_insert(next);
            if crawl == next {
                crawls.names.push(name);
            }
            crawls.files.push((crawl as u32, rest));
        }
        let directory = workspace.directory().display();
        if crawls.names.len() > MOST {
            let limit = format!(
                "its inputs are {}, because the directory in which all of them lie has as many files \
                 and folders, and there may be {MOST} crawls; put the files of each crawl into a \
                 folder",
                counted(crawls.names.len() as u64, "crawl")
            );
            return Err(Error::parameter("DIR", directory).because(limit));
        }
        for wanted in &config.crawls {
            if !crawls.names.contains(wanted) {
                let limit = format!("the crawls are {}", crawls.names.join(", "));
                return refuse("crawl", wanted, limit);
            }
        }
        Ok((crawls, inputs))
    }

    /// The crawl of a file.
    pub(super) fn crawl(&self, file: u32) -> u32 {
        self.files[file as usize].0
    }

    /// The name of a document in its crawl. A docno that begins with the name of the file may have
    /// the name of the crawl in it.
    pub(super) fn id(&self, file: u32, name: &str, docno: &str) -> String {
        let rest = &self.files[file as usize].1;
        match docno.strip_prefix(name) {
            Some(behind) if !rest.is_empty() => format!("{rest}{behind}"),
            _ => docno.into(),
        }
    }
}

/// The form in which addresses are compared: scheme and host in lower case, without a default port
/// and without a fragment, and the root with its slash. Everything else makes another address.
pub(super) fn normal(address: &str) -> Vec<u8> {
    let address = address.split('#').next().unwrap_or_default();
    let mut url = normal_url(address.as_bytes());
    let host = memchr::memmem::find(&url, b"://").map(|at| at + 3);
    if host.is_some_and(|host| memchr::memchr2(b'/', b'?', &url[host..]).is_none()) {
        url.push(b'/');
    }
    url
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn addresses_have_one_form() {
        for (address, expected) in [
            ("HTTP://E.org:80/A/?b#c", "http://e.org/A/?b"),
            ("https://e.org", "https://e.org/"),
            ("http://e.org?q", "http://e.org?q"),
            ("urn:x:A", "urn:x:A"),
            ("", ""),
        ] {
            assert_eq!(normal(address), expected.as_bytes());
        }
        assert_ne!(normal("http://e.org/a"), normal("http://e.org/a/"));
        assert_ne!(normal("http://e.org/a"), normal("https://e.org/a"));
    }
}
