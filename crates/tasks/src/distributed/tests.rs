//! Whole jobs, with rows in random order, against all comparisons and for any number of places.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::*;
use lookalike_base::{Measure, Random, Threshold};
use lookalike_engine::shingle::Shingler;
use lookalike_text::read::{ContentKind, RawDocument};

/// Small shingles, so that random texts resemble each other.
fn config(places: u32, threshold: (u64, u64)) -> Config {
    Config {
        shingle: ShingleConfig {
            shingle_size: 2,
            ..ShingleConfig::default()
        },
        criterion: Criterion {
            measure: Measure::Resemblance,
            threshold: Threshold::new(threshold.0, threshold.1).unwrap(),
        },
        sampling: Sampling::Full,
        size_groups: SizeGroups::default(),
        places,
        memory: 1 << 20,
        scratch: std::env::temp_dir(),
        bands: None,
        look_up: false,
        rule: None,
    }
}

/// An engine: brings rows to tasks by place, several places to a task, in random order.
struct Engine {
    random: Random,
    tasks: u64,
    /// Bytes of the rows of each step.
    bytes: Vec<usize>,
}

impl Engine {
    fn run(&mut self, rows: Vec<Row>, make: impl Fn() -> Box<dyn Stage>) -> Vec<Row> {
        let mut out = Vec::new();
        for task in self.tasks_of(rows) {
            let mut stage = make();
            for row in task {
                stage.take(row.place, &row.blob, &mut out).unwrap();
            }
            while stage.step(&mut out).unwrap() {}
        }
        out
    }

    fn tasks_of(&mut self, mut rows: Vec<Row>) -> Vec<Vec<Row>> {
        self.bytes.push(rows.iter().map(|row| row.blob.len()).sum());
        for n in (1..rows.len()).rev() {
            rows.swap(n, self.random.below(n as u64 + 1) as usize);
        }
        let mut tasks: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        for row in rows {
            let task = u64::from(row.place).wrapping_mul(7919) % self.tasks;
            tasks.entry(task).or_default().push(row);
        }
        tasks.into_values().collect()
    }
}

type Pair = (String, String, [u32; 3], bool);

/// The pairs of texts with a side each; identifiers are numbers.
fn pairs(config: &Config, texts: &[(Side, String)], seed: u64, block: usize) -> Vec<Pair> {
    let random = Random::new(seed);
    let mut engine = Engine {
        random,
        tasks: 1 + seed % 5,
        bytes: Vec::new(),
    };
    let mut rows = Vec::new();
    // Three tasks read the texts.
    for task in 0..3 {
        let mut intake = Intake::new(config, Vec::new()).unwrap();
        for (n, (side, text)) in texts.iter().enumerate().filter(|(n, _)| n % 3 == task) {
            let id = format!("{n:05}");
            intake
                .add(
                    text,
                    ContentKind::Text,
                    id.as_bytes(),
                    (&[], Vec::new()),
                    *side,
                    &mut rows,
                )
                .unwrap();
        }
        intake.finish(&mut rows).unwrap();
    }
    let documents = rows;
    let postings = if config.bands.is_some() {
        engine.run(documents.clone(), || Box::new(Bands::new(config).unwrap()))
    } else {
        let keys = engine.run(documents.clone(), || Box::new(Frequencies::new(config)));
        let mut both = engine.run(keys, || Box::new(Classes::new(config)));
        both.extend(documents.iter().cloned());
        engine.run(both, || Box::new(Prefixes::new(config)))
    };
    let pairs = engine.run(postings, || Box::new(with_block(config, block)));
    let mut both = engine.run(pairs, || Box::new(Blocks::new(config)));
    both.extend(documents);
    let rows = engine.run(both, || Box::new(Verify::new(config)));
    let mut found = Vec::new();
    for task in engine.tasks_of(rows) {
        let (mut results, mut out) = (PartResults::new(config), Vec::new());
        for row in task {
            results.take(row.place, &row.blob, &mut out).unwrap();
        }
        while results.step(&mut out).unwrap() {}
        for row in out {
            let take = |pair| {
                found.push(pair);
                Ok(())
            };
            Found::each(&row.blob, take).unwrap();
        }
    }
    let text = |id: &[u8]| String::from_utf8(id.to_vec()).unwrap();
    let mut found: Vec<Pair> = found
        .iter()
        .map(|found| (text(&found.a), text(&found.b), found.numbers, found.exact))
        .collect();
    found.sort();
    found
}

