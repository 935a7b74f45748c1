"""Texts in memory: every source gives the same exact result."""

import itertools
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import datasets
import duckdb
import pandas
import polars
import pyarrow
import pytest
from made import texts_of

import lookalike

PARAMETERS = {"threshold": 0.5, "shingle_size": 3}

TEXTS = texts_of(1, 200)
ROWS = list(range(len(TEXTS)))
TABLE = pyarrow.table({"n": ROWS, "text": TEXTS})


def found(pairs):
    if isinstance(pairs, datasets.Dataset):
        pairs = pairs.data.table
    return sorted(tuple(row.values()) for row in pyarrow.table(pairs).to_pylist())


def test_the_pairs_are_those_of_all_comparisons():
    expected = []
    first = {}
    for n, text in enumerate(TEXTS):
        first.setdefault(" ".join(lookalike.tokens(text)), n)
    for b in ROWS:
        tokens = " ".join(lookalike.tokens(TEXTS[b]))
        if first[tokens] != b:
            if tokens:
                expected.append((first[tokens], b, 1.0))
            continue
        for a in first.values():
            value = lookalike.resemblance(TEXTS[a], TEXTS[b], shingle_size=3)
            if a < b and value >= 0.5:
                expected.append((a, b, round(value, 6)))
    pairs = found(lookalike.find_pairs(TEXTS, **PARAMETERS))
    assert [pair[:3] for pair in pairs] == sorted(expected)
    assert len(expected) > 100
    for a, b, value, shared, size_a, size_b in pairs:
        sets = [set(lookalike.single.fingerprints(TEXTS[n], shingle_size=3)) for n in (a, b)]
        assert (shared, size_a, size_b) == (len(sets[0] & sets[1]), *map(len, sets))
        assert value == round(shared / len(sets[0] | sets[1]), 6)


CONDITIONS = {
    "a.source != b.source": lambda a, b: a % 3 != b % 3,
    "a.meta.source != b.meta.source && a.meta.more.n > 3": lambda a, b: a % 3 != b % 3 and a > 3,
    "a.n < b.n - 20 || a.source == 's1' && b.source == 's2'": lambda a, b: a < b - 20 or a % 3 == 1 and b % 3 == 2,
    "has(a.date) && abs(a.date - b.date) == days(1)": lambda a, b: a % 5 and b % 5 and abs(a % 5 - b % 5) == 1,
}
# Texts of equal words are one text for the search, if the condition does not part them.
PARTED = {"a.source == b.source": lambda a, b: a % 3 == b % 3, "true": lambda a, b: True}


def of_columns():
    date = [f"2024-01-{n % 5:02}" if n % 5 else None for n in ROWS]
    meta = [{"source": f"s{n % 3}", "more": {"n": n}} for n in ROWS]
    table = TABLE.append_column("meta", [meta]).append_column("tags", [[[n] for n in ROWS]])
    return table.append_column("source", [[f"s{n % 3}" for n in ROWS]]).append_column("date", [date])


def resembling():
    sets = [set(lookalike.single.fingerprints(text, shingle_size=3)) for text in TEXTS]
    for b in ROWS:
        for a in range(b):
            if len(sets[a] & sets[b]) * 2 >= len(sets[a] | sets[b]) > 0:
                yield a, b


@pytest.mark.parametrize("where", CONDITIONS)
def test_the_pairs_are_those_for_which_a_condition_holds(where):
    expected = [pair for pair in resembling() if CONDITIONS[where](*pair)]
    pairs = found(lookalike.find_pairs(of_columns(), where=where, **PARAMETERS))
    assert [pair[:2] for pair in pairs] == sorted(expected) and len(expected) > 20
    clusters = lookalike.clusters(of_columns(), where=where, as_="table", **PARAMETERS)
    assert {row["id"] for row in clusters} == {n for pair in expected for n in pair}


