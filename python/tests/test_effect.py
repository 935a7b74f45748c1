"""Metrics of `lookalike lab effect` equal those of trec_eval on the files that each treatment stands for."""

import json
import os
import random
import subprocess

import pytrec_eval

TREATMENTS = ["given", "unified", "irrelevant", "removed", "condensed"]
METRICS = ["map", "ndcg_cut_10", "P_10", "recip_rank", "recall_1000"]


def effect(directory, *arguments):
    # scripts/test-python.sh builds it.
    command = [os.environ["LOOKALIKE_LAB"], "effect", "--qrels", "qrels", "--clusters", "clusters.jsonl"]
    done = subprocess.run([*command, *arguments], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(directory, seed):
    """Writes clusters, judgements and two runs, and returns them."""
    chance = random.Random(seed)
    unit = {}
    with open(directory / "clusters.jsonl", "w") as file:
        for cluster in range(60):
            names = [f"c{cluster}-{n}" for n in range(chance.randint(2, 6))]
            unit |= {name: f"unit {cluster}" for name in names}
            members = [{"docno": name, "kind": "near", "resemblance": None} for name in names]
            members[0]["kind"] = "representative"
            line = {"id": cluster, "representative": names[0], "members": members}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    documents = [*unit, *(f"Alone{n}" for n in range(1500))]
    qrels, runs = {}, {"a.run": {}, "b.run.gz": {}}
    for topic in map(str, range(12)):
        judged = chance.sample(documents, chance.choice([1, 40, 400]))
        # Graded, some negative; topic 3 has no relevant document.
        most = 0 if topic == "3" else 4
        qrels[topic] = {name: chance.randint(-2, most) for name in judged}
        for run in runs.values():
            # A topic that is not retrieved, ties, and scores that differ only in double precision.
            if topic == "5":
                continue
            ranked = chance.sample(documents, chance.choice([3, 300, 1300]))
            run[topic] = {name: chance.randint(0, 200) + chance.choice([0, 1e-9]) for name in ranked}
    with open(directory / "qrels", "w") as file:
        for topic, grades in qrels.items():
            file.writelines(f"{topic} 0 {name} {grade}\n" for name, grade in grades.items())
    for name, run in runs.items():
        lines = [f"{t} Q0 {d} 1 {s!r} x\n" for t, scores in run.items() for d, s in scores.items()]
        chance.shuffle(lines)
        (directory / name.removesuffix(".gz")).write_text("".join(lines))
        if name.endswith(".gz"):
            subprocess.run(["gzip", directory / name.removesuffix(".gz")], check=True)
    return unit, qrels, runs


def single(score):
    """A number in single precision, as trec_eval keeps scores."""
    import struct

    return struct.unpack("f", struct.pack("f", score))[0]


def treated(treatment, unit, grades, scores):
    """The judgements and the run of a topic after a treatment, as trec_eval reads them."""
    if treatment == "given":
        return grades, scores
    units = {}
    for name, grade in grades.items():
        of = unit.get(name, name)
        units[of] = max(units.get(of, grade), grade)
    if treatment == "unified":
        return {name: units[unit.get(name, name)] for name in grades}, scores
    order = sorted(scores, key=lambda name: (single(scores[name]), name.encode()), reverse=True)
    seen, ranked = set(), []
    for name in order:
        of = unit.get(name, name)
        if of not in seen:
            ranked.append(of)
        elif treatment == "irrelevant":
            ranked.append(f"copy {name}")
        seen.add(of)
    if treatment == "condensed":
        ranked = [of for of in ranked if of in units]
    return units, {of: float(len(ranked) - n) for n, of in enumerate(ranked)}


def test_the_values_are_those_of_trec_eval(tmp_path):
    for seed in range(3):
        directory = tmp_path / str(seed)
        directory.mkdir()
        unit, qrels, runs = made(directory, seed)
        files = [argument for name in runs for argument in ("--run", name)]
        expected = ["\t".join(["run", "treatment", "topic", *METRICS])]
        means = {}
        for name, run in runs.items():
            for treatment in TREATMENTS:
                both = {t: treated(treatment, unit, qrels[t], run.get(t, {})) for t in qrels}
                judged = {topic: grades for topic, (grades, _) in both.items()}
                ranked = {topic: scores for topic, (_, scores) in both.items() if scores}
                found = pytrec_eval.RelevanceEvaluator(judged, METRICS).evaluate(ranked)
                none = dict.fromkeys(METRICS, 0.0)
                values = {topic: found.get(topic, none) for topic in qrels}
                # As trec_eval -c.
                mean = {m: sum(v[m] for v in values.values()) / len(qrels) for m in METRICS}
                for topic, value in {**values, "all": mean}.items():
                    cells = [f"{value[metric]:.6f}" for metric in METRICS]
                    expected.append("\t".join([name, treatment, topic, *cells]))
                means[name, treatment] = mean
        assert effect(directory, *files, "--tsv").splitlines() == expected
        systems = json.loads(effect(directory, *files, "--json"))["systems"]
        for system, name in zip(systems, runs):
            for treatment in TREATMENTS:
                for metric, value in means[name, treatment].items():
                    assert abs(system["means"][treatment][metric] - value) < 1e-12
        # The table has four decimals.
        rows = [line.split() for line in effect(directory, "--run", "a.run").splitlines()]
        for treatment in TREATMENTS:
            row = next(row for row in rows if row[:1] == [treatment])
            assert row[1:] == [f"{means['a.run', treatment][metric]:.4f}" for metric in METRICS]
