"""Spark, on a cluster of a master and two workers: the same results as on one machine."""

import datetime
import decimal
import gzip
import json
import os
import random
import re
import signal
import subprocess
import threading
import time
import warnings
from pathlib import Path

import pyarrow
import pytest
from made import texts_of
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lookalike
import lookalike.spark
from lookalike import _native

PARAMETERS = {"threshold": 0.5, "shingle_size": 3}
TEXTS = texts_of(1, 200)
SCRIPT = Path(__file__).parents[2] / "scripts" / "spark-cluster.sh"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    directory = tmp_path_factory.mktemp("spark")
    subprocess.run([SCRIPT, "start", directory], check=True, timeout=120)
    yield directory
    subprocess.run([SCRIPT, "stop", directory], check=True, timeout=60)


@pytest.fixture(scope="module")
def spark(cluster):
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master((cluster / "url").read_text().strip())
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", False)
        .config("spark.sql.shuffle.partitions", 8)
        .config("spark.executor.memory", "768m")
        # The kernel keeps every Python process within it.
        .config("spark.executor.pyspark.memory", "1536m")
        .getOrCreate()
    )
    yield session
    session.stop()


def rows(df):
    return sorted(tuple(row) for row in df.collect())


def table(found):
    return sorted(tuple(row.values()) for row in pyarrow.table(found).to_pylist())


def frame(spark, texts, slices=3):
    df = spark.createDataFrame(list(enumerate(texts)), "id long, text string")
    return df.repartition(slices, "id")


@pytest.mark.parametrize("partitions", [1, 5, None])
def test_pairs_are_those_of_one_machine(spark, partitions):
    found = lookalike.spark.find_pairs(frame(spark, TEXTS), partitions=partitions, **PARAMETERS)
    expected = lookalike.find_pairs(TEXTS, **PARAMETERS)
    assert found.columns == expected.columns
    assert rows(found) == table(expected)


@pytest.mark.parametrize("score", ["containment", "overlap", "cosine", "dice"])
def test_scores(spark, score):
    found = lookalike.spark.find_pairs(frame(spark, TEXTS), score=score, **PARAMETERS)
    expected = lookalike.find_pairs(TEXTS, score=score, **PARAMETERS)
    assert found.columns == expected.columns
    assert rows(found) == table(expected)


@pytest.fixture(scope="module")
def reuters():
    """The stories of Reuters-21578, or made-up texts."""
    corpora = os.environ.get("LOOKALIKE_CORPORA")
    if not corpora:
        warnings.warn("LOOKALIKE_CORPORA IS NOT SET: NOTHING IS TESTED ON REAL TEXTS", stacklevel=1)
        return texts_of(2, 5000)
    texts = []
    for path in sorted((Path(corpora) / "reuters21578").iterdir()):
        if path.name.endswith((".sgm", ".sgm.gz")):
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rb") as file:
                text = file.read().decode("latin-1")
            texts += re.findall("<TEXT.*?>(.*?)</TEXT>", text, re.DOTALL)
    assert len(texts) == 21578
    return texts


def test_pairs_of_real_texts(spark, reuters):
    expected = table(lookalike.find_pairs(reuters, threshold=0.6))
    assert len(expected) > 500
    df = frame(spark, reuters, 5)
    assert rows(lookalike.spark.find_pairs(df, threshold=0.6, partitions=9)) == expected


def test_samples(spark, reuters):
    texts = reuters[:1500]
    for sampling in ["1/4:1", ",".join(["full"] + ["1/2"] * 3 + ["1/8"] * 7)]:
        found = lookalike.spark.find_pairs(frame(spark, texts), threshold=0.5, sampling=sampling)
        assert rows(found) == table(
            lookalike.find_pairs(texts, threshold=0.5, sampling=sampling)
        )


def test_min_hashes_find_most_pairs(spark, reuters):
    texts = reuters[:5000]
    found = rows(lookalike.spark.find_pairs(frame(spark, texts), method="minhash"))
    expected = table(lookalike.find_pairs(texts))
    assert set(found) <= set(expected)
    assert len(found) >= 0.95 * len(expected) > 50


