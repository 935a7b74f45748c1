"""Values of all types: used as they are, or refused with the row or the column, never lost."""

import datetime
import decimal
import gc
import itertools
import json
import os
import random
import threading
import uuid
import warnings

import datasets
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import lookalike

SAME = ["the same text"] * 2
# 1972 and 2024 in seconds.
OLD, NEW = 63_072_000, 1_704_067_200
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DATES = {
    f"{unit} {zone}": pyarrow.array([OLD * by, NEW * by], pyarrow.timestamp(unit, zone))
    for unit, by in UNITS.items()
    for zone in (None, "UTC", "Asia/Tokyo")
}
DATES["a nanosecond"] = pyarrow.array([NEW * 10**9, NEW * 10**9 + 1], pyarrow.timestamp("ns"))
DATES["date32"] = pyarrow.array([OLD // 86_400, NEW // 86_400], pyarrow.date32())
DATES["date64"] = pyarrow.array([OLD * 1000, NEW * 1000], pyarrow.date64())
DATES["after 9999"] = pyarrow.array([NEW // 86_400, 2_932_897], pyarrow.date32())
DATES["infinity"] = pyarrow.array([NEW // 86_400, 2**31 - 1], pyarrow.date32())
DATES["before 0"] = pyarrow.array([-(2**31) + 1, -(10**6)], pyarrow.date32())
DATES["before 1970"] = pyarrow.array([-5_000, -1], pyarrow.timestamp("ms"))


@pytest.mark.parametrize("kind", DATES)
def test_typed_dates_are_dates(kind, tmp_path):
    # The row that is kept is never the first.
    for order, keep in (([0, 1], "newest:d"), ([1, 0], "oldest:d"), ([0, 1], "max:d")):
        dates = DATES[kind].take(pyarrow.array(order))
        table = pyarrow.table({"n": [0, 1], "text": SAME, "d": dates})
        encoded = table.set_column(2, "d", table["d"].dictionary_encode())
        for source in (table, encoded.to_reader()):
            kept = lookalike.deduplicate(source, keep=keep, as_="arrow").kept
            assert kept["n"].to_pylist() == [1], keep
        if keep != "max:d":
            pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
            out = tmp_path / keep[:6]
            lookalike.dedup(tmp_path / "in.parquet", out, keep=keep)
            assert pyarrow.parquet.read_table(out / "in.parquet", columns=["n"])["n"].to_pylist() == [1], keep


def test_dates_of_polars_and_pandas():
    days = [datetime.datetime(1972, 1, 1), datetime.datetime(2024, 1, 1)]
    for unit in ("ms", "us", "ns"):
        frame = polars.DataFrame({"text": SAME, "n": [0, 1], "d": polars.Series(days).dt.cast_time_unit(unit)})
        assert lookalike.deduplicate(frame, keep="newest:d").kept["n"].to_list() == [1]
        assert lookalike.deduplicate(frame.lazy(), keep="oldest:d").kept["n"].to_list() == [0]
    for unit in UNITS:
        series = pandas.Series(days).astype(f"datetime64[{unit}]")
        for dated in (series, series.dt.tz_localize("Europe/Berlin")):
            frame = pandas.DataFrame({"text": SAME, "n": [0, 1], "d": dated})
            assert lookalike.deduplicate(frame, keep="newest:d").kept["n"].to_list() == [1]
            assert lookalike.deduplicate(frame, keep="oldest:d").kept["n"].to_list() == [0]


def test_numbers_of_policies():
    for kind, values in [
        (pyarrow.decimal128(20, 2), [decimal.Decimal("9.50"), decimal.Decimal("10.25")]),
        (pyarrow.float16(), [numpy.float16(9.5), numpy.float16(10)]),
        (pyarrow.time64("us"), [datetime.time(9), datetime.time(10)]),
        (pyarrow.duration("ms"), [datetime.timedelta(9), datetime.timedelta(10)]),
        (pyarrow.dictionary(pyarrow.int8(), pyarrow.int64()), [-5, -3]),
    ]:
        table = pyarrow.table({"text": SAME, "v": pyarrow.array(values, kind)})
        assert lookalike.deduplicate(table, keep="max:v").kept["v"].to_pylist() == values[1:]
        assert lookalike.deduplicate(table, keep="min:v").kept["v"].to_pylist() == values[:1]
    # A null among the values of a dictionary was 0.
    values = pyarrow.DictionaryArray.from_arrays([0, 1], pyarrow.array([None, -5]))
    table = pyarrow.table({"text": SAME, "n": [0, 1], "v": values})
    for keep in ("max:v", "min:v"):
        assert lookalike.deduplicate(table, keep=keep).kept["n"].to_pylist() == [1]


def test_preferred_values():
    frame = pandas.DataFrame({"text": ["a"] * 3, "v": [1, 3, None]})
    assert lookalike.deduplicate(frame, keep="prefer:v=3").kept["v"].to_list() == [3.0]
    codes = pandas.DataFrame({"text": SAME, "v": ["3", "03"]})
    assert lookalike.deduplicate(codes, keep="prefer:v=03").kept["v"].to_list() == ["03"]
    with pytest.warns(UserWarning, match=r"no record has wiki in v; its most frequent values: 03 \(1\)"):
        lookalike.deduplicate(codes, keep="prefer:v=wiki,3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lookalike.deduplicate(["one two three", "four five six"], keep="longest", shingle_size=2)


NESTED = pyarrow.table(
    {
        "s": ["a b", "c d"],
        "m": [{"t": "x", "n": 5, "b": b"x", "map": [("k", "v")], "role": "user"}] * 2,
        "l": [[{"role": "user", "content": "y"}]] * 2,
        "bytes": [b"x", b"y"],
    },
    schema=pyarrow.schema(
        {
            "s": pyarrow.string(),
            "m": pyarrow.struct(
                {
                    "t": pyarrow.string(),
                    "n": pyarrow.int64(),
                    "b": pyarrow.binary(),
                    "map": pyarrow.map_(pyarrow.string(), pyarrow.string()),
                    "role": pyarrow.string(),
                }
            ),
            "l": pyarrow.list_(
                pyarrow.struct({"role": pyarrow.string(), "content": pyarrow.string()})
            ),
            "bytes": pyarrow.binary(),
        }
    ),
)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("m.qq", KeyError, r"no field m\.qq; it has m\.t \(string\)"),
        ("m.t.u", KeyError, r"no field m\.t\.u"),
        ("l[].contents", KeyError, r"no field .*did you mean l\[\]\.content\?"),
        ("l[rolle=user].content", KeyError, r"no field l\.rolle for l\[rolle=user\]\.content"),
        ("m.b", KeyError, r"m\.b is of type Binary, not string"),
        ("m.map", KeyError, r"m\.map is of type Map.*, not string"),
        ("l[]", KeyError, r"l\[\] is of type"),
        ("bytes", TypeError, "the column bytes has the type Binary, not strings"),
        ("m", TypeError, "the column m has the type Struct"),
        ("x.y", KeyError, "there is no column x, only s, m, l, bytes"),
    ],
)
def test_paths_are_checked_against_the_schema(path, error, message):
    for text in (path, ["s", path], [path, "s"]):
        for source in (NESTED, NESTED.to_reader()):
            for call in (lookalike.find_pairs, lookalike.deduplicate, lookalike.Index):
                with pytest.raises(error, match=message):
                    call(source, text)


def test_paths_are_checked_in_dicts():
    rows = [{"s": "a", "m": {"t": "x"}} for _ in range(1500)]
    for source in (rows, iter(rows)):
        with pytest.raises(KeyError, match=r"no row has a text: no field m\.qq"):
            lookalike.find_pairs(source, ["s", "m.qq"])
    rows[1400]["m"]["qq"] = "here"
    for source in (rows, iter(rows)):
        found = lookalike.deduplicate(source, ["s", "m.qq"])
        assert len(found) == 2
        assert found.removed.head(1)[0]["row"] == 1


def test_values_that_have_one_spelling_are_text():
    values = {
        "int": pyarrow.array([5, 5, 6]),
        "bool": pyarrow.array([True, True, False]),
        "float": pyarrow.array([0.5, 0.5, 1e20]),
        "decimal": pyarrow.array([decimal.Decimal("1.50")] * 2 + [None]),
        "date": pyarrow.array([datetime.date(2024, 1, 2)] * 2 + [datetime.date(2024, 1, 3)]),
        "time": pyarrow.array([NEW, NEW, OLD], pyarrow.timestamp("s")),
    }
    for name, column in values.items():
        flat = pyarrow.table({"v": column})
        inside = pyarrow.table({"o": pyarrow.StructArray.from_arrays([column], ["v"])})
        lists = pyarrow.ListArray.from_arrays([0, 1, 2, 3], column)
        for source, path in [(flat, "v"), (inside, "o.v"), (pyarrow.table({"v": lists}), "v[]")]:
            pairs = lookalike.find_pairs(source, path, as_="table")
            assert [(pair["id_a"], pair["id_b"]) for pair in pairs] == [(0, 1)], (name, path)
    index = lookalike.Index(pyarrow.table({"v": values["date"]}), "v")
    assert [match["id"] for match in index.query("2024-01-03")] == [2]
    with pytest.raises(TypeError, match="the text in row 2 is int, not str"):
        lookalike.find_pairs(["a", "b", 2])


@pytest.mark.parametrize(
    "ids",
    [
        [True, False, True],
        [None, True, False],
        [2**53 + 1, 2**53, 2**53 - 1],
        [2**64 - 1, 0, 1],
        [0, 2**64 - 1, 1],
        [-1, None, 2**63 - 1],
        [1, 2.5, 3],
        [None, "", "x"],
        [numpy.int64(2**53 + 1), numpy.int64(2), numpy.int64(3)],
        [numpy.True_, numpy.False_, numpy.True_],
        pyarrow.array([decimal.Decimal(2**70), decimal.Decimal(1), None]),
    ],
)
def test_ids_are_kept_exactly(ids):
    values = ids.to_pylist() if hasattr(ids, "to_pylist") else ids
    found = [row["id"] for row in lookalike.clusters(["a b", "A b", "a B"], ids=ids)]
    assert found == values
    if values[1] != 2.5:
        assert [type(id) for id in found] == [
            type(getattr(v, "item", lambda v=v: v)()) for v in values
        ]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([2**64 + 1, 2**64 + 2], ValueError, "the id in row 0 is an integer that does not fit 64 bits"),
        ([-1, 2**64 - 1], ValueError, "the id in row 1 is an integer that does not fit 64 bits"),
        ([2**53 + 1, 0.5], TypeError, "the id in row 1 is float, not int .* too large for float"),
        ([0.5, 2**53 + 1], TypeError, "the id in row 1 is int, not float .* too large"),
        ([decimal.Decimal("0.1"), decimal.Decimal("0.2")], TypeError, "the id in row 0 is Decimal, not str"),
        ([1, decimal.Decimal(2)], TypeError, "the id in row 1 is Decimal, not a number"),
        ([1, True], TypeError, "the id in row 1 is bool, not a number as the ids before"),
        ([True, 1], TypeError, "the id in row 1 is int, not bool as the ids before"),
        ([1, "1"], TypeError, "the id in row 1 is str"),
        (["1", b"1"], TypeError, "the id in row 1 is bytes, not str as the ids before"),
        (["1", "\ud800"], ValueError, "the id in row 1 has a lone surrogate"),
        # The number of nanoseconds was the id.
        (numpy.array(["2024-01-01"] * 2, "datetime64[ns]"), TypeError, "the id in row 0 is (datetime64|Timestamp), not str"),
    ],
)
def test_ids_that_cannot_be_kept(ids, error, message):
    with pytest.raises(error, match=message):
        lookalike.find_pairs(SAME, ids=ids)
    with pytest.raises(error, match=message):
        lookalike.clusters(pandas.DataFrame({"text": SAME, "i": pandas.Series(ids, dtype=object)}), ids="i")


def test_ids_of_types_that_extend_others():
    """They were what is stored: bytes, or the months since 1970."""
    ids = pyarrow.array([uuid.UUID(int=5).bytes, uuid.UUID(int=6).bytes], pyarrow.uuid())
    months = pandas.period_range("2024-01", periods=2, freq="M")
    levels = polars.Series(["x", "y"], dtype=polars.Enum(["y", "q", "x"]))
    parts = [polars.DataFrame({"text": SAME[n:][:1], "id": levels[n:][:1]}) for n in (0, 1)]
    for table, column in [
        (pyarrow.table({"text": SAME, "id": ids}), ids),
        (pandas.DataFrame({"text": SAME, "id": months}), months),
        (polars.DataFrame({"text": SAME, "id": levels}), levels),
        (polars.concat(parts, rechunk=False), levels),
    ]:
        kind = "type" if column is ids else "dtype"
        for given in ("id", table["id"]):
            found = lookalike.clusters(table, ids=given)["id"]
            assert getattr(found, kind) == getattr(column, kind)
            assert found.to_pylist() == ids.to_pylist() if column is ids else list(found) == list(column)
            assert getattr(lookalike.find_pairs(table, ids=given)["id_b"], kind) == getattr(column, kind)
    found = lookalike.clusters(pyarrow.table({"text": SAME, "id": ids}), ids="id", as_="table")
    assert [row["id"] for row in found] == ids.to_pylist()


def test_addresses_of_objects_are_no_ids():
    ids = polars.Series("i", [object(), object()], dtype=polars.Object)
    with pytest.raises(TypeError, match="ids: the column i has Python objects"):
        lookalike.clusters(SAME, ids=ids)


def test_names_that_are_no_text_or_are_several():
    """Members with other names were not found, and the first of several columns was taken."""
    rows = [{0: "a", 1: "same", "v": 5}, {0: "b", 1: "same", "v": 9}]
    for source in (rows, iter(rows), pandas.DataFrame(rows), {0: ["a", "b"], 1: SAME, "v": [5, 9]}):
        assert lookalike.deduplicate(source, "1", keep="max:v", as_="arrow").kept["v"].to_pylist() == [9]
    assert lookalike.deduplicate(rows, "1", keep="max:v").kept == rows[1:]
    both = [{1: "a", "1": "same"}, {1: "b", "1": "same"}]
    for source in (both, iter(both), {1: ["a", "b"], "1": SAME}):
        with pytest.raises(KeyError, match="two of the names 1, '1' are the same as text"):
            lookalike.find_pairs(source, "1")
    table = pyarrow.table([["a", "b"], SAME, [1, 2]], ["text", "text", "v"])
    for source, text in ((pandas.DataFrame(both), "1"), (table.to_reader(), "text"), (table.to_reader(), ["v", "text"])):
        with pytest.raises(KeyError, match=f"several columns are called {text[-1]}"):
            lookalike.deduplicate(source, text)
    table = table.rename_columns(["text", "v", "v"])
    with pytest.raises(KeyError, match="several columns are called v"):
        lookalike.deduplicate(table.to_reader(), keep="max:v")


def late(number, **members):
    """Rows, of which the one after a block of 1,000 has other members."""
    rows = [{"text": f"row {n}", "k": n} for n in range(number)]
    rows[number - 1].update(members)
    return rows


@pytest.mark.parametrize("number", [3, 1000, 1001, 2500])
def test_blocks_of_dicts_are_one_table(number):
    for members in ({"new": "x"}, {"k": 0.5}, {"k": None}, {"new": {"a": 1}}, {"new": [1, None]}):
        rows = late(number, **members)
        rows[0]["text"] = rows[-1]["text"]
        for source in (rows, iter(rows)):
            kept = lookalike.deduplicate(source, keep="last").kept
            assert [{k: v for k, v in row.items() if k in rows[-1]} for row in kept][-1] == rows[-1]
            assert len(list(kept)) == number - 1
    # A key that appears late.
    rows = [{"k": n} for n in range(number - 1)] + [{"k": -1, "text": "a", "id": 7}]
    for source in (rows, iter(rows)):
        assert len(lookalike.deduplicate(source)) == number
    rows.append(rows[-1] | {"id": 8})
    for source in (rows, iter(rows)):
        found = lookalike.find_pairs(source, ids="id")
        assert [(pair["id_a"], pair["id_b"]) for pair in found] == [(7, 8)]
    for source in (rows, iter(rows)):
        with pytest.raises(KeyError, match="there is no column body, only k, text, id"):
            lookalike.find_pairs(source, "body")
    # Of a number that no float is, another one was the id.
    rows = [row | {"k": 2**53 + 1 + row["k"], "text": "a"} for row in late(number)]
    rows[-1]["k"] = 0.5
    for source in (rows, iter(rows)):
        with pytest.raises(TypeError, match="too large for float|column k in row"):
            lookalike.find_pairs(source, ids="k")
    # A value of another type.
    rows = late(number, k="x")
    for source in (rows, iter(rows)):
        with pytest.raises(TypeError, match=f"the column k .*{number - 1}"):
            lookalike.deduplicate(source, keep="max:k")
    rows = late(number, text="\ud800")
    for source in (rows, iter(rows), {"text": [row["text"] for row in rows]}):
        with pytest.raises(ValueError, match=f"text in row {number - 1} has a lone surrogate"):
            lookalike.find_pairs(source)


def test_kept_rows_of_a_stream_that_spill():
    rows = [{"text": f"row {n}", "k": n, "long": "x" * 100_000} for n in range(1500)]
    rows[1200] |= {"k": 0.5, "new": True, "text": "row 3"}
    kept = lookalike.deduplicate(iter(rows), memory="256MiB").kept
    expected = [row for n, row in enumerate(rows) if n != 1200]
    assert [(row["text"], row["k"], row["new"]) for row in kept] == [
        (row["text"], row["k"], None) for row in expected
    ]
    assert len(kept.to_arrow()) == 1499


def test_missing_values_in_lists_and_records():
    nan = float("nan")
    for missing in (None, nan, numpy.nan, pandas.NA, pandas.NaT):
        texts = ["a b", missing, "A b", missing]
        for source in (texts, iter(texts), {"text": texts}, [{"text": text} for text in texts]):
            result = lookalike.deduplicate(source)
            assert len(result) == 3, (missing, source)
        frame = pandas.DataFrame({"text": pandas.Series(texts, dtype=object)})
        assert len(lookalike.deduplicate(frame).kept) == 3
    rows = [{"text": "a", "v": nan}, {"text": "A", "v": 1.0}]
    assert lookalike.deduplicate(rows, keep="min:v").kept == rows[1:]
    kept = lookalike.deduplicate(iter(rows), rule="all").kept.to_arrow()
    assert numpy.isnan(kept["v"][0].as_py())
    frame = polars.DataFrame({"text": ["a", "A"], "v": [nan, nan]})
    assert lookalike.deduplicate(frame, keep="min:v").kept.height == 1


def test_lone_surrogates_name_their_row():
    for source in (
        pandas.DataFrame({"text": pandas.Series(["a", "b\udc00"], dtype=object)}),
        [{"text": "a"}, {"text": "b\udc00"}],
        [{"m": {"text": "a"}}, {"m": {"text": "b\udc00"}}],
        ["a", "b\udc00"],
    ):
        nested = isinstance(source, list) and "m" in source[0]
        with pytest.raises(ValueError, match="row 1 has a lone surrogate"):
            lookalike.find_pairs(source, "m.text" if nested else "text")
    for call in (lookalike.tokens, lookalike.shingles, lookalike.fingerprints):
        with pytest.raises(ValueError, match="^the text has a lone surrogate"):
            call("\ud800")
    for call in (lookalike.resemblance, lookalike.containment):
        with pytest.raises(ValueError, match="^the text b has a lone surrogate"):
            call("a", "b\udfff")


VIEW = pyarrow.string_view()
STORED = {
    "view": lambda texts: pyarrow.array(texts, VIEW),
    "runs": lambda texts: pyarrow.compute.run_end_encode(pyarrow.array(texts)),
    "dictionary": lambda texts: pyarrow.array(texts).dictionary_encode(),
    "dictionary of views": lambda texts: pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(range(len(texts))), pyarrow.array(texts, VIEW)
    ),
}


@pytest.mark.parametrize("kind", STORED)
def test_ways_to_store_texts(kind):
    texts = ["a b", "a b", "c", None, "A b", "C"]
    column = STORED[kind](texts)
    table = pyarrow.table({"n": range(6), "text": column})
    inside = pyarrow.table({"o": pyarrow.StructArray.from_arrays([column], ["t"])})
    for source, path in ((table, "text"), (table["text"], "text"), (table.to_reader(), "text"), (inside, "o.t")):
        pairs = lookalike.find_pairs(source, path, as_="table")
        assert [(p["id_a"], p["id_b"]) for p in pairs] == [(0, 1), (0, 4), (2, 5)]
    for source in (table, table.to_reader()):
        for memory in ("2GiB", "256MiB"):
            result = lookalike.deduplicate(source, memory=memory)
            assert [row["n"] for row in pyarrow.table(result)["n"].to_pylist() and result] == [0, 2, 3]
            break
    kept = lookalike.deduplicate(table, keep="prefer:text=A b").kept
    assert pyarrow.table(kept)["n"].to_pylist() == [2, 3, 4]
    ids = lookalike.find_pairs(SAME, ids=STORED[kind](["x", "y"]) if kind != "runs" else ["x", "y"])
    assert [(p["id_a"], p["id_b"]) for p in ids] == [("x", "y")]


def test_batches_of_datasets_map():
    dataset = datasets.Dataset.from_dict({"n": [0, 1, 2], "text": ["a b", "A b", "c"]})
    kept = dataset.map(lambda batch: lookalike.deduplicate(batch).kept, batched=True, load_from_cache_file=False)
    assert kept["n"][:] == [0, 2]


def test_an_empty_index_grows(tmp_path):
    for first, text in (([], "text"), (pyarrow.table({"text": pyarrow.array([], "string")}), "text")):
        index = lookalike.Index(first, text)
        assert len(index) == 0 and index.query("a b") == []
        index.add(["a b", "c"])
        index.add(["A b"])
        assert len(index) == 3
        assert sorted(match["id"] for match in index.query("a b")) in ([0], [0, 2])
    index = lookalike.Index([], ["x", "y"], directory=tmp_path / "index")
    index.add(pyarrow.table({"x": ["a"], "y": ["b"]}))
    assert [match["id"] for match in index.query("a b")] == [0]
    again = lookalike.Index.open(tmp_path / "index")
    again.add(pyarrow.table({"x": ["q"], "y": ["r"]}), ["x", "y"])
    assert [match["id"] for match in index.query("q r")] == [1]
    with pytest.raises(ValueError, match="the texts of this index are not in the same columns"):
        index.add(["a b"], "text")


def test_rows_without_any_of_several_texts():
    table = pyarrow.table({"x": ["a", None, "c"], "y": ["b", None, None]})
    index = lookalike.Index(table, ["x", "y"])
    assert len(index) == 3
    index.add(pyarrow.table({"x": [None, "q"], "y": [None, "r"]}))
    assert len(index) == 5
    answers = index.query(pyarrow.table({"x": ["q", None, "c"], "y": ["r", None, None]}), text=["x", "y"])
    assert [[match["id"] for match in matches] for matches in answers] == [[4], [], [2]]


def test_a_forked_process_leaves_the_directory():
    index = lookalike.Index(["a b"])
    result = lookalike.deduplicate(["a b", "A b"])
    place = index.directory.parent
    child = os.fork()
    if child == 0:
        del index, result
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert [match["id"] for match in index.query("a b")] == [0]
    assert result.removed.head()[0]["row"] == 1
    del index
    gc.collect()
    assert not place.exists()


def test_titles_are_too_short_for_the_default():
    titles = ["How to sort a list", "How to sort a list in Python", "What is a monad"]
    long = " ".join(map(str, range(30)))
    for call in (lookalike.find_pairs, lookalike.clusters, lookalike.deduplicate, lookalike.Index):
        with pytest.warns(UserWarning, match="3 of 4 documents have fewer words than a shingle .10..*shingle.size"):
            call([*titles, long])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(titles, shingle_size=2)
            call([*titles, *(f"{n} {long}" for n in range(3))])


def value_of(rng):
    return rng.choice(
        [
            lambda: None,
            lambda: rng.choice(["a b c", "A b c", "d", "", "e f"]),
        ]
    )()


@pytest.mark.parametrize("seed", range(8))
def test_random_tables_agree_with_brute_force(seed):
    """Every way to store a table gives the pairs of its texts, and the newest of each group."""
    rng = random.Random(seed)
    rows = rng.randint(2, 30)
    texts = [value_of(rng) for _ in range(rows)]
    times = [None if rng.random() < 0.1 else rng.randrange(-(10**12), 4 * 10**12) for _ in range(rows)]
    unit = rng.choice(["ms", "us", "ns"])
    table = pyarrow.table(
        {
            "n": range(rows),
            "text": STORED[rng.choice(list(STORED))](texts),
            "o": [{"t": text} for text in texts],
            "d": pyarrow.array(times, pyarrow.timestamp(unit, rng.choice([None, "UTC"]))),
        }
    )
    groups = {}
    for n, text in enumerate(texts):
        groups.setdefault(tuple((text or "").lower().split()), []).append(n)
    groups.pop((), None)
    pairs = sorted((group[0], n) for group in groups.values() for n in group[1:])
    removed = set()
    for group in groups.values():
        newest = max(group, key=lambda n: (times[n] is not None, times[n] or 0, -n))
        removed.update(n for n in group if n != newest)
    if all(time is None for time in times):
        return
    for source, path in ((table, "text"), (table, "o.t"), (table.to_reader(), "text"), (iter(table.to_pylist()), "o.t")):
        if source is not table and path == "text":
            source = iter(table.to_pylist()) if rng.random() < 0.5 else source
        if groups:
            result = lookalike.deduplicate(source, path, keep="newest:d", as_="table")
            assert [row["n"] for row in result.kept] == [n for n in range(rows) if n not in removed]
    if groups:
        found = lookalike.find_pairs(table, "o.t", as_="table")
        assert sorted((pair["id_a"], pair["id_b"]) for pair in found) == pairs