@pytest.mark.parametrize("where", CONDITIONS | PARTED)
def test_what_is_removed_has_a_pair_for_which_the_condition_holds(where):
    holds = (CONDITIONS | PARTED)[where]
    pairs = {pair for pair in resembling() if holds(*pair)}
    kept = []
    for n in ROWS:
        if not any((other, n) in pairs for other in kept):
            kept.append(n)
    result = lookalike.deduplicate(of_columns(), where=where, **PARAMETERS)
    assert result.kept["n"].to_pylist() == kept and len(kept) < len(ROWS)
    removed = pyarrow.table(result.removed).to_pylist()
    words = [re.findall(r"\w+", text.lower()) for text in TEXTS]
    for row in removed:
        near = [other for other in kept if (other, row["row"]) in pairs]
        same = [other for other in near if words[other] == words[row["row"]]]
        assert row["survivor"] == (same or near)[0]
    # Beside other texts, they have the columns as well.
    old, new = of_columns().slice(0, 100), of_columns().slice(100)
    result = lookalike.deduplicate(new, against=old, where=where, **PARAMETERS)
    kept = list(range(100))
    for n in ROWS[100:]:
        if not any((other, n) in pairs for other in kept):
            kept.append(n)
    assert result.kept["n"].to_pylist() == kept[100:]


@pytest.mark.parametrize("where", CONDITIONS | PARTED)
def test_splits_are_deduplicated_within_a_condition(where):
    holds = (CONDITIONS | PARTED)[where]
    pairs = {pair for pair in resembling() if holds(*pair)}
    splits = {"train": of_columns().slice(100), "test": of_columns().slice(0, 100)}
    result = lookalike.deduplicate_splits(splits, where=where, **PARAMETERS)
    kept = []
    for n in ROWS:
        if not any((other, n) in pairs for other in kept):
            kept.append(n)
    assert result.kept["test"]["n"].to_pylist() + result.kept["train"]["n"].to_pylist() == kept
    survivors = {"test": 0, "train": 100}
    for row in pyarrow.table(result.removed).to_pylist():
        first, last = (survivors[row[split]] + row[at] for split, at in [("survivor_split", "survivor"), ("split", "row")])
        assert (first, last) in pairs


def test_conditions_that_make_no_sense_are_refused():
    for where, error, says in [
        ("a.source ==", ValueError, "where='a.source ==' is not possible: .*is not an expression"),
        ("a.file != b.file", ValueError, "texts in memory have no file"),
        ("a.host != b.host", KeyError, "there is no column url"),
        ("a.other != b.other", KeyError, "there is no column other, only n, text"),
        ("a.other.n != b.other.n", KeyError, r"there is no column other\.n, only n, text"),
        ("a.meta != b.meta", TypeError, "the column meta has the type .*name a field of a struct"),
        ("a.tags != b.tags", TypeError, "make a column with one value of each list"),
        ("a.meta.x != b.meta.x", ValueError, r"no record has a field meta\.x"),
    ]:
        for function in (lookalike.find_pairs, lookalike.clusters, lookalike.deduplicate):
            with pytest.raises(error, match=says):
                function(of_columns(), where=where)


SOURCES = {
    "list": lambda: TEXTS,
    "generator": lambda: (text for text in TEXTS),
    "pyarrow table": lambda: TABLE,
    "pyarrow chunks": lambda: pyarrow.chunked_array([TEXTS[:50], [], TEXTS[50:]]),
    "pyarrow stream": lambda: pyarrow.RecordBatchReader.from_batches(
        TABLE.schema, TABLE.to_batches(max_chunksize=7)
    ),
    "large strings": lambda: pyarrow.table({"text": pyarrow.array(TEXTS, pyarrow.large_string())}),
    "polars": lambda: polars.DataFrame({"text": TEXTS}),
    "polars lazy": lambda: polars.LazyFrame({"text": TEXTS}),
    "polars series": lambda: polars.Series("text", TEXTS),
    "pandas": lambda: pandas.DataFrame({"text": TEXTS}),
    "pandas series": lambda: pandas.Series(TEXTS, name="text"),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
    "dataset": lambda: datasets.Dataset.from_dict({"text": TEXTS}),
    "shuffled dataset": lambda: datasets.Dataset.from_dict({"text": TEXTS[::-1]}).select(
        range(len(TEXTS))[::-1]
    ),
    "iterable dataset": lambda: datasets.Dataset.from_dict({"text": TEXTS}).to_iterable_dataset(),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same(source):
    pairs = lookalike.find_pairs(SOURCES[source](), **PARAMETERS)
    assert found(pairs) == found(lookalike.find_pairs(TEXTS, **PARAMETERS))
    kept = pyarrow.table(lookalike.deduplicate(SOURCES[source](), **PARAMETERS))
    expected = pyarrow.table(lookalike.deduplicate(TABLE, **PARAMETERS))
    assert kept[kept.column_names[-1]].to_pylist() == expected["text"].to_pylist()
    assert 10 < expected.num_rows < len(TEXTS)


def stream(table):
    return pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())


