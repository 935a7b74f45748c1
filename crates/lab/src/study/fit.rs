//! Tests whether document sizes follow a power law.

/// A straight line through ranks and words on logarithmic axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    pub slope: f64,
    /// Share of the variance of log words that the line explains.
    pub explained: f64,
    /// Slopes of the first and the second half of the ranks on the logarithmic axis. For a power law
    /// they are equal.
    pub halves: Option<(f64, f64)>,
}

/// The largest documents are outliers, and the last tenth is cut off by files that are not real
/// documents. The line is fitted to the ranks between.
const FIRST_RANK: u64 = 100;

/// Fewer points between these limits are too few for a fit; all points are used instead.
const LEAST_POINTS: usize = 10;

/// Least squares; `None` for fewer than two ranks with words.
pub fn power_law(sizes: &[(u64, u64)]) -> Option<PowerLaw> {
    let known: Vec<(u64, u64)> = sizes
        .iter()
        .copied()
        .filter(|&(r, w)| r > 0 && w > 0)
        .collect();
    let last = sizes.iter().map(|&(rank, _)| rank).max()?;
    let between = |&&(rank, _): &&(u64, u64)| rank >= FIRST_RANK && rank <= last - last / 10;
    let mut chosen: Vec<(u64, u64)> = known.iter().filter(between).copied().collect();
    if chosen.len() < LEAST_POINTS {
        chosen = known;
    }
    let points: Vec<(f64, f64)> = chosen
        .iter()
        .map(|&(rank, words)| ((rank as f64).log10(), (words as f64).log10()))
        .collect();
    let (slope, explained) = line(&points)?;
    let middle = (points.first()?.0 + points.last()?.0) / 2.0;
    let (first, second): (Vec<_>, Vec<_>) = points.iter().partition(|(x, _)| *x <= middle);
    let enough = first.len().min(second.len()) >= LEAST_POINTS / 2;
    let halves = line(&first).zip(line(&second)).filter(|_| enough);
    Some(PowerLaw {
        slope,
        explained,
        halves: halves.map(|(a, b)| (a.0, b.0)),
    })
}

/// Slope and share explained; `None` if all points are at one place.
pub(crate) fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let (sum_x, sum_y) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    if points.is_empty() || xx == 0.0 {
        return None;
    }
    let slope = xy / xx;
    let explained = if yy > 0.0 { slope * xy / yy } else { 1.0 };
    Some((slope, explained))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_again() {
        // words = 10^6 / sqrt(rank), at ranks whose roots are whole.
        let sizes: Vec<(u64, u64)> = (1..=100).map(|k| (k * k, 1_000_000 / k)).collect();
        let fit = power_law(&sizes).unwrap();
        assert!((fit.slope + 0.5).abs() < 1e-3, "{fit:?}");
        assert!(fit.explained > 0.9999);
        let (first, second) = fit.halves.unwrap();
        assert!((first - second).abs() < 1e-2);
    }

    #[test]
    fn three_documents_are_fitted_whole() {
        // log10: (0, 3), (log 2, 2), (log 3, 1): slope = sum(dx dy) / sum(dx dx).
        let fit = power_law(&[(1, 1000), (2, 100), (3, 10)]).unwrap();
        let x = [0.0, 2f64.log10(), 3f64.log10()];
        let mean = (x[0] + x[1] + x[2]) / 3.0;
        let slope = (x[0] - x[2]) / x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
        assert!((fit.slope - slope).abs() < 1e-12);
        assert_eq!(fit.halves, None);
    }

    #[test]
    fn nothing_to_fit() {
        assert_eq!(power_law(&[]), None);
        assert_eq!(power_law(&[(1, 500)]), None);
        assert_eq!(power_law(&[(1, 0), (2, 0)]), None);
    }
}