def test_markup_by_content_type(spark, tmp_path):
    words = "the quick brown fox jumps over the lazy dog and runs away from <b>here</b> &amp; there"
    kinds = ["text/html; charset=utf-8", "text/plain", None, "TEXT/HTML", "application/xml"]
    texts = [words, words.replace("quick", "slow"), f"<html>{words}</html>"]
    given = [(f"{t}-{k}", texts[t], kinds[k]) for t in range(3) for k in range(len(kinds))]
    path = tmp_path / "in.jsonl"
    with open(path, "w") as file:
        for id, text, kind in given:
            line = {"id": id, "text": text} | ({"content_type": kind} if kind else {})
            print(json.dumps(line), file=file)
    run = lookalike.run(path, tmp_path / "out", threshold=0.3, shingle_size=2)
    near = {tuple(row.values())[:6] for row in pyarrow.table(run.pairs()).to_pylist()}
    assert near
    df = spark.createDataFrame(given, "id string, text string, kind string")
    pairs = lookalike.spark.find_pairs(df, threshold=0.3, shingle_size=2, content_type="kind")
    found = set(rows(pairs))
    exact = {
        (row["representative"], row["id"])
        for row in pyarrow.table(run.exact_duplicates()).to_pylist()
    }
    assert exact
    # The run has equal documents in a list of their own, and names a group by its first document.
    first = {b: a for a, b in exact} | {a: a for a, _ in exact}
    assert {pair for pair in found if first.get(pair[0], 0) != first.get(pair[1], 1)} == near
    assert {pair[:2] for pair in found} - {pair[:2] for pair in near} == exact


def test_ids_of_any_type(spark):
    expected = table(lookalike.find_pairs(TEXTS, **PARAMETERS))
    day = datetime.date(2020, 1, 1)
    moment = datetime.datetime(2020, 1, 1, 1, 2, 3, 456789)
    kinds = {
        "string": lambda n: f"{n:04}",
        "int": lambda n: n - 100,
        "smallint": lambda n: n - 100,
        "date": lambda n: day + datetime.timedelta(days=n),
        "timestamp": lambda n: moment + datetime.timedelta(microseconds=n),
        "decimal(20, 3)": lambda n: decimal.Decimal(1000 + n) / 1000,
        "decimal(38, 0)": lambda n: decimal.Decimal(10**37 + n),
        "bigint": lambda n: 2**53 + n,
        "double": lambda n: 1000.5 + n,
        "struct<site: string, page: int>": lambda n: ("x", 1000 + n),
    }
    for kind, id in kinds.items():
        given = [(id(n), text) for n, text in enumerate(TEXTS)]
        df = spark.createDataFrame(given, f"id {kind}, text string")
        found = lookalike.spark.find_pairs(df, **PARAMETERS)
        assert found.schema["id_a"].dataType == df.schema["id"].dataType
        assert rows(found) == [(id(a), id(b), *rest) for a, b, *rest in expected], kind


def test_ids_of_few_values_or_old_times(spark):
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    try:
        # Before 1883, the offset has seconds.
        moments = "timestamp'1850-01-01 00:00:00'", "timestamp'9999-12-31 00:00:00.000001'"
        for first, second in [("false", "true"), moments, ("X'00ff'", "X'01'"), ("date'-0044-03-15'", "date'2024-02-29'")]:
            df = spark.sql(f"select {first} id, 'a b' text union all select {second}, 'A b'")
            found = lookalike.spark.find_pairs(df)
            assert found.schema["id_a"].dataType == df.schema["id"].dataType
            assert found.where(f"id_a = {first} and id_b = {second}").count() == found.count() == 1, first
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_an_hour_that_comes_twice(spark):
    """The later row was removed, because times were compared as the clock showed them."""
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        given = "values (1, 'a b', timestamp'2024-10-27 00:50:00Z'), (2, 'A b', timestamp'2024-10-27 01:10:00Z')"
        df = spark.sql(f"select * from {given} as rows(id, text, moment)")
        for keep, kept in [("newest:moment", 2), ("min:moment", 1)]:
            assert [row["id"] for row in lookalike.spark.deduplicate(df, keep=keep).collect()] == [kept]
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_clusters_of_ids_of_two_types_are_refused(spark):
    """2.5 was 2."""
    df = spark.createDataFrame([(1, 2.5)], "id_a long, id_b double")
    with pytest.raises(ValueError, match="id_a has the type bigint, and id_b double: cast one"):
        lookalike.spark.clusters(df)