def test_kept_rows_are_those_of_the_command(tmp_path):
    file = tmp_path / "in.parquet"
    pyarrow.parquet.write_table(TABLE, file)
    for keep in ["first", "longest", ["max:n", "first"]]:
        kept = pyarrow.table(lookalike.deduplicate(TABLE, keep=keep, **PARAMETERS))
        policies = [keep] if isinstance(keep, str) else keep
        out = tmp_path / "-".join(policies).replace(":", "")
        lookalike.dedup(file, out, keep=policies, **PARAMETERS)
        assert kept.equals(pyarrow.parquet.read_table(out / "in.parquet"))
        for _ in range(2):
            assert pyarrow.table(lookalike.deduplicate(kept, **PARAMETERS)).num_rows == len(kept)


def test_columns_of_all_types_and_rows_that_spill(tmp_path):
    table = pyarrow.table(
        {
            "text": pyarrow.array([*TEXTS, None], pyarrow.string_view()),
            "day": pyarrow.array([*ROWS, None], pyarrow.date32()),
            "time": pyarrow.array([*ROWS, None], pyarrow.timestamp("us", "UTC")),
            "nested": [{"a": [n, None], "b": str(n)} for n in [*ROWS, 0]],
            "kind": pyarrow.array([*map(str, ROWS), "x"]).dictionary_encode(),
            "long": ["x" * 400_000 for _ in [*ROWS, 0]],
        }
    )
    for keep in ["newest:day", "oldest:time", "prefer:kind=17,4"]:
        kept = [
            pyarrow.table(lookalike.deduplicate(source, keep=keep, memory=memory, **PARAMETERS))
            for source, memory in [(table, "2GiB"), (stream(table), "2GiB"), (stream(table), "256MiB")]
        ]
        assert kept[0].schema == table.schema
        assert kept[0].equals(kept[1]) and kept[0].equals(kept[2])
        assert kept[0]["text"].to_pylist()[-1] is None
    with pytest.raises(TypeError, match="the column nested has the type Struct.*; a policy or"):
        lookalike.deduplicate(table, keep="newest:nested", **PARAMETERS)
    same = pyarrow.table({"text": ["a"] * 4, "kind": ["b", "c", "d", "c"]})
    for kinds in (same["kind"], same["kind"].dictionary_encode()):
        same = same.set_column(1, "kind", kinds)
        kept = lookalike.deduplicate(same, keep=["prefer:kind=c,b", "last"]).kept
        assert kept.to_pylist() == [{"text": "a", "kind": "c"}] and kept.schema == same.schema


def test_ids():
    texts = TEXTS[:40]
    rows = found(lookalike.find_pairs(texts, **PARAMETERS))
    names = [f"n{n}" for n in range(40)]
    expected = sorted((names[a], names[b], *rest) for a, b, *rest in rows)
    table = pyarrow.table({"text": texts, "id": names})
    for source, ids in [
        (texts, names),
        (texts, pyarrow.chunked_array([names[:3], names[3:]])),
        (texts, polars.Series(names)),
        (table, "id"),
        (polars.from_arrow(table), "id"),
    ]:
        assert found(lookalike.find_pairs(source, ids=ids, **PARAMETERS)) == expected
    numbers = found(lookalike.find_pairs(texts, ids=range(-40, 0), **PARAMETERS))
    assert numbers == sorted((a - 40, b - 40, *rest) for a, b, *rest in rows)
    with pytest.raises(ValueError, match="39 ids for 40 texts"):
        lookalike.find_pairs(texts, ids=names[1:])
    with pytest.raises(KeyError, match="there is no column name, only text, id"):
        lookalike.find_pairs(table, ids="name")


