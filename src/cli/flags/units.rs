//! Flags for repeated lines and paragraphs.

use clap::Args;
use lookalike_engine::cluster::ResultFormat;

use lookalike_tasks::passages::{Of, Scope, TextUnit, UnitsConfig};

/// Which lines or paragraphs are compared.
#[derive(Debug, Args)]
#[command(next_help_heading = "Passages")]
pub(crate) struct UnitFlags {
    /// Find repeated lines or paragraphs, not runs of --length tokens
    ///
    /// Two lines are equal if their tokens are. Paragraphs are separated by empty lines. With
    /// --remove, whole lines or paragraphs go.
    ///
    /// Example: --unit line
    #[arg(long, value_name = "UNIT", conflicts_with = "length")]
    pub unit: Option<TextUnit>,
    /// Compare the units of the whole collection, or of each document
    ///
    /// Example: --unit line --scope document
    #[arg(
        long,
        value_name = "SCOPE",
        default_value_t = Scope::Collection,
        requires = "unit",
        hide_short_help = true
    )]
    scope: Scope,
    /// Least tokens of a line or paragraph that counts
    ///
    /// Example: --unit line --least 5
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "unit",
        hide_short_help = true
    )]
    least: u32,
}

impl UnitFlags {
    /// The parameters in the form that the library takes, if units are compared.
    pub fn config(&self, of: Of, results: ResultFormat) -> Option<UnitsConfig> {
        self.unit.map(|unit| UnitsConfig {
            unit,
            scope: self.scope,
            least: self.least,
            of,
            results,
        })
    }
}