def test_clusters(spark):
    pairs = lookalike.find_pairs(TEXTS, **PARAMETERS)
    root = {}

    def find(n):
        while root.setdefault(n, n) != n:
            n = root[n]
        return n

    for a, b, *_ in table(pairs):
        a, b = find(a), find(b)
        root[max(a, b)] = min(a, b)
    found = lookalike.spark.clusters(lookalike.spark.find_pairs(frame(spark, TEXTS), **PARAMETERS))
    assert rows(found) == sorted((find(n), n) for n in root)


@pytest.mark.parametrize("rule", ["star", "cluster"])
def test_the_rows_that_stay(spark, rule):
    rng = random.Random(5)
    years = [str(rng.randint(2000, 2009)) if rng.random() < 0.9 else None for _ in TEXTS]
    given = [(n, text, years[n]) for n, text in enumerate(TEXTS)]
    df = spark.createDataFrame(given, "id long, text string, year string")
    one = pyarrow.table({"id": range(len(TEXTS)), "text": TEXTS, "year": years})
    policies = ["last", ["shortest", "last"], "longest", "newest:year"]
    for keep in [*policies, "prefer:year=2003,2001"]:
        found = lookalike.spark.deduplicate(df, keep=keep, rule=rule, **PARAMETERS)
        expected = pyarrow.table(lookalike.deduplicate(one, keep=keep, rule=rule, **PARAMETERS))
        assert found.columns == df.columns
        assert [row[0] for row in rows(found)] == expected["id"].to_pylist(), keep


CONDITIONS = [
    "a.source != b.source",
    "a.source == b.source",
    "a.page.lang == b.page.lang && has(b.page.lang)",
    "a.date < b.date && b.date - a.date <= days(3)",
    "!(a.source == b.source) || a.words != b.words",
    "a.host == b.host && a.rank <= b.rank",
]


def conditional(spark):
    """Many texts are there two or three times, with other values in their columns."""
    texts = TEXTS[:120] + TEXTS[:60] + [text.upper() for text in TEXTS[:30]]
    rng = random.Random(9)
    kind = "id long, text string, source string, date date, url string, rank int, page struct<lang:string>"

    def row(n):
        day = datetime.date(2024, 1, rng.randint(1, 6)) if rng.random() < 0.9 else None
        source = rng.choice("xyz") if rng.random() < 0.9 else None
        return n, texts[n], source, day, f"http://H{rng.randint(0, 2)}.org/{n}", rng.randint(0, 3), {"lang": rng.choice("xy")}

    given = [row(n) for n in range(len(texts))]
    names = [column.split()[0] for column in kind.split(", ")]
    one = pyarrow.table({name: [row[n] for row in given] for n, name in enumerate(names)})
    return spark.createDataFrame(given, kind).repartition(3, "id"), one


@pytest.mark.parametrize("where", CONDITIONS)
def test_conditions(spark, where):
    df, one = conditional(spark)
    for other in ({}, {"sampling": "1/2", "partitions": 3}):
        given = PARAMETERS | other | {"where": where}
        found = rows(lookalike.spark.find_pairs(df, **given))
        given.pop("partitions", None)
        expected = table(lookalike.find_pairs(one, ids="id", **given))
        assert found == expected and len(expected) > 10
    given = PARAMETERS | {"where": where}
    for keep in ("first", "max:rank"):
        result = lookalike.deduplicate(one, keep=keep, ids="id", **given)
        gone = lookalike.spark.removed(df, keep=keep, **given)
        gone = gone.select("id", "lookalike.survivor", "lookalike.reason")
        expected = pyarrow.table(result.removed).select(["row", "survivor", "reason"])
        near = [(*row[:2], "near" if row[2] == "near" else "exact") for row in table(expected)]
        assert rows(gone) == near and len(near) > 10
    new, old = df.where("id >= 70"), df.where("id < 70")
    kept = lookalike.spark.deduplicate(new, keep="max:rank", against=old, **given)
    result = lookalike.deduplicate(
        one.slice(70), keep="max:rank", against=one.slice(0, 70), ids="id", **given
    )
    assert sorted(row["id"] for row in kept.collect()) == result.kept["id"].to_pylist()


