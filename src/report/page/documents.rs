//! How a document is named: where it is, its address, its date. And how a collection is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::PageConfig;
use super::frame::many;
use super::markup::{Markup, html, isolated, link, named_link};
use super::texts::Read;
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::document::ShownDocument;
use lookalike_store::{InputList, Workspace};

/// Where captures are replayed: an address with `{url}` and `{timestamp}` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay(pub(super) String);

impl std::str::FromStr for Replay {
    type Err = Error;

    fn from_str(given: &str) -> Result<Replay> {
        let filled = given.replace("{url}", "").replace("{timestamp}", "");
        if filled
            .split('/')
            .nth(2)
            .is_some_and(|host| host.contains('@'))
        {
            let shown = format!("...@{}", given.rsplit('@').next().unwrap_or_default());
            return Err(Error::parameter("replay", shown)
                .because("a name and a password would be in each link of the page"));
        }
        match given.contains("{url}") && super::markup::is_web_address(&filled) {
            true => Ok(Replay(given.into())),
            false => Err(Error::parameter("replay", given)
                .because("it must begin with http:// or https:// and have {url} in it")),
        }
    }
}

impl Replay {
    /// The address of a capture; `None` without a date of fourteen digits.
    pub(super) fn of(&self, url: &str, date: &str) -> Option<String> {
        let digits: String = date.chars().filter(char::is_ascii_digit).collect();
        let timestamp = digits.get(..14)?;
        let filled = self.0.replace("{timestamp}", timestamp);
        Some(filled.replace("{url}", url))
    }
}

/// Bytes of memory for the names of all input files.
pub(super) fn files_bytes(workspace: &Workspace) -> Result<u64> {
    // A page lists at most as many files as the collection has.
    let documents = Catalogue::stats(workspace)?.documents;
    Ok(documents.min(super::PAGE_DOCUMENTS) * 100)
}

/// The title, or else the address of a capture or the docno. Readers would take the beginning of a
/// text for a title.
pub(super) fn title(document: &ShownDocument) -> &str {
    let address = document.url.as_deref().filter(|_| document.date.is_some());
    let title = document.title.as_deref().or(address);
    title.unwrap_or(&document.docno)
}

/// The title, the docno if that is another name, and the date of a capture.
pub(super) fn named(document: &ShownDocument) -> Markup {
    html! {
        (isolated(title(document)))
        @if title(document) != document.docno { " " span.soft { (isolated(&document.docno)) } }
        @if let Some(date) = &document.date { " " span.soft { (isolated(date)) } }
    }
}

/// The documents of a page: their names, the parts that were read again, and where their captures
/// are replayed.
#[derive(Clone, Copy)]
pub(super) struct PageDocuments<'p> {
    named: &'p HashMap<u32, ShownDocument>,
    pub(super) read: &'p Read,
    pub(super) replay: Option<&'p Replay>,
}

impl<'p> PageDocuments<'p> {
    /// The documents with these names, of a page that looks like this.
    pub(super) fn of(
        named: &'p HashMap<u32, ShownDocument>,
        read: &'p Read,
        look: &'p PageConfig,
    ) -> Self {
        let replay = look.replay.as_ref();
        PageDocuments {
            named,
            read,
            replay,
        }
    }

    /// The names of a document.
    pub(super) fn get(self, number: u32) -> Option<&'p ShownDocument> {
        self.named.get(&number)
    }

    /// The names of two documents.
    pub(super) fn both(self, [a, b]: [u32; 2]) -> Option<[&'p ShownDocument; 2]> {
        Some([self.get(a)?, self.get(b)?])
    }

    /// The date for readers: `2004-01-31 12:00:00`.
    pub(super) fn date(self, document: &ShownDocument) -> Option<String> {
        let known = self.read.known.get(&document.place.number)?;
        let date = known.date.as_deref()?;
        let whole = date.len() == "2004-01-31T12:00:00Z".len() && date.ends_with('Z');
        Some(match whole {
            true => date.replace('T', " ").replace('Z', ""),
            false => date.into(),
        })
    }

    /// The address, and a link to the capture.
    pub(super) fn address(self, document: &ShownDocument) -> Markup {
        let url = document.url.as_deref().unwrap_or_default();
        let known = self.read.known.get(&document.place.number);
        let date = known.and_then(|known| known.date.as_deref());
        let capture = self.replay.and_then(|replay| replay.of(url, date?));
        html! {
            (link(url))
            @if let Some(capture) = capture { " " (named_link(&capture, html! { "capture" })) }
        }
    }

    /// The identity of one of the two documents of a pair.
    pub(super) fn heading(self, document: &ShownDocument) -> Markup {
        html! {
            div {
                p { strong { (isolated(&document.docno)) } }
                @if let Some(title) = &document.title { p { (isolated(title)) } }
                p.soft {
                    (isolated(&document.place())) ", " (many(document.words, "word"))
                    @if let Some(date) = self.date(document) { ", " (isolated(&date)) }
                }
                @if document.url.is_some() { p { (self.address(document)) } }
            }
        }
    }
}

/// The name of a collection: the name of its only file, or of the directory that contains all its
/// files. The name of `directory`, which the user knows, if that says nothing.
pub(super) fn collection_name(workspace: &Workspace, directory: &Path) -> Result<String> {
    let mut inputs = InputList::open(workspace.directory())?;
    // The files of another collection are not its own.
    for _ in 0..collection::against(&workspace.manifest).files {
        inputs.next()?;
    }
    // The path that all inputs share so far, with the name of the first.
    let mut shared: Option<PathBuf> = None;
    while let Some(entry) = inputs.next()? {
        let path = Path::new(&entry.path);
        shared = Some(match &shared {
            None => path.into(),
            Some(shared) => {
                let mut places = shared.ancestors();
                let place = places.find(|place| path.starts_with(place));
                place.map_or_else(PathBuf::new, Path::to_path_buf)
            }
        });
    }
    // A directory named by a number says nothing.
    let says = |name: &Cow<'_, str>| name.chars().any(char::is_alphabetic);
    let own = directory.file_name().unwrap_or(directory.as_os_str());
    let shared = shared.unwrap_or_default();
    let name = shared.iter().map(OsStr::to_string_lossy).rfind(says);
    Ok(name.unwrap_or(own.to_string_lossy()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_addresses_of_the_web() {
        let replay: Replay = "https://web.archive.org/web/{timestamp}/{url}"
            .parse()
            .unwrap();
        assert_eq!(
            replay
                .of("http://a/?b={timestamp}", "2004-01-31T12:00:59Z")
                .unwrap(),
            "https://web.archive.org/web/20040131120059/http://a/?b={timestamp}"
        );
        assert_eq!(replay.of("http://a/", "2004-01-31"), None);
        for bad in [
            "javascript:alert(1)//{url}",
            "https://a/",
            "https://a b/{url}",
            "{url}",
        ] {
            assert!(bad.parse::<Replay>().is_err(), "{bad}");
        }
    }
}