def test_what_is_wrong_with_texts():
    with pytest.raises(TypeError, match="not a single text"):
        lookalike.find_pairs("a text")
    with pytest.raises(KeyError, match="there is no column body, only n, text"):
        lookalike.deduplicate(TABLE, "body")
    with pytest.raises(TypeError, match="the column n has the type Binary, not strings, from row 0 on"):
        lookalike.deduplicate(pyarrow.table({"n": [b"a"]}), "n")
    with pytest.raises(KeyError, match="there is no column date"):
        lookalike.deduplicate(TABLE, keep="newest:date")
    with pytest.raises(ValueError, match="threshold"):
        lookalike.find_pairs(TEXTS, threshold=2)
    with pytest.raises(ValueError, match=r'write "2/3", or Fraction\(2, 3\)'):
        lookalike.find_pairs(TEXTS, threshold=2 / 3)
    for texts in (None, 5):
        with pytest.raises(TypeError, match=f"expected texts or a table, not {type(texts).__name__}"):
            lookalike.Index().query(texts)
    with pytest.raises(TypeError, match="the text in row 2 is int, not str"):
        lookalike.find_pairs(["a", "b", 2])
    with pytest.raises(KeyError, match="there is no column id, only text"):
        lookalike.find_pairs(TEXTS, ids="id")
    records = pyarrow.chunked_array([pyarrow.array([{"text": "a"}, None])])
    for call in (lookalike.find_pairs, lookalike.deduplicate):
        with pytest.raises(TypeError, match="found records; row 1 is null"):
            call(records)
    for empty in ([], pyarrow.table({"text": pyarrow.array([], pyarrow.string())})):
        assert found(lookalike.find_pairs(empty)) == []
        assert pyarrow.table(lookalike.deduplicate(empty)).num_rows == 0


EMPTY = pyarrow.schema(
    {"n": pyarrow.int8(), "text": pyarrow.string(), "list": pyarrow.list_(pyarrow.date32())},
    metadata={"whose": "ours"},
)
NO_ROWS = {
    "pyarrow": lambda: EMPTY.empty_table(),
    "no batches": lambda: pyarrow.Table.from_batches([], EMPTY),
    "stream": lambda: pyarrow.RecordBatchReader.from_batches(EMPTY, []),
    "polars": lambda: polars.from_arrow(EMPTY.empty_table()),
    "polars lazy": lambda: polars.from_arrow(EMPTY.empty_table()).lazy(),
    "pandas": lambda: pandas.DataFrame({"n": [1], "text": ["a"], "list": [None]})[:0],
    "duckdb": lambda: duckdb.from_arrow(EMPTY.empty_table()),
    "dataset": lambda: datasets.Dataset(EMPTY.empty_table()),
    "iterable dataset": lambda: datasets.IterableDataset.from_generator(
        lambda: iter(()), features=datasets.Features.from_arrow_schema(EMPTY)
    ),
    "columns": lambda: {"n": [], "text": pyarrow.array([], "string"), "list": []},
}


@pytest.mark.parametrize("source", NO_ROWS)
def test_a_table_without_rows_keeps_its_schema(source):
    kept = lookalike.deduplicate(NO_ROWS[source](), keep="newest:n")
    assert kept.columns == ["n", "text", "list"]
    found = pyarrow.table(kept)
    assert found.num_rows == 0
    if source in ("pyarrow", "no batches", "stream"):
        assert found.schema.equals(EMPTY, check_metadata=True)
    assert len(lookalike.find_pairs(NO_ROWS[source]())) == 0
    with pytest.raises(KeyError, match="there is no column body, only n, text, list"):
        lookalike.find_pairs(NO_ROWS[source](), text="body")


def test_metadata_of_a_schema_passes_through():
    label = datasets.ClassLabel(names=["good", "bad"])
    features = datasets.Features({"text": datasets.Value("string"), "label": label})
    given = {"text": ["a b", "A b", "c d"], "label": [0, 0, 1]}
    dataset = datasets.Dataset.from_dict(given, features=features)
    for source in (dataset, dataset.to_iterable_dataset(), dataset.data.table):
        kept = datasets.Dataset(pyarrow.table(lookalike.deduplicate(source)))
        assert kept.features == features
        assert kept["label"][:] == [0, 1]
    frame = pandas.DataFrame(given, index=pandas.Index(["x", "y", "z"], name="key"))
    for memory in ("2GiB", "256MiB"):
        frame["long"] = "x" * (30 << 20)
        kept = lookalike.deduplicate(frame, memory=memory)
        pandas.testing.assert_frame_equal(pyarrow.table(kept).to_pandas(), frame.iloc[[0, 2]])