def test_conditions_that_make_no_sense_are_refused(spark):
    df, _ = conditional(spark)
    for where, said in [
        ("a.source ==", "is not an expression"),
        ("a.file != b.file", "texts in memory have no file"),
        ("a.docno < b.docno", "rows have no docno"),
    ]:
        with pytest.raises(ValueError, match=said):
            lookalike.spark.find_pairs(df, where=where)


def test_a_query_has_conditions(spark):
    df, one = conditional(spark)
    given = PARAMETERS | {"where": "a.source != b.source"}
    collection, new = df.where("id < 70"), df.where("id >= 70")
    found = lookalike.spark.query(new, collection, **given).select("id_query", "id_match")
    pairs = {row[:2] for row in table(lookalike.find_pairs(one, ids="id", **given))}
    expected = {(b, a) for a, b in pairs if a < 70 <= b}
    assert set(rows(found)) == expected and len(expected) > 10


def test_dates_that_cannot_be_read(spark):
    """They were treated as missing, without a message."""
    given = [(1, "a b c", "31.12.2020"), (2, "A b c", "2019-05-06"), (3, "d e f", None)]
    df = spark.createDataFrame(given, "id long, text string, day string")
    for call in (lookalike.spark.deduplicate, lookalike.spark.removed):
        said = "keep=newest:day: 1 of 2 values cannot be read as a date, such as '31.12.2020'"
        with pytest.warns(UserWarning, match=said) as warned:
            found = call(df, keep=["longest", "newest:day"])
        ours = [warning for warning in warned if warning.category is UserWarning]
        assert [Path(warning.filename).name for warning in ours] == ["test_spark.py"]
        assert {row["id"] for row in found.collect()} == ({2, 3} if "lookalike" not in found.columns else {1})
        said = "keep=max:day: no value of day is a number or date .* it has '31.12.2020'"
        with pytest.raises(ValueError, match=said):
            call(df.where("id != 2"), keep="max:day")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        lookalike.spark.deduplicate(df.where("id != 1"), keep="newest:day")
        lookalike.spark.deduplicate(df.where("id = 3"), keep="newest:day")
        lookalike.spark.deduplicate(df, keep="prefer:day=31.12.2020")


def evidence_of(directory):
    """What the command says of each document that it removed."""
    evidence = {}
    for line in (directory / "removed.jsonl").read_text().splitlines():
        line = json.loads(line)
        numbers = (line["resemblance"], line["shared"])
        survivor = line["survivor"]
        # Spark cannot tell identical texts from texts with the same words.
        equal = line["reason"] in ("identical", "same words")
        reason = "exact" if equal else line["reason"]
        evidence[line["docno"]] = (reason, survivor["docno"], survivor["file"], *numbers)
    return evidence


def write_texts(path, texts):
    lines = (json.dumps({"id": str(n), "text": text}) for n, text in texts)
    path.write_text("".join(line + "\n" for line in lines))


@pytest.mark.parametrize(("rule", "keep"), [("star", "longest"), ("cluster", "first")])
def test_the_evidence_is_that_of_the_command(spark, tmp_path, rule, keep):
    texts = list(enumerate(TEXTS, 1000))
    write_texts(tmp_path / "in.jsonl", texts)
    gone = tmp_path / "removed"
    how = PARAMETERS | {"rule": rule}
    kept = tmp_path / "kept"
    lookalike.dedup(tmp_path / "in.jsonl", kept, removed=gone, keep=[keep], **how)
    expected = evidence_of(gone)
    df = spark.createDataFrame(texts, "id long, text string")
    found = lookalike.spark.removed(df, keep=keep, **how)
    assert found.columns == ["id", "text", "lookalike"]
    found = found.collect()
    assert {str(row["id"]) for row in found} == set(expected)
    for row in found:
        reason, survivor, _, *numbers = expected[str(row["id"])]
        if reason == "chain":
            numbers = [None, None]
        assert tuple(row["lookalike"]) == (reason, int(survivor), False, *numbers)
    reasons = {row["lookalike"]["reason"] for row in found}
    assert reasons == {"exact", "near"} | ({"chain"} if rule == "cluster" else set())


