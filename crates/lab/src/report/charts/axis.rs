//! Axes: a range with ticks at round numbers.

use lookalike_base::numbers::count;

/// One direction of a panel.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub title: String,
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
    /// The place of each gridline, and its label. A gridline without a label is fainter.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From `low` to `high`, with at most `most` steps between ticks at multiples of 1, 2 or 5
    /// times a power of ten. A very short range is extended at both ends.
    pub(crate) fn linear(title: &str, low: f64, high: f64, most: u32) -> Axis {
        let (low, high) = if high - low < 0.03 {
            (low - 0.05, high + 0.05)
        } else {
            (low, high)
        };
        // The ends of a range are sums of fractions, so a rounding error may separate them from a
        // tick.
        let most = f64::from(most) + 0.5;
        let steps = (-2..12).flat_map(|power| [1, 2, 5].map(|digit| (digit, power)));
        let value = |(digit, power): (i32, i32)| f64::from(digit) * 10f64.powi(power);
        let fits = |step: &(i32, i32)| (high - low) / value(*step) <= most;
        let (step, power) = steps
            .into_iter()
            .find(fits)
            .map_or((high - low, 0), |s| (value(s), s.1));
        let slack = step * 1e-6;
        let (first, last) = (
            ((low - slack) / step).ceil() as i64,
            ((high + slack) / step).floor() as i64,
        );
        let digits = usize::try_from(-power).unwrap_or(0);
        let tick = |at: i64| (at as f64 * step, format!("{:.digits$}", at as f64 * step));
        Axis {
            title: title.into(),
            low,
            high,
            logarithmic: false,
            ticks: (first..=last).map(tick).collect(),
        }
    }

    /// Powers of ten around `least` and `greatest`, both above 0, with faint lines between them.
    pub(crate) fn decades(title: &str, least: f64, greatest: f64) -> Axis {
        let from = least.log10().floor() as i32;
        let to = (greatest.log10().ceil() as i32).max(from + 1);
        let mut ticks = Vec::new();
        for power in from..=to {
            let one = 10f64.powi(power);
            ticks.push((one, count(one.round() as u64)));
            if power < to {
                ticks.extend((2..10).map(|k| (f64::from(k) * one, String::new())));
            }
        }
        Axis {
            title: title.into(),
            low: 10f64.powi(from),
            high: 10f64.powi(to),
            logarithmic: true,
            ticks,
        }
    }

    /// The place of a value on the axis, from 0 at its lower end to 1 at its upper end.
    pub(super) fn along(&self, value: f64) -> f64 {
        let place = |value: f64| match self.logarithmic {
            true => value.log10(),
            false => value,
        };
        // A fitted line that would leave the panel follows its edge.
        let value = value.clamp(self.low, self.high);
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let texts = |axis: Axis| -> Vec<String> {
            let texts = axis.ticks.into_iter().map(|(_, text)| text);
            texts.filter(|text| !text.is_empty()).collect()
        };
        assert_eq!(
            texts(Axis::linear("", 0.49, 1.0, 6)),
            ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0"]
        );
        // One value gets room around it.
        assert_eq!(
            texts(Axis::linear("", 0.85, 0.85, 5)),
            ["0.80", "0.82", "0.84", "0.86", "0.88", "0.90"]
        );
        assert_eq!(
            texts(Axis::linear("", 0.0, 3.0, 10)),
            ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]
        );
        assert_eq!(
            texts(Axis::linear("", 0.0, 450.0, 10)),
            [
                "0", "50", "100", "150", "200", "250", "300", "350", "400", "450"
            ]
        );
        assert_eq!(
            texts(Axis::decades("", 7.0, 2_345.0)),
            ["1", "10", "100", "1,000", "10,000"]
        );
        assert_eq!(texts(Axis::decades("", 1.0, 1.0)), ["1", "10"]);
    }
}
