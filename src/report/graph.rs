//! The relationship graph: documents connected by the pairs found, as a file for other programs.
//!
//! # Source
//! Bernstein & Zobel 2006, section 3: a vertex for each document, an edge for each pair whose score
//! reaches the threshold.
//!
//! # In and out
//! In: the committed pair list, of shingles or of a method's features. Out: DOT (Graphviz), GraphML
//! or a table.
//!
//! # Invariants
//! - Vertices are in input order, edges in the order of the pair list: the bytes depend only on the
//!   pairs.
//! - Any docno is valid: vertices are named by document numbers and have the docnos as labels.
//!   Captures also have their address and date.
//!   Control characters that XML cannot represent become U+FFFD in GraphML, and NUL does in DOT.
//!
//! # Cost
//! Three passes over the pair list; one bit and the measure's data for each document.
//!
//! # Where we depart from the source
//! Documents without an edge are left out: in the paper's graphs they are the great majority. Exact
//! duplicates (`exact-duplicates.tsv`) are left out too, because they resemble the same documents
//! as their representative.

use lookalike_base::{Bits, Context, PROCESS_BYTES, Result, counted, keywords, path_word, refuse};
use lookalike_engine::collection::{Captured, Catalogue, has_captures};
use lookalike_engine::join::{
    List, Pairs, PairsEntry, each_measured_pair, each_pair, sizes_of_pairs,
};
use lookalike_engine::outputs::{self, Home};
use lookalike_engine::sample::Sampled;
use lookalike_store::{AtomicFile, Workspace, table::cell};
use std::fmt::Write;
use std::path::Path;

const STAGE: &str = "graph";
/// Readers and writer.
const FIXED_BYTES: u64 = 8 << 20;

keywords! {
    /// The format of a graph.
    #[non_exhaustive]
    pub enum GraphFormat: "is not a graph format; use" {
        /// Graphviz.
        Dot = "dot",
        /// GraphML, in XML.
        GraphMl = "graphml",
        /// A line for each edge: both docnos and the weight.
        Tsv = "tsv",
    }
}

/// How the files of the formats begin.
const HEADS: [&str; 3] = [
    "graph relationships {\n",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
     <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
     <key id=\"docno\" for=\"node\" attr.name=\"docno\" attr.type=\"string\"/>\n",
    "docno_a\tdocno_b\tweight",
];

impl GraphFormat {
    /// Name of the file in an output directory.
    #[must_use]
    pub fn file_name(self) -> String {
        format!("graph.{self}")
    }
}