def test_names_of_the_version_before_work_and_say_the_new_one():
    with pytest.warns(DeprecationWarning, match="write lookalike.single.fingerprints"):
        assert lookalike.fingerprints is lookalike.single.fingerprints
    assert "fingerprints" not in lookalike.__all__
    with pytest.raises(AttributeError, match="no attribute 'minhash'"):
        _ = lookalike.minhash
    index = lookalike.Index(["a b c d", "x"], shingle_size=1)
    with pytest.warns(DeprecationWarning, match=r"Index.query\(\): write threshold=0.5"):
        assert index.query("a b c", 0.5) == index.query("a b c", threshold=0.5) != []
    with pytest.raises(TypeError):
        index.query("a", 0.5, 0.6)


@pytest.mark.parametrize("name", ["subset", "on", "column", "columns", "text_column", "text_field"])
def test_names_of_other_libraries_are_understood(name):
    calls = {
        "find_pairs": lookalike.find_pairs,
        "clusters": lookalike.clusters,
        "deduplicate": lookalike.deduplicate,
        "deduplicate_splits": lookalike.deduplicate_splits,
        "Index": lookalike.Index,
    }
    for called, call in calls.items():
        with pytest.raises(TypeError, match=rf"^{called}\(\) has no parameter {name}: use text="):
            call(TABLE, **{name: "text"})


def test_a_keep_that_is_no_policy_names_the_rule():
    for keep in (False, True):
        with pytest.raises(TypeError, match=f'^keep={keep}: .*rule="drop-clusters" removes all rows'):
            lookalike.deduplicate(["a b", "A b"], keep=keep)
        with pytest.raises(TypeError, match=f"^keep={keep}: "):
            lookalike.dedup("in", "out", keep=keep)
    assert lookalike.deduplicate(["a b", "A b", "c"], rule="drop-clusters").kept == ["c"]


def test_length_and_truth():
    pairs = lookalike.find_pairs(TEXTS, **PARAMETERS)
    assert pairs and len(pairs) == pyarrow.table(pairs).num_rows
    none = lookalike.find_pairs(["a", "b"])
    assert not none and len(none) == 0
    kept = lookalike.deduplicate(TABLE, **PARAMETERS)
    assert kept and len(kept) == pyarrow.table(kept).num_rows
    assert not lookalike.deduplicate([])
    # Every batch is without a row until the last.
    chunks = pyarrow.chunked_array([["a"], ["A"], ["b"]])
    assert len(lookalike.deduplicate(chunks)) == 2


def test_addresses_of_python_objects_are_no_values():
    frame = polars.DataFrame({"text": ["a", "b"], "Object": ["x", "y"]})
    assert len(lookalike.deduplicate(frame)) == 2
    frame = frame.with_columns(polars.Series("o", [object(), object()], dtype=polars.Object))
    for source in (frame, frame.lazy(), frame["o"], {"text": ["a", "b"], "o": frame["o"]}):
        for call in (lookalike.deduplicate, lookalike.find_pairs):
            with pytest.raises(TypeError, match="the column o has Python objects"):
                call(source)


def test_texts_are_plain_unless_markup_is_asked_for():
    page = "<!DOCTYPE html><script>%s</script><p>Please enable JavaScript</p>"
    pages = [page % name for name in ("a()", "b()", "c()")]
    source = "<p>%s</p> and more"
    tagged = [source % "one", "one and more"]
    for texts in (pages, pyarrow.table({"text": pages, "content_type": ["text/html"] * 3})):
        assert len(lookalike.deduplicate(texts)) == 3
        assert len(lookalike.deduplicate(texts, markup="auto")) == 1
        assert len(lookalike.find_pairs(texts, markup="auto")) == 2
        assert not lookalike.find_pairs(texts, markup="never")
    assert len(lookalike.deduplicate(tagged, markup="auto")) == 2
    assert len(lookalike.deduplicate(tagged, markup="always")) == 1
    with pytest.raises(ValueError, match="^markup=yes: "):
        lookalike.find_pairs(pages, markup="yes")
    splits = {"train": pages[1:], "test": pages[:1]}
    assert lookalike.deduplicate_splits(splits).kept == splits
    assert lookalike.deduplicate_splits(splits, markup="auto")["train"] == []