def test_rows_that_resemble_others_are_removed(spark, tmp_path):
    old, new = list(enumerate(TEXTS[::2])), list(enumerate(TEXTS[1::2]))
    write_texts(tmp_path / "old.jsonl", old)
    write_texts(tmp_path / "new.jsonl", new)
    lookalike.run(tmp_path / "old.jsonl", tmp_path / "old", **PARAMETERS)
    gone, against = tmp_path / "gone", tmp_path / "old"
    lookalike.dedup(
        tmp_path / "new.jsonl", tmp_path / "kept", removed=gone, against=against,
        keep=["shortest"], **PARAMETERS,
    )
    expected = evidence_of(gone)
    df, others = (spark.createDataFrame(side, "id int, text string") for side in (new, old))
    how = PARAMETERS | {"keep": "shortest", "against": others}
    found = lookalike.spark.removed(df, **how).collect()
    assert {str(row["id"]) for row in found} == set(expected)
    theirs = 0
    for row in found:
        reason, survivor, file, *numbers = expected[str(row["id"])]
        of_others = file == "old.jsonl"
        assert tuple(row["lookalike"]) == (reason, int(survivor), of_others, *numbers)
        theirs += of_others
    assert 0 < theirs < len(found)
    kept = {row["id"] for row in lookalike.spark.deduplicate(df, **how).collect()}
    assert kept == {n for n, _ in new} - {row["id"] for row in found}


def test_columns_with_dots_and_fields_of_structs(spark):
    df = frame(spark, TEXTS)
    expected = rows(lookalike.spark.deduplicate(df, keep="max:id", **PARAMETERS).select("id"))
    pairs = rows(lookalike.spark.find_pairs(df, **PARAMETERS))
    page = F.struct(F.col("id").alias("no."), F.col("text").alias("body"))
    df = df.select(page.alias("page"), F.col("text").alias("page.body.x"), F.col("id").alias("i`d"))
    for id, text in [("i`d", "page.body.x"), ("page.`no.`", "page.body"), ("i`d", "page.body")]:
        how = {"text": text, "ids": id, **PARAMETERS}
        found = lookalike.spark.deduplicate(df, keep="max:page.`no.`", **how)
        assert found.columns == df.columns
        assert rows(found.select("page.`no.`")) == expected
        assert rows(lookalike.spark.find_pairs(df, **how)) == pairs
        with pytest.warns(DeprecationWarning, match=r"write find_pairs\(df, text, ids="):
            assert rows(lookalike.spark.pairs(df, id, text, **PARAMETERS)) == pairs
        # The first parameters were the id and the text.
        policy = "max:page.`no.`"
        with pytest.warns(DeprecationWarning, match=r"deduplicate\(\): write ids=.*, text="):
            found = lookalike.spark.deduplicate(df, id, text, policy, **PARAMETERS)
        assert rows(found.select("page.`no.`")) == expected


def test_a_plan_names_the_steps(spark, capsys):
    lookalike.spark.deduplicate(frame(spark, TEXTS)).explain()
    plan = capsys.readouterr().out
    for step in "read frequencies classes prefixes candidates blocks verify pairs decide".split():
        assert f"lookalike_{step}(" in plan, step