/// Writes the graph of a directory's pairs piece by piece.
pub fn graph(
    workspace: &Workspace,
    format: GraphFormat,
    context: &Context<'_>,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let pairs = workspace.record::<PairsEntry>("join")?;
    if pairs.config.pairs == Pairs::None {
        let directory = workspace.directory();
        let from = path_word(directory);
        let limit = "its pairs were not listed; list them: ";
        let limit = format!("{limit}`lookalike run --from {from} --pairs all`");
        return refuse("DIR", directory.display(), limit);
    }
    let measure = pairs.config.measure;
    let documents = Catalogue::extent(workspace)?.documents;
    let sizes = Sampled::bytes_in(workspace, measure)?;
    let names = Catalogue::names_bytes(workspace, &context.budget)?;
    let least = PROCESS_BYTES + FIXED_BYTES + documents / 8 + sizes + names;
    let what = || format!("a graph of {}", counted(documents, "document"));
    context.budget.require(least, what)?;
    let names = Catalogue::names(workspace, &context.budget)?;
    let mut out = String::new();
    let mut passed = 0u64;
    let mut stop = || {
        passed += 1;
        context.tick(STAGE, passed)
    };
    let captures = has_captures(&workspace.manifest);
    let key = |name: &str, element: &str, kind: &str| {
        format!(
            "<key id=\"{name}\" for=\"{element}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n"
        )
    };
    let keys = ["url", "date"].map(|name| key(name, "node", "string"));
    let [of_captures, cells] = match captures {
        true => [keys.concat(), "\turl_a\turl_b\tdate_a\tdate_b".into()],
        false => Default::default(),
    };
    out.push_str(HEADS[format as usize]);
    out.push_str(&match format {
        GraphFormat::Dot => String::new(),
        GraphFormat::GraphMl => format!(
            "{of_captures}{}<graph id=\"relationships\" edgedefault=\"undirected\">\n",
            key("weight", "edge", "double"),
        ),
        GraphFormat::Tsv => cells + "\n",
    });
    put(out.as_bytes())?;
    if format != GraphFormat::Tsv {
        let mut in_a_pair = Bits::new(documents as usize);
        each_pair(workspace, List::Pairs, |pair| {
            for document in [pair.a, pair.b] {
                in_a_pair.insert(document);
            }
            stop()
        })?;
        for document in 0..documents as u32 {
            if !in_a_pair.contains(document) {
                continue;
            }
            stop()?;
            out.clear();
            let (docno, Captured { url, date }) = names.named(document)?;
            let is_dot = format == GraphFormat::Dot;
            let id = if is_dot { "label" } else { "docno" };
            let facts = [(id, Some(docno.into())), ("url", url), ("date", date)];
            let facts = facts
                .iter()
                .flat_map(|(name, fact)| Some((name, fact.as_ref()?)));
            let facts = facts.map(|(name, fact)| match is_dot {
                true => format!("{name}=\"{}\"", quoted(fact)),
                false => format!("<data key=\"{name}\">{}</data>", xml(fact)),
            });
            let facts: Vec<String> = facts.collect();
            let _ = match is_dot {
                true => writeln!(out, "n{document} [{}];", facts.join(" ")),
                false => writeln!(out, "<node id=\"n{document}\">{}</node>", facts.concat()),
            };
            put(out.as_bytes())?;
        }
    }
    let sampled = sizes_of_pairs(workspace)?;
    each_measured_pair(workspace, List::Pairs, &sampled, |pair, (a, b)| {
        stop()?;
        let weight = measure.text(pair.amount(measure), a.into(), b.into());
        let (a, b) = (pair.a, pair.b);
        out.clear();
        let _ = match format {
            GraphFormat::Dot => writeln!(out, "n{a} -- n{b} [weight={weight}];"),
            GraphFormat::GraphMl => writeln!(
                out,
                "<edge source=\"n{a}\" target=\"n{b}\"><data key=\"weight\">{weight}</data></edge>"
            ),
            GraphFormat::Tsv => {
                let ((docno_a, a), (docno_b, b)) = (names.named(a)?, names.named(b)?);
                let _ = write!(out, "{}\t{}\t{weight}", cell(&docno_a), cell(&docno_b));
                for fact in [a.url, b.url, a.date, b.date].iter().filter(|_| captures) {
                    let _ = write!(out, "\t{}", cell(fact.as_deref().unwrap_or_default()));
                }
                writeln!(out)
            }
        };
        put(out.as_bytes())
    })?;
    put(match format {
        GraphFormat::Dot => b"}\n",
        GraphFormat::GraphMl => b"</graph>\n</graphml>\n",
        GraphFormat::Tsv => b"",
    })
}

/// Writes the graph of a directory's pairs to a file. If the file is inside the directory, the
/// manifest records it.
pub fn write_graph(
    workspace: &mut Workspace,
    format: GraphFormat,
    output: &Path,
    context: &Context<'_>,
) -> Result<()> {
    let name = format.file_name();
    outputs::check("output", output, Home::Own(workspace, &[&name]), &HEADS)?;
    workspace.write_file(output, |workspace| {
        let mut file = AtomicFile::create(output)?;
        graph(workspace, format, context, |bytes| file.put(bytes))?;
        Ok((file.finish()?, ()))
    })
}

/// The text between the quotes of a DOT label. A backslash would start a Graphviz escape.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\0' => out.push(char::REPLACEMENT_CHARACTER),
            // Escaped as in a TSV file: a terminal would execute it.
            c if c.is_control() && c != '\t' => {
                out.push_str(&cell(&cell(c.encode_utf8(&mut [0; 4]))))
            }
            c => out.push(c),
        }
    }
    out
}

/// Text that XML 1.0 can represent. A parser would read a raw carriage return as a line feed.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' | '\u{7f}'..='\u{9f}' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