def kept_n(values, keep):
    texts = ["the same text"] * len(values)
    table = polars.DataFrame({"text": texts, "n": range(len(values)), "d": values})
    return polars.DataFrame(lookalike.deduplicate(table, keep=keep))["n"].to_list()


@pytest.mark.parametrize(
    "values",
    [
        ["2020/01/01", "2024/01/01"],
        ["Jan 2, 2020", "Jan 1, 2024"],
        ["Thu, 02 Jan 2020 10:00:00 +0000", "Mon, 1 Jan 2024 00:00:00 GMT"],
        ["2020-01-01", "Jan 2, 2024"],
        [1577836800, 1704067200],
        [1577836800000, 1704067200],
        ["1704067199000", "2024-01-01"],
        [float("-inf"), float("inf")],
        [5.0, float("inf")],
        [float("nan"), 0.5],
        [2**53, 2**53 + 1],
        [-(2**53) - 1, -(2**53)],
        [2**63 - 2, 2**63 - 1],
    ],
)
def test_dates_and_numbers_of_policies(values):
    newest, oldest = ("newest", "oldest") if isinstance(values[0], (str, int)) else ("max", "min")
    assert kept_n(values, f"{newest}:d") == [1]
    assert kept_n(values[::-1], f"{newest}:d") == [0]
    if values[0] == values[0]:
        assert kept_n(values, f"{oldest}:d") == [0]


def test_values_that_a_policy_cannot_read():
    with pytest.warns(UserWarning, match='1 of 3 values cannot be read as a date, such as "soon"') as told:
        assert kept_n(["2020-01-01", "soon", "2024-01-01"], "newest:d") == [2]
    assert str(told[0].message).startswith("keep=newest:d: 1 of 3 values") and told[0].filename == __file__
    with pytest.raises(ValueError, match='no value of d is a date that can be read.* "01/02/2024"'):
        kept_n(["01/02/2024", "31/12/2025"], "newest:d")
    with pytest.raises(ValueError, match="no value of d is a number or date"):
        kept_n(["a", "b"], "max:d")


def test_addresses_are_no_directories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = Path("in.jsonl")
    file.write_text('{"id": "1", "text": "a"}')
    run = lookalike.run(file, "out")
    for address in ("s3://bucket/x", Path("gs://bucket/x"), "hf://datasets/x", "https://host/x"):
        for call in [
            lambda: lookalike.run(file, address),
            lambda: lookalike.run(file, "other", scratch=address),
            lambda: lookalike.find_pairs(["a"], scratch=address),
            lambda: lookalike.deduplicate(["a"], scratch=address),
            lambda: lookalike.Run(address),
        ]:
            with pytest.raises(ValueError, match="is not on this machine"):
                call()
    for address in ("hf://datasets/a/b", "https://host/x"):
        for call in [
            lambda: lookalike.dedup(file, address),
            lambda: lookalike.dedup(file, "kept", removed=address),
            lambda: lookalike.dedup(file, "kept", report=address),
            lambda: run.report(address),
        ]:
            with pytest.raises(ValueError, match="only read|is not on this machine"):
                call()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out"]


class OwnError(Exception):
    """An error of the producer of the texts."""


def test_an_error_of_the_source_arrives_unchanged():
    def broken():
        yield from TEXTS
        raise OwnError("no more")

    with pytest.raises(OwnError, match="^no more$"):
        lookalike.find_pairs(broken())
    stream = datasets.IterableDataset.from_generator(lambda: ({"text": t} for t in broken()))
    with pytest.raises(OwnError):
        lookalike.deduplicate(stream)


def test_nothing_stays_behind(tmp_path):
    pairs = lookalike.find_pairs(TEXTS, scratch=tmp_path, **PARAMETERS)
    stream = pyarrow.RecordBatchReader.from_stream(pairs)
    del pairs
    assert stream.read_all().num_rows > 0
    del stream
    kept = lookalike.deduplicate(TABLE, scratch=tmp_path, memory="256MiB", **PARAMETERS)
    assert pyarrow.table(kept).num_rows > 0
    with pytest.raises(ValueError):
        lookalike.find_pairs(TEXTS, scratch=tmp_path, threshold=7)
    del kept
    assert list(tmp_path.iterdir()) == []


