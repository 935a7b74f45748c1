//! Lists the near-duplicates among the lines of standard input: `cargo run --example texts`

use lookalike::{Options, Result, find_pairs};

/// Lists the pairs of texts of which at least half of the shingles are shared.
pub fn near_duplicates(texts: &[String]) -> Result<String> {
    let options = Options::default().threshold(0.5).shingle_size(3);
    let mut text = String::new();
    for pair in find_pairs(texts, options)? {
        text += &format!("{:.3} {} {}\n", pair.resemblance, pair.a, pair.b);
    }
    Ok(text)
}

fn main() -> Result<()> {
    let texts: Vec<String> = std::io::stdin()
        .lines()
        .map_while(|line| line.ok())
        .collect();
    print!("{}", near_duplicates(&texts)?);
    Ok(())
}
