//! `perturb`: a corpus whose near-duplicates are known.

use std::fmt::Write;
use std::process::ExitCode;

use lookalike::experiments::perturb::{
    self, Cherkasova, Chowdhury, PerturbConfig, PerturbReport, Recipe,
};
use lookalike::read::ReadConfig;
use lookalike::{Error, Result};

use super::args::{MeansOptions, PerturbOptions, RecipeChoice};
use super::run::with_context;

pub fn run(options: &PerturbOptions) -> Result<ExitCode> {
    let config = config(options)?;
    config.check()?;
    let means = MeansOptions {
        memory: options.memory,
        threads: Some(1),
        ignore_disk_space: true,
        scratch: None,
        quiet: options.quiet,
        json: options.json,
    };
    with_context(&means, |context| {
        let report = perturb::run(&options.inputs, &options.output, &config, context)?;
        if options.json {
            super::say(&super::json(&report)?)?;
        } else if !options.quiet {
            let place = options.output.display();
            super::say(&format!("{}\ncorpus in {place}\n", table(&report)))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn config(options: &PerturbOptions) -> Result<PerturbConfig> {
    let chowdhury = options.recipe == RecipeChoice::Chowdhury;
    let given = [
        ("copies", options.copies.is_some(), true),
        ("every", options.every.is_some(), true),
        ("alpha", options.alpha.is_some(), true),
        ("edit", options.edit.is_some(), false),
        ("edits", options.edits.is_some(), false),
        ("spread", options.spread.is_some(), false),
        ("word", options.word.is_some(), false),
    ];
    for (name, given, of_chowdhury) in given {
        if given && of_chowdhury != chowdhury {
            let (other, this) = if chowdhury {
                ("cherkasova", "chowdhury")
            } else {
                ("chowdhury", "cherkasova")
            };
            return Err(Error::BadParameter {
                name,
                given: format!("with --recipe {this}"),
                limit: format!("it belongs to --recipe {other}"),
            });
        }
    }
    let recipe = if chowdhury {
        let usual = Chowdhury::default();
        Recipe::Chowdhury(Chowdhury {
            copies: options.copies.unwrap_or(usual.copies),
            every: options.every.unwrap_or(usual.every),
            alpha: options.alpha.unwrap_or(usual.alpha),
        })
    } else {
        let usual = Cherkasova::default();
        Recipe::Cherkasova(Cherkasova {
            edit: options.edit.unwrap_or(usual.edit),
            edits: options.edits.clone().unwrap_or(usual.edits),
            spread: options.spread.unwrap_or(usual.spread),
            word: options.word.clone().unwrap_or(usual.word),
        })
    };
    Ok(PerturbConfig {
        read: ReadConfig {
            format: options.format,
            text_field: options.text_field.clone(),
            id_field: options.id_field.clone(),
            max_document: options.max_document,
            max_ratio: options.max_ratio,
            ..ReadConfig::default()
        },
        detector: options.detect_charset,
        recipe,
        originals: options.originals,
        background: match (options.background, options.no_background) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        seed: options.seed,
    })
}

fn table(report: &PerturbReport) -> String {
    let mut out = String::new();
    let mut row = |what: &str, text: String| {
        let _ = writeln!(out, "{what:<27}{text}");
    };
    row("records read", report.read.records.to_string());
    for (kind, n) in &report.read.skipped {
        row(&format!("  skipped: {kind}"), n.to_string());
    }
    for (reason, n) in &report.read.rejected {
        row(&format!("  rejected: {reason}"), n.to_string());
    }
    row("  documents", report.read.documents.to_string());
    if let Some(average) = report.average_words {
        row("words on average", format!("{average:.1}"));
    }
    if let Some(terms) = report.terms {
        row("terms to draw from", terms.to_string());
    }
    row("originals", report.originals.to_string());
    if let Some(background) = report.background {
        row("background", background.to_string());
    }
    if report.same_text > 0 {
        row("  with an original's text", report.same_text.to_string());
    }
    row("copies", report.copies.to_string());
    if report.left_out > 0 {
        row("  left out, without a word", report.left_out.to_string());
    }
    for (kind, n) in &report.edits {
        row(&format!("edits: {kind}"), n.to_string());
    }
    if report.no_next > 0 {
        row("  swaps of a last word", report.no_next.to_string());
    }
    row("true pairs", report.pairs.to_string());
    out
}
