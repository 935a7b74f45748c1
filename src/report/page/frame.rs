//! The frame around the sections of a page, and helpers that several sections use.

use super::markup::{
    Markup, Render, digest_source, harmless_json, html, json_block, own, plain, visible,
};
use lookalike_base::{Result, counted};
use lookalike_store::AtomicFile;
use std::path::Path;

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("style.css");

/// The frame around the sections of a page.
#[derive(Debug, Default)]
pub struct Frame<'f> {
    pub title: &'f str,
    /// A line below the title.
    pub below: Option<Markup>,
    /// Ids of sections, and their names.
    pub contents: Vec<(&'f str, String)>,
    /// A script that the page may run.
    pub script: Option<&'static str>,
    /// The name of the program that made the results.
    pub program: &'f str,
}

impl<'f> Frame<'f> {
    /// A page of a program.
    pub fn of(title: &'f str, program: &'f str) -> Frame<'f> {
        Frame {
            title,
            program,
            ..Frame::default()
        }
    }

    /// A page without sections. Its policy allows this style, this script and nothing else: no
    /// network, no frames, no other script.
    fn markup(&self) -> Markup {
        let mut policy = format!("default-src 'none'; style-src {}", digest_source(STYLE));
        if let Some(source) = self.script {
            policy.push_str("; script-src ");
            policy.push_str(&digest_source(source));
        }
        policy.push_str("; base-uri 'none'; form-action 'none'");
        html! {
            (maud::DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="generator" content="lookalike";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    title { (plain(self.title)) }
                    style { (own(STYLE)) }
                }
                body {
                    header {
                        h1 { (visible(self.title)) }
                        @if let Some(below) = &self.below { p.soft { (below) } }
                        @if !self.contents.is_empty() {
                            nav aria-label="Contents" {
                                @for (id, name) in &self.contents { a href={ "#" (id) } { (name) } }
                            }
                        }
                    }
                    main {}
                    footer { (visible(self.program)) ". This page loads nothing from the network." }
                    @if let Some(source) = self.script { script { (own(source)) } }
                }
            }
        }
    }

    /// The parts before and after the sections.
    fn around(&self) -> (String, String) {
        let markup = self.markup().into_string();
        // Text is escaped, so this is the end of the element, and not text that looks like it.
        let (top, end) = markup.split_once("</main>").unwrap_or((&markup, ""));
        (top.to_string(), format!("\n</main>{end}\n"))
    }

    /// The whole page. The contents list the sections that have a name.
    pub fn page(mut self, sections: &'f [Section]) -> Vec<u8> {
        let named = sections.iter().filter(|section| !section.name.is_empty());
        let named = named.map(|section| (section.id.as_str(), section.name.clone()));
        self.contents = named.collect();
        let (mut page, end) = self.around();
        for section in sections {
            page.push('\n');
            page.push_str(&section.markup.0);
        }
        (page + &end).into_bytes()
    }
}

/// A section of a page.
#[derive(Default)]
pub struct Section {
    pub id: String,
    /// Its name in the contents.
    pub name: String,
    /// All of it; before [`Section::with`], its heading.
    pub markup: Markup,
}

impl Section {
    /// A section whose heading is its name.
    pub fn new(id: &str, name: &str) -> Section {
        Section {
            id: id.into(),
            name: name.into(),
            markup: visible(name).render(),
        }
    }

    /// A section without a heading. The contents do not list it.
    pub fn bare(markup: Markup) -> Section {
        Section {
            markup,
            ..Section::default()
        }
    }

    /// The section with the content after the heading.
    #[must_use]
    pub fn with(mut self, body: Markup) -> Section {
        self.markup = self.of(body);
        self
    }

    /// The same, as markup.
    pub fn of(&self, body: Markup) -> Markup {
        html! { section id=(self.id) { h2 { (self.markup) } (body) } }
    }
}

/// A page that is written piece by piece.
pub(super) struct Sheet {
    out: AtomicFile,
    /// The end of the page, after the last section.
    end: String,
}

impl Sheet {
    /// Begins a page.
    pub(super) fn create(output: &Path, frame: &Frame<'_>) -> Result<Sheet> {
        let (top, end) = frame.around();
        let mut out = AtomicFile::create(output)?;
        out.put(top.as_bytes())?;
        Ok(Sheet { out, end })
    }

    /// Appends markup.
    pub(super) fn put(&mut self, markup: Markup) -> Result<()> {
        self.out.put(b"\n")?;
        self.out.put(markup.into_string().as_bytes())
    }

    /// Appends an element with data for the script, which is JSON in pieces.
    pub(super) fn data(&mut self, id: &str, json: impl Iterator<Item = String>) -> Result<()> {
        let element = json_block(id, "").into_string();
        let (begin, end) = element.split_at(element.len() - "</script>".len());
        self.out.put(format!("\n{begin}").as_bytes())?;
        for piece in json {
            self.out.put(harmless_json(&piece).as_bytes())?;
        }
        self.out.put(format!("{end}\n").as_bytes())
    }

    /// Ends the page, and returns its length in bytes and its checksum. The caller syncs its
    /// directory.
    pub(super) fn finish(mut self) -> Result<(u64, u64)> {
        self.out.put(self.end.as_bytes())?;
        self.out.finish()
    }
}

/// `1 document`, `2 documents`.
pub(super) fn many(n: u64, what: &str) -> String {
    counted(n, what).replacen(' ', "\u{a0}", 1)
}