/// Candidates with shorter lists than usual cut into blocks.
fn with_block(config: &Config, block: usize) -> Candidates {
    let mut made = Candidates::new(config);
    made.pairs.block = block;
    made
}

/// The same by comparing all texts.
fn expected(config: &Config, texts: &[(Side, String)]) -> Vec<Pair> {
    let mut shingler = Shingler::<u64>::new(&config.shingle);
    let levels = config.sampling.levels(config.size_groups.count());
    let mut documents = Vec::new();
    for (n, (side, text)) in texts.iter().enumerate() {
        let document = RawDocument::of_text(text, ContentKind::Text);
        let mut set = Vec::new();
        let facts = shingler.shingle(&document, (0, u64::MAX), &mut set);
        if facts.words > 0 {
            let level = levels.level_of_group[usize::from(config.size_groups.group(facts.words))];
            documents.push((n, *side, facts.md5, set, level));
        }
    }
    let mut out = Vec::new();
    let mut add = |a: usize, b: usize| {
        let ((n, _, md5, set_a, level_a), (m, _, other, set_b, level_b)) =
            (&documents[a], &documents[b]);
        let bounds = levels.rates[usize::from(*level_a.max(level_b))].bounds::<u64>();
        let at = |set: &Vec<u64>| -> Vec<u64> {
            let of = |key: &&u64| bounds.0 <= **key && **key <= bounds.1;
            set.iter().filter(of).copied().collect()
        };
        let (x, y) = (at(set_a), at(set_b));
        let shared = x.iter().filter(|key| y.contains(key)).count() as u64;
        let exact = md5 == other;
        let reached = config
            .criterion
            .reached(shared, x.len() as u64, y.len() as u64);
        if exact || shared > 0 && reached {
            let numbers = match exact {
                true => [set_a.len() as u32; 3],
                false => [shared as u32, x.len() as u32, y.len() as u32],
            };
            out.push((format!("{n:05}"), format!("{m:05}"), numbers, exact));
        }
    };
    if config.look_up {
        let first = |side: Side| {
            let mut first: HashMap<[u8; 16], usize> = HashMap::new();
            for (n, document) in documents.iter().enumerate().filter(|(_, d)| d.1 == side) {
                first.entry(document.2).or_insert(n);
            }
            first
        };
        for b in first(Side::Collection).into_values() {
            for a in (0..documents.len()).filter(|&a| documents[a].1 == Side::Query) {
                add(a, b);
            }
        }
    } else {
        let mut first: HashMap<[u8; 16], usize> = HashMap::new();
        let mut distinct = Vec::new();
        for (n, document) in documents.iter().enumerate() {
            match first.get(&document.2) {
                Some(&first) => add(first, n),
                None => {
                    first.insert(document.2, n);
                    distinct.iter().for_each(|&other| add(other, n));
                    distinct.push(n);
                }
            }
        }
    }
    out.sort();
    out
}

fn texts(seed: u64, number: usize, look_up: bool) -> Vec<(Side, String)> {
    let mut random = Random::new(seed);
    let mut texts: Vec<String> = vec!["".into(), "one".into(), "One!".into()];
    for _ in 0..number {
        let from = &texts[random.below(texts.len() as u64) as usize];
        let mut words: Vec<String> = from.split_whitespace().map(Into::into).collect();
        if words.is_empty() || random.below(10) < 3 {
            let length = 5 + random.below(40);
            words = (0..length).map(|_| random.below(60).to_string()).collect();
        }
        for _ in 0..random.below(4) {
            let at = random.below(words.len() as u64) as usize;
            words[at] = random.below(1000).to_string();
        }
        texts.push(words.join(" "));
    }
    let side = |random: &mut Random| match (look_up, random.below(2)) {
        (false, _) => Side::Any,
        (_, 0) => Side::Query,
        _ => Side::Collection,
    };
    texts
        .into_iter()
        .map(|text| (side(&mut random), text))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pairs_are_those_of_all_comparisons(
        seed in 0u64..1 << 40,
        number in 0usize..120,
        places in 1u32..9,
        p in 1u64..=20,
        look_up in any::<bool>(),
        block in 1usize..6,
        measure in 0usize..4,
    ) {
        let mut config = config(places, (p, 20));
        config.look_up = look_up;
        config.criterion.measure =
            [Measure::Resemblance, Measure::Containment, Measure::Cosine, Measure::Dice][measure];
        // Everything beyond a kilobyte is written to files.
        config.memory = 1024;
        let texts = texts(seed, number, look_up);
        prop_assert_eq!(pairs(&config, &texts, seed, block), expected(&config, &texts));
    }

    #[test]
    fn samples_are_those_of_all_comparisons(
        seed in 0u64..1 << 40,
        places in 1u32..9,
        p in 1u64..=20,
        which in 0usize..4,
    ) {
        let mut config = config(places, (p, 20));
        config.sampling = ["1/4", "1/4:2", "full,1/2:1,1/4:2", "1/4:3,full,1/2:1"][which].parse().unwrap();
        config.size_groups = "10,25".parse().unwrap();
        if which < 2 {
            config.size_groups = SizeGroups::default();
        }
        let texts = texts(seed, 100, false);
        prop_assert_eq!(pairs(&config, &texts, seed, 4), expected(&config, &texts));
    }
}