def test_queries(spark, tmp_path):
    asked, collection = TEXTS[::3], TEXTS[1::3] + ["nothing like it"]
    path = tmp_path / "in.jsonl"
    with open(path, "w") as file:
        for n, text in enumerate(collection):
            print(json.dumps({"id": str(1000 + n), "text": text}), file=file)
    run = lookalike.run(path, tmp_path / "out", shingle_size=3)
    expected = []
    for answer in run.query(asked, threshold=0.5, top=0):
        for match in answer["matches"]:
            numbers = (match["score"], match["shared"], answer["keys_query"], match["keys"])
            expected.append((answer["query"], match["docno"], *numbers))
    given = [(str(1000 + n), text) for n, text in enumerate(collection)]
    second = spark.createDataFrame(given, "id string, text string")
    found = rows(lookalike.spark.query(frame(spark, asked), second, **PARAMETERS))
    # Texts without words match each other there, as identical ones.
    expected = [row for row in expected if lookalike.tokens(asked[row[0]])]
    assert found == sorted(expected)
    assert len(found) > 20


def test_a_template_that_many_share(spark):
    """20,000 documents with 60 words in common and 5 of their own, in 768 MB of heap.

    Their prefixes reach into the template, so a fingerprint has 20,000 postings, and the pairs of
    two blocks of it are made in tasks of their own.
    """
    rng = random.Random(7)
    template = " ".join(f"t{n}" for n in range(60))
    own = [" ".join(f"w{rng.randrange(1 << 40)}" for _ in range(5)) for _ in range(20000)]
    texts = [f"{template} {words}" for words in own]
    texts[10] = texts[3] + " more"
    df = frame(spark, texts, 4)
    found = rows(lookalike.spark.find_pairs(df, shingle_size=3, threshold=0.9))
    assert [pair[:2] for pair in found] == [(3, 10)]


def test_parameters_are_checked_before_any_work(spark):
    df = frame(spark, TEXTS)
    wrong = {
        "threshold": 1.5,
        "method": "lsh",
        "score": "s2",
        "sampling": "broder97",
        "tokens": "letters",
        "shingle_size": 0,
        "memory": "much",
        "text": "id",
    }
    for name, value in wrong.items():
        with pytest.raises((ValueError, PySparkException), match=".+"):
            lookalike.spark.find_pairs(df, **{name: value})
    with pytest.raises(ValueError, match="prefer-input"):
        lookalike.spark.deduplicate(df, keep="prefer-input:*.gz")
    with pytest.raises(ValueError, match="rule"):
        lookalike.spark.deduplicate(df, rule="none")


def test_an_id_that_is_null_is_an_error(spark):
    df = spark.createDataFrame([(None, "a b c"), (1, "d e f")], "id long, text string")
    # PySpark converts the error of a task to its own kind, but not always.
    with pytest.raises(Exception, match="the column id is null beside the text `a b c`"):
        lookalike.spark.find_pairs(df).collect()


def test_ids_that_repeat_or_are_null_remove_no_other_row(spark):
    words = "one two three four five"
    given = [
        (1, words, "a"),
        (1, "something else entirely, with other words", "b"),
        (2, words + " six", "c"),
        (None, words.upper(), "d"),
        (None, "a third text that nothing resembles", "e"),
        (None, None, "f"),
        (None, None, "g"),
        (2, "!", "h"),
        (2, "!", "h"),
        (3, "copies of one row", "i"),
        (3, "copies of one row", "i"),
        (3, "copies of one row", "i"),
        (3, "copies of one row, or nearly", "j"),
    ]
    df = spark.createDataFrame(given, "id long, text string, name string").repartition(4)
    table = pyarrow.table({"text": [row[1] for row in given], "n": range(len(given))})
    for kind in (df, df.withColumn("id", F.col("id").cast("string")), df.drop("id")):
        for keep, rule, first in [
            ("shortest", "star", "ai"),
            ("longest", "cluster", "cj"),
            (["prefer:name=d,j", "last"], "star", "dj"),
        ]:
            found = lookalike.spark.deduplicate(
                kind, keep=keep, rule=rule, threshold=0.5, shingle_size=2
            )
            assert found.columns == kind.columns
            names = [row["name"] for row in found.collect()]
            if keep == "shortest" and "id" not in kind.columns:
                # Equal texts, and neither policy nor id says which is preferred.
                names = ["a" if name == "d" else name for name in names]
            assert sorted(names) == sorted("befghh" + first), (keep, rule)
    one = pyarrow.table(lookalike.deduplicate(table, threshold=0.5, shingle_size=2))
    assert one.num_rows == len("befghh" + "ai")
    found = lookalike.spark.deduplicate(df, ids="id", threshold=0.5, shingle_size=2)
    assert sorted(row["name"] for row in found.collect()) == sorted("befghhai")


