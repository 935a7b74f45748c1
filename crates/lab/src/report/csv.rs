//! Tables as CSV (RFC 4180, with line feeds).

use lookalike_base::ids::Threshold;

/// Lines of fields. The first line has the names of the columns.
pub(super) struct Csv(::csv::Writer<Vec<u8>>);

impl Csv {
    /// A table with these columns, whose names are separated by commas.
    pub(super) fn new(columns: &str) -> Csv {
        let mut table = Csv(::csv::Writer::from_writer(Vec::new()));
        table.line(columns.split(',').map(String::from));
        table
    }

    pub(super) fn line(&mut self, fields: impl IntoIterator<Item = String>) {
        // Writing to memory does not fail, and all lines are equally long.
        let _ = self.0.write_record(fields.into_iter().collect::<Vec<_>>());
    }

    pub(super) fn finish(self) -> String {
        let bytes = self.0.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// A value that a field has.
pub(super) trait AsField {
    fn field(&self) -> String;
}

macro_rules! shown {
    ($($type:ty),+) => { $(impl AsField for $type {
        fn field(&self) -> String {
            self.to_string()
        }
    })+ };
}
shown!(str, String, usize, u32, u64, i128, Threshold);

/// Six decimals.
impl AsField for f64 {
    fn field(&self) -> String {
        format!("{self:.6}")
    }
}

/// Empty where it is undefined.
impl<T: AsField> AsField for Option<T> {
    fn field(&self) -> String {
        self.as_ref().map_or_else(String::new, T::field)
    }
}

/// The fields of some values.
macro_rules! fields {
    ($($value:expr),* $(,)?) => { vec![$($crate::report::csv::AsField::field(&$value)),*] };
}
pub(super) use fields;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_lines_end_with_a_line_feed() {
        let mut table = Csv::new("x,y,z");
        table.line(["a,b", "say \"x\"", "1"].map(String::from));
        assert_eq!(table.finish(), "x,y,z\n\"a,b\",\"say \"\"x\"\"\",1\n");
        assert_eq!(fields![Some(0.5), None::<u64>], ["0.500000", ""]);
    }
}