def test_results_do_not_depend_on_threads_or_memory():
    results = [
        found(lookalike.find_pairs(TEXTS, threads=threads, memory=memory, **PARAMETERS))
        for threads, memory in itertools.product([1, 4], ["256MiB", "1GiB"])
    ]
    assert all(result == results[0] for result in results)


def test_tokens_shingles_and_scores():
    text = "The cat's hat, the \u00c4\u00df 7 \u6f22\u5b57"
    assert lookalike.tokens(text) == [
        "the", "cat's", "hat", "the", "\u00e4\u00df", "7", "\u6f22", "\u5b57",
    ]  # fmt: skip
    assert lookalike.tokens("A  b\nc", tokens="whitespace") == ["A", "b", "c"]
    assert lookalike.tokens("co\u00adop cafe\u0301") == ["coop", "caf\u00e9"]
    assert lookalike.tokens("\ufb01ne \u2460") == ["\ufb01ne", "\u2460"]
    assert lookalike.tokens("\ufb01ne \u2460", fold="compat") == ["fine", "1"]
    assert lookalike.resemblance("\ufb01 a", "fi a", fold="compat") == 1.0
    assert lookalike.tokens("\u00e9 \u0e53", fold="diacritics,digits") == ["e", "3"]
    # Each grapheme cluster of Thai is a token.
    assert lookalike.tokens("\u0e19\u0e49\u0e33\u0e43\u0e08") == [
        "\u0e19\u0e49\u0e33", "\u0e43", "\u0e08",
    ]  # fmt: skip
    long = " ".join(str(n) for n in range(100_000))
    assert lookalike.tokens(long * 20) == (long * 20).split()
    assert lookalike.shingles("a b", shingle_size=3) == ["a b"]
    assert lookalike.shingles("a b", shingle_size=3, short="skip") == []
    assert lookalike.shingles("") == lookalike.tokens("") == lookalike.single.fingerprints("") == []
    assert len(lookalike.single.fingerprints("abcd", tokens="bytes:2")) == 3
    assert max(lookalike.single.fingerprints("a b c", fingerprint="md5")) > 2**64
    assert lookalike.single.fingerprints("a b", seed=1) != lookalike.single.fingerprints("a b", seed=2)
    assert lookalike.resemblance("", "") == 0.0
    assert lookalike.containment("a b c", "x a b c y z", shingle_size=2) == 1.0
    for call in [
        lambda: lookalike.tokens("a", tokens="bytes:2"),
        lambda: lookalike.tokens("a", fold="accents"),
        lambda: lookalike.shingles("a", shingle_size=0),
        lambda: lookalike.resemblance("a", "b", short="no"),
    ]:
        with pytest.raises(ValueError, match=re.compile("bytes:2|shingle|short|accents")):
            call()


def test_no_text_is_left_out(tmp_path):
    # Longer than the documents that a run reads by default.
    long = "a" * (65 << 20)
    assert found(lookalike.find_pairs([long, "short", long]))[0][:3] == (0, 2, 1.0)
    with pytest.raises(lookalike.Error, match="--max-document"):
        lookalike.find_pairs([long], memory="100MiB")
    file = tmp_path / "in.jsonl"
    file.write_text('{"id": "1", "text": "short"}')
    run = lookalike.run(file, tmp_path / "out")
    with pytest.raises(TypeError, match="not a single text"):
        run.query("a text")
    with pytest.raises(ValueError, match="1 of 2 texts have no answer"):
        run.query([long, "short"])


def test_ctrl_c_stops_within_a_second():
    program = """
        import lookalike, os, signal, threading, time
        def texts():
            n = 0
            while True:
                n += 1
                if n == 50_000:
                    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                    global begin
                    begin = time.monotonic()
                yield f"text {n} of a stream that has no end"
        try:
            lookalike.find_pairs(texts())
        except KeyboardInterrupt:
            assert time.monotonic() - begin < 1.2
            print("stopped")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert done.stdout == "stopped\n", done.stderr
