//! `query`: new documents looked up in a collection.

use lookalike::measure::Criterion;
use lookalike::numbers::counted;
use lookalike::query::{self, Answer, QueryConfig};
use lookalike::read::ReadConfig;
use lookalike::store::json;
use lookalike::{Result, collection, pipeline};
use std::fmt::Write;
use std::process::ExitCode;

use super::args::QueryOptions;
use super::run::with_context;

pub fn run(options: &QueryOptions) -> Result<ExitCode> {
    let config = QueryConfig {
        criterion: Criterion {
            measure: options.score,
            threshold: options.threshold,
        },
        containing: options.containing,
        top: (options.top > 0).then_some(options.top),
    };
    with_context(&options.means, |context| {
        let mut base = pipeline::open(&options.directory)?;
        pipeline::catalogued(&mut base, context)?;
        let theirs = &collection::config(&base.manifest).read;
        let read = ReadConfig {
            format: options.format,
            text_field: options.text_field.clone().or(theirs.text_field.clone()),
            id_field: options.id_field.clone().or(theirs.id_field.clone()),
            ..theirs.clone()
        };
        let inputs = pipeline::inputs(&options.documents, &options.directory)?;
        if !options.means.json {
            super::say(
                "query\tdocno\tmatch\tscore\tcontains_query\tin_query\tshared\tkeys_query\tkeys\n",
            )?;
        }
        let stats = query::run(
            &base,
            options.method.as_ref(),
            &inputs,
            &read,
            &config,
            context,
            |answer| {
                super::say(&if options.means.json {
                    json::line(&answer, "standard output")?
                } else {
                    rows(&answer)
                })
            },
        )?;
        context.progress.end(&format!(
            "query: {} of {} found, {} rejected, the collection read {}",
            stats.matched,
            counted(stats.queries, "document"),
            stats.rejected,
            counted(stats.batches, "time")
        ));
        Ok(ExitCode::SUCCESS)
    })
}

/// An answer as rows of tab-separated values.
fn rows(answer: &Answer) -> String {
    let mut text = String::new();
    let query = lookalike::cluster::cell(&answer.query);
    for found in &answer.matches {
        let docno = lookalike::cluster::cell(&found.docno);
        let kind = if found.exact { "exact" } else { "near" };
        let (contains, contained) = (found.contains, found.contained);
        let _ = writeln!(
            text,
            "{query}\t{docno}\t{kind}\t{:.6}\t{contains:.6}\t{contained:.6}\t{}\t{}\t{}",
            found.score, found.shared, answer.keys, found.keys
        );
    }
    text
}