/// Every kind of blob, with a byte changed or cut off: an error, or other results, but no panic.
#[test]
fn damaged_blobs_do_no_harm() {
    let mut config = config(3, (1, 2));
    config.look_up = true;
    let mut random = Random::new(11);
    let given = texts(3, 60, true);
    let mut intake = Intake::new(&config, Vec::new()).unwrap();
    let mut documents = Vec::new();
    for (n, (side, text)) in given.iter().enumerate() {
        let id = n.to_string();
        intake
            .add(
                text,
                ContentKind::Text,
                id.as_bytes(),
                (&[], Vec::new()),
                *side,
                &mut documents,
            )
            .unwrap();
    }
    intake.finish(&mut documents).unwrap();
    let mut engine = Engine {
        random: Random::new(1),
        tasks: 1,
        bytes: Vec::new(),
    };
    type Make<'m> = Box<dyn Fn() -> Box<dyn Stage> + 'm>;
    let makes: [(Make<'_>, bool); 6] = [
        (Box::new(|| Box::new(Frequencies::new(&config))), false),
        (Box::new(|| Box::new(Classes::new(&config))), false),
        (Box::new(|| Box::new(Prefixes::new(&config))), true),
        (Box::new(|| Box::new(with_block(&config, 2))), false),
        (Box::new(|| Box::new(Blocks::new(&config))), false),
        (Box::new(|| Box::new(Verify::new(&config))), true),
    ];
    let damage = |row: &mut Row, random: &mut Random| {
        let at = random.below(row.blob.len() as u64) as usize;
        match random.below(4) {
            0 => row.blob.truncate(at),
            _ => row.blob[at] ^= 1 << random.below(8),
        }
    };
    let mut rows = documents.clone();
    let mut errors = 0;
    for (make, with_documents) in &makes {
        if *with_documents {
            rows.extend(documents.iter().cloned());
        }
        for _ in 0..300 {
            let mut rows = rows.clone();
            let damaged = random.below(rows.len() as u64) as usize;
            damage(&mut rows[damaged], &mut random);
            let (mut stage, mut out) = (make(), Vec::new());
            let taken = rows
                .iter()
                .try_for_each(|row| stage.take(row.place, &row.blob, &mut out));
            let done = taken.and_then(|()| {
                while stage.step(&mut out)? {}
                Ok(())
            });
            errors += u32::from(done.is_err());
        }
        rows = engine.run(rows, make);
    }
    for _ in 0..300 {
        let mut rows = rows.clone();
        let damaged = random.below(rows.len() as u64) as usize;
        damage(&mut rows[damaged], &mut random);
        let (mut results, mut out) = (PartResults::new(&config), Vec::new());
        let taken = rows
            .iter()
            .try_for_each(|row| results.take(row.place, &row.blob, &mut out));
        let done = taken.and_then(|()| {
            while results.step(&mut out)? {}
            Ok(())
        });
        errors += u32::from(done.is_err());
    }
    assert!(errors > 300, "{errors}");
}

#[test]
fn bands_find_only_pairs_and_most_of_them() {
    let mut config = config(4, (17, 20));
    config.bands = Some((16, 4));
    let texts = texts(5, 400, false);
    let found = pairs(&config, &texts, 1, 4096);
    config.bands = None;
    let all = pairs(&config, &texts, 1, 4096);
    assert!(found.iter().all(|pair| all.contains(pair)));
    assert!(
        found.len() * 100 >= all.len() * 98,
        "{} of {}",
        found.len(),
        all.len()
    );
    assert!(all.len() > 100);
}