def test_markup(spark):
    page = "<!DOCTYPE html><script>%s</script><p>Please enable JavaScript</p>"
    df = frame(spark, [page % name for name in ("a()", "b()", "c()")])
    assert lookalike.spark.find_pairs(df).count() == 0
    assert lookalike.spark.find_pairs(df, markup="auto").count() == 2
    assert lookalike.spark.deduplicate(df, markup="always").count() == 1
    with pytest.raises(ValueError, match="markup"):
        lookalike.spark.find_pairs(df, markup="yes")


def test_a_row_in_the_wrong_task_is_an_error():
    job = {"threshold": "0.5", "score": "resemblance", "shingle_size": 2, "tokens": "words"}
    job |= {"short": "whole", "seed": 0, "sampling": "full", "size_groups": None, "bands": None}
    job |= {"markup": "never", "partitions": 4, "memory": "1MiB", "scratch": "/tmp", "look_up": False}
    intake = _native.IntakeTask(json.dumps(job), [])
    texts = {"id": ["a", "b"], "text": ["one two three", "one two four"]}
    kinds = pyarrow.array([None, None], pyarrow.string())
    sides = pyarrow.array([3, 3], pyarrow.int32())
    intake.add(pyarrow.table(texts | {"type": kinds, "side": sides}))
    documents = pyarrow.table(intake.finish())
    # The classes of the fingerprints are in another task.
    prefixes = _native.StageTask("prefixes", json.dumps(job))
    prefixes.add(documents)
    with pytest.raises(lookalike.Error, match="expected classes of"):
        while prefixes.step()[0]:
            pass
    # A blob of another stage, and one that is cut off.
    with pytest.raises(lookalike.Error, match="a blob of its input"):
        _native.StageTask("candidates", json.dumps(job)).add(documents)
    for length in range(1, len(documents["blob"][0].as_py())):
        cut = pyarrow.table(
            {
                "place": documents["place"][:1],
                "blob": pyarrow.array([documents["blob"][0].as_py()[:length]]),
            }
        )
        with pytest.raises(lookalike.Error):
            _native.StageTask("verify", json.dumps(job)).add(cut)


def test_the_guide_shows_what_happens(spark, capsys):
    guide = (SCRIPT.parents[1] / "docs" / "guide" / "spark.md").read_text()
    names = {}
    for code, output in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", guide, re.DOTALL):
        exec(code, names)
        assert capsys.readouterr().out.strip() == output.strip()
    assert "kept" in names


def test_a_worker_that_is_killed(spark, cluster, reuters):
    """The last test, because the cluster has one worker afterwards."""
    texts = reuters[:8000]
    expected = table(lookalike.find_pairs(texts, threshold=0.6))
    tracker = spark.sparkContext.statusTracker()
    df = lookalike.spark.find_pairs(frame(spark, texts, 6), threshold=0.6, partitions=12)
    before = set(tracker.getJobIdsForGroup(None))
    found = []
    job = threading.Thread(target=lambda: found.append(rows(df)))
    job.start()
    killed = False
    while job.is_alive() and not killed:
        # Some tasks of the third stage are done and others are not: their results get lost.
        jobs = set(tracker.getJobIdsForGroup(None)) - before
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        running = [s for s in stages if s and 2 <= s.numCompletedTasks < s.numTasks]
        if len(jobs) >= 3 and running:
            worker = int((cluster / "worker-2.pid").read_text())
            kill_with_children(worker)
            killed = True
        time.sleep(0.01)
    job.join(timeout=240)
    assert killed, "the job ended before a worker was killed: nothing was tested"
    assert found == [expected]
    assert re.search("disassociated, removing it", (cluster / "master.log").read_text())


def kill_with_children(pid):
    """Kills a process and all that it has started, the executor and its Python among them."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    doomed = [pid]
    for process in doomed:
        doomed += children.get(process, [])
    assert len(doomed) >= 3, "the worker has no executor"
    for process in doomed:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
