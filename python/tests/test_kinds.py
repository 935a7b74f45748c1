"""What may come in, and what comes back."""

import collections
import itertools
import pickle
import uuid

import datasets
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pytest

import lookalike

TEXTS = ["a b c", "d e f", "A b, c", None, "d e F"]
STRINGS = [text or "" for text in TEXTS]
NUMBERS = list(range(5))
ROWS = [{"n": n, "text": text} for n, text in zip(NUMBERS, TEXTS)]
COLUMNS = {"n": NUMBERS, "text": TEXTS}
TABLE = pyarrow.table(COLUMNS)
FRAME = pandas.DataFrame(COLUMNS, index=[f"i{n}" for n in NUMBERS])
DATASET = datasets.Dataset.from_dict(COLUMNS)
STREAM = datasets.IterableDataset
KEPT = [0, 1, 3]


def with_text(kind):
    return pyarrow.table({"n": NUMBERS, "text": pyarrow.array(TEXTS).cast(kind)})


def polars_with(name, values, kind):
    return polars.DataFrame(COLUMNS).with_columns(polars.Series(name, values, dtype=kind))


def late():
    """Rows of which the first thousands have no text, so that nothing is known about its type."""
    yield from ({"n": -1, "text": None} for _ in range(2500))
    yield from ROWS


Table = lookalike.Table
# What comes in, the type of the kept rows, and the type of the table of pairs.
KINDS = {
    "list": (lambda: TEXTS, list, Table),
    "tuple": (lambda: tuple(TEXTS), tuple, Table),
    "generator": (lambda: (text for text in TEXTS), Table, Table),
    "numpy array": (lambda: numpy.array(STRINGS), list, Table),
    "pandas index": (lambda: pandas.Index(STRINGS), list, Table),
    "list of dicts": (lambda: ROWS, list, Table),
    "dicts without a member": (lambda: [{"n": 0}, *ROWS][1:], list, Table),
    "iterator of dicts": (lambda: iter(ROWS), Table, Table),
    "dict of lists": (lambda: COLUMNS, dict, Table),
    "dict of arrays": (
        lambda: {"n": numpy.array(NUMBERS), "text": pyarrow.array(TEXTS)},
        dict,
        Table,
    ),
    "mapping": (lambda: collections.UserDict(COLUMNS), collections.UserDict, Table),
    "pandas": (lambda: FRAME, pandas.DataFrame, pandas.DataFrame),
    "pandas category": (
        lambda: FRAME.astype({"text": "category"}),
        pandas.DataFrame,
        pandas.DataFrame,
    ),
    "pandas objects": (
        lambda: FRAME.astype({"text": object}),
        pandas.DataFrame,
        pandas.DataFrame,
    ),
    "pandas series": (lambda: FRAME["text"], pandas.Series, pandas.DataFrame),
    "polars": (lambda: polars.DataFrame(COLUMNS), polars.DataFrame, polars.DataFrame),
    "polars lazy": (lambda: polars.LazyFrame(COLUMNS), polars.DataFrame, polars.DataFrame),
    "polars series": (lambda: polars.Series("x", TEXTS), polars.Series, polars.DataFrame),
    "polars categorical": (
        lambda: polars_with("text", TEXTS, polars.Categorical),
        polars.DataFrame,
        polars.DataFrame,
    ),
    "polars enum": (
        lambda: polars_with("text", TEXTS, polars.Enum(list(filter(None, TEXTS)))),
        polars.DataFrame,
        polars.DataFrame,
    ),
    "polars null": (
        lambda: polars_with("m", [None] * 5, polars.Null),
        polars.DataFrame,
        polars.DataFrame,
    ),
    "polars list of null": (
        lambda: polars_with("m", [[None]] * 5, polars.List(polars.Null)),
        polars.DataFrame,
        polars.DataFrame,
    ),
    "pyarrow": (lambda: TABLE, pyarrow.Table, pyarrow.Table),
    "pyarrow slices": (
        lambda: pyarrow.concat_tables([TABLE[:2], TABLE[2:]])[0:],
        pyarrow.Table,
        pyarrow.Table,
    ),
    "pyarrow batch": (
        lambda: TABLE.combine_chunks().to_batches()[0],
        pyarrow.RecordBatch,
        pyarrow.Table,
    ),
    "pyarrow array": (lambda: pyarrow.array(TEXTS), pyarrow.Array, pyarrow.Table),
    "pyarrow chunks": (
        lambda: pyarrow.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pyarrow.ChunkedArray,
        pyarrow.Table,
    ),
    "pyarrow dictionary": (
        lambda: with_text(pyarrow.string()).set_column(
            1, "text", pyarrow.array(TEXTS).dictionary_encode()
        ),
        pyarrow.Table,
        pyarrow.Table,
    ),
    "pyarrow view": (lambda: with_text(pyarrow.string_view()), pyarrow.Table, pyarrow.Table),
    "pyarrow large": (lambda: with_text(pyarrow.large_string()), pyarrow.Table, pyarrow.Table),
    "pyarrow reader": (lambda: TABLE.to_reader(), Table, Table),
    "pyarrow dataset": (lambda: pyarrow.dataset.dataset(TABLE), Table, Table),
    "duckdb": (lambda: duckdb.from_arrow(TABLE), Table, Table),
    "dataset": (lambda: DATASET, datasets.Dataset, datasets.Dataset),
    "column of a dataset": (lambda: DATASET["text"], list, Table),
    "slice of a dataset": (lambda: DATASET[:], dict, Table),
    "streaming dataset": (lambda: DATASET.to_iterable_dataset(), Table, Table),
    "untyped stream": (lambda: STREAM.from_generator(lambda: iter(ROWS)), Table, Table),
    "late stream": (lambda: STREAM.from_generator(late), Table, Table),
    "result": (lambda: lookalike.deduplicate(TABLE, rule="all"), Table, Table),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_back(kind):
    make, type_of_kept, type_of_pairs = KINDS[kind]
    before = 2500 if kind == "late stream" else 0
    kept = [*range(before), *(row + before for row in KEPT)]
    given = make()
    result = lookalike.deduplicate(given)
    assert isinstance(result.kept, type_of_kept)
    assert len(result) == len(kept) and result
    # The result is a table of the same rows.
    table = polars.DataFrame(result)
    texts = list(itertools.chain([None] * before, TEXTS))
    column = table[result.columns[-1] if len(result.columns) == 1 else "text"]
    assert [text or None for text in column.to_list()] == [texts[row] for row in kept]
    if "n" in result.columns:
        assert table["n"].to_list() == [-1] * before + KEPT
    assert isinstance(result.removed, type_of_pairs)
    assert [row["row"] for row in rows_of(result.removed)] == [before + 2, before + 4]
    assert [row["survivor"] for row in rows_of(result.removed)] == [before, before + 1]
    pairs = lookalike.find_pairs(make())
    assert isinstance(pairs, type_of_pairs)
    found = [(row["id_a"], row["id_b"]) for row in rows_of(pairs)]
    assert found == [(before, before + 2), (before + 1, before + 4)]
    assert [row["size"] for row in rows_of(lookalike.clusters(make()))] == [2] * 4


def rows_of(table):
    if isinstance(table, (Table, datasets.Dataset)):
        return list(table)
    return polars.DataFrame(table).to_dicts()


def test_kept_rows_are_as_they_came():
    pandas.testing.assert_frame_equal(lookalike.deduplicate(FRAME).kept, FRAME.iloc[KEPT])
    pandas.testing.assert_series_equal(
        lookalike.deduplicate(FRAME["text"]).kept, FRAME["text"].iloc[KEPT]
    )
    objects = FRAME.assign(o=[object() for _ in NUMBERS])
    assert lookalike.deduplicate(objects).kept["o"].to_list() == objects["o"].iloc[KEPT].to_list()
    assert lookalike.deduplicate(TEXTS).kept == [TEXTS[row] for row in KEPT]
    assert list(lookalike.deduplicate(TEXTS)) == [TEXTS[row] for row in KEPT]
    assert lookalike.deduplicate(ROWS).kept == [ROWS[row] for row in KEPT]
    assert lookalike.deduplicate(COLUMNS).kept == {
        name: [column[row] for row in KEPT] for name, column in COLUMNS.items()
    }
    enum = polars_with("text", TEXTS, polars.Enum(list(filter(None, TEXTS))))
    assert lookalike.deduplicate(enum).kept.equals(enum[KEPT])
    labelled = DATASET.cast_column("text", datasets.Value("large_string"))
    assert lookalike.deduplicate(labelled).kept.features == labelled.features


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "pyarrow", "dataset", "duckdb"])
def test_the_kind_can_be_chosen(kind):
    for as_, expected in [
        ("pandas", pandas.DataFrame),
        ("polars", polars.DataFrame),
        ("arrow", pyarrow.Table),
        ("dataset", datasets.Dataset),
        ("table", Table),
    ]:
        result = lookalike.deduplicate(KINDS[kind][0](), as_=as_)
        pairs = lookalike.find_pairs(KINDS[kind][0](), as_=as_)
        for table in (result.kept, result.removed, result.clusters, pairs):
            assert isinstance(table, expected)
        assert len(result.kept) == len(result) == 3
    with pytest.raises(ValueError, match="as_='numpy': expected one of pandas, polars"):
        lookalike.deduplicate(TEXTS, as_="numpy")
    with pytest.raises(ValueError, match="as_='list': expected one of pandas, polars"):
        lookalike.find_pairs(TEXTS, as_="list")


def test_a_table_of_results():
    table = lookalike.find_pairs(TEXTS)
    assert table.head(1) == [
        {"id_a": 0, "id_b": 2, "resemblance": 1.0, "shared": 1, "shingles_a": 1, "shingles_b": 1}
    ]
    assert list(table) == table.to_arrow().to_pylist() == table.to_polars().to_dicts()
    assert table.to_pandas().to_dict("records") == table.to_dataset().to_list() == list(table)
    assert "<td>2</td>" in table._repr_html_()
    texts = lookalike.deduplicate(["<b>", "x" * 300], as_="table").kept
    assert "&lt;b&gt;" in texts._repr_html_() and "x..." in texts._repr_html_()
    with pytest.raises(TypeError, match="temporary and cannot be pickled"):
        pickle.dumps(table)
    times = pyarrow.table({"text": ["a"], "day": pyarrow.array([1], pyarrow.date32())})
    kept = lookalike.deduplicate(times.to_reader()).kept
    assert kept.head() == list(kept) == times.to_pylist()


def test_a_table_of_a_directory_is_pickled_by_its_path(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text('{"id": "x", "text": "a"}\n{"id": "y", "text": "A"}\n')
    run = lookalike.run(file, tmp_path / "out")
    assert list(pickle.loads(pickle.dumps(run.clusters()))) == list(run.clusters())


@pytest.mark.parametrize(
    "ids",
    [
        [uuid.UUID(int=n) for n in NUMBERS],
        [0.5, None, 1.5, 2.0, 3.0],
        [2**64 - 1 - n for n in NUMBERS],
        [None, "b", "c", "d", "e"],
        numpy.array(NUMBERS, dtype=numpy.uint8),
        numpy.array(["v", "w", "x", "y", "z"]),
        pyarrow.array(["v", "w", "x", "y", "z"]),
        pandas.Series([uuid.UUID(int=n) for n in NUMBERS]),
    ],
)
def test_ids_of_all_kinds(ids):
    values = list(ids.to_pylist() if hasattr(ids, "to_pylist") else ids)
    expected = [
        tuple(str(v) if isinstance(v, uuid.UUID) else v for v in (values[a], values[b]))
        for a, b in [(0, 2), (1, 4)]
    ]
    found = lookalike.find_pairs(TEXTS, ids=ids)
    assert [(pair["id_a"], pair["id_b"]) for pair in found] == expected
    found = lookalike.clusters(TEXTS, ids=ids)
    assert [(row["representative"], row["id"]) for row in found][2:] == expected
    if not hasattr(ids, "to_pylist"):
        frame = pandas.DataFrame({"text": TEXTS, "key": ids})
        found = lookalike.find_pairs(frame, ids="key", as_="table")
        assert [(pair["id_a"], pair["id_b"]) for pair in found] == expected


def test_ids_that_are_of_no_kind():
    with pytest.raises(TypeError, match="the id in row 1 is int, not str as the ids before it"):
        lookalike.find_pairs(TEXTS, ids=["a", 2, "c", "d", "e"])


def test_thresholds_near_a_decimal():
    texts = ["a b c", "a b d"]
    for threshold in (0.1 + 0.2, numpy.float64(0.1) + 0.2, numpy.float32(0.3), "3/10", "0.3"):
        assert lookalike.find_pairs(texts, threshold=threshold, shingle_size=1)
    assert lookalike.find_pairs(texts, threshold=numpy.int64(1), shingle_size=1).head() == []
    with pytest.raises(ValueError, match="^threshold=0.66666666"):
        lookalike.find_pairs(texts, threshold=2 / 3)


CHATS = [
    [{"role": "user", "content": "a b"}, {"role": "model", "content": "x"}],
    [{"role": "user", "content": "A b"}, {"role": "model", "content": "y"}],
    [{"role": "model", "content": "x"}, {"role": "user", "content": "a b"}],
    [{"role": "model", "content": "z"}],
    None,
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("messages[].content", []),
        ("messages[role=user].content", [(0, 1), (0, 2)]),
        ("messages[0].content", [(0, 1)]),
        ("messages.0.content", [(0, 1)]),
        (["first", "second"], [(0, 1), (2, 3)]),
        (["first", "page.body"], [(0, 1)]),
        ("page.body", [(0, 1), (0, 2)]),
        ("a.b", [(0, 4)]),
        ('"a.b"', [(0, 4)]),
    ],
)
def test_several_and_nested_columns(text, expected, tmp_path):
    table = pyarrow.table(
        {
            "messages": CHATS,
            "first": ["a", "a", "b c", "b", "d"],
            "second": ["b", "B", "d", "c d", None],
            "page": [{"body": "x y"}, {"body": "x Y!"}, {"body": "X y"}, {"body": None}, None],
            "a.b": ["u", "v", "w", "x", "u"],
        }
    )
    polar = polars.from_arrow(table)
    rows = table.to_pylist()
    for source in (table, polar, table.to_reader(), rows, datasets.Dataset(table)):
        pairs = lookalike.find_pairs(source, text, as_="table")
        assert [(pair["id_a"], pair["id_b"]) for pair in pairs] == expected
    kept = lookalike.deduplicate(table, text).kept
    assert kept.equals(table.filter([n not in [b for _, b in expected] for n in range(5)]))
    # Files give the same.
    (tmp_path / "in.jsonl").write_text(polar.with_row_index("id").write_ndjson())
    pyarrow.parquet.write_table(table.add_column(0, "id", [list("01234")]), tmp_path / "in.parquet")
    for name in ("in.jsonl", "in.parquet"):
        field = text if isinstance(text, str) else ",".join(text)
        field = '"a.b"' if field == "a.b" else field
        run = lookalike.run(tmp_path / name, tmp_path / f"out-{name}", text_field=field)
        exact = ({"id_a": row["representative"], "id_b": row["id"]} for row in run.exact_duplicates())
        found = [*run.pairs(), *exact]
        assert [(int(pair["id_a"]), int(pair["id_b"])) for pair in found] == expected


def test_what_is_wrong_with_columns():
    table = pyarrow.table({"a": ["x"], "n": [b"1"]})
    with pytest.raises(KeyError, match="there is no column a,b, only a, n"):
        lookalike.find_pairs(table, "a,b")
    with pytest.raises(KeyError, match="there is no column messages, only a, n"):
        lookalike.find_pairs(table, "messages[].content")
    with pytest.raises(TypeError, match="the column n has the type Binary, not strings"):
        lookalike.find_pairs(table, ["a", "n"])
    with pytest.raises(ValueError, match="text is empty"):
        lookalike.find_pairs(table, [])
    with pytest.raises(KeyError, match="there is no column 7, only text"):
        lookalike.find_pairs(TEXTS, list("78945"))
    with pytest.raises(TypeError, match="text=0.5: expected the name of a column"):
        lookalike.find_pairs(TEXTS, 0.5)
    chats = pyarrow.table({"m": [[{"role": "user", "content": "a"}], []]})
    for path in ("m[].text", "m[role=model].content"):
        with pytest.raises(KeyError, match=r"no row has a text: .*it has .*m\[\].content") as raised:
            lookalike.deduplicate(chats, path)
        assert "texts.jsonl" not in str(raised.value) and "lookalike row" not in str(raised.value)
    with pytest.raises(ValueError, match=r"^text_field m\[role is not possible"):
        lookalike.deduplicate(chats, "m[role")


def test_rows_that_are_wrong():
    with pytest.raises(TypeError, match="row 1500 is str, and others are dicts"):
        lookalike.find_pairs([*ROWS * 300, "a"])
    with pytest.raises(ValueError, match="the text in row 1 has a lone surrogate"):
        lookalike.find_pairs(["a", "\ud800"])
    frame = polars.DataFrame({"text": ["a", "A"], "lookalike row": [1, 2]})
    with pytest.raises(ValueError, match="the column lookalike row has a reserved name"):
        lookalike.deduplicate(frame, keep="max:lookalike row")
    assert lookalike.deduplicate(frame).kept["lookalike row"].to_list() == [1]


def test_contents_that_are_lists_of_parts():
    """A role was suggested for a content that is a list of parts."""
    parts = [[{"role": "user", "content": [{"type": "text", "text": f"{n} a b c"}]}] for n in (1, 1)]
    table = pyarrow.table({"messages": parts})
    for rows in (table, polars.from_arrow(table), table.to_pylist(), datasets.Dataset(table)):
        with pytest.raises(KeyError) as raised:
            lookalike.find_pairs(rows, "messages[role=user].content")
        message = raised.value.args[0]
        what = "messages[role=user].content is of type list of object, not string"
        assert message.startswith(f"no row has a text: {what}; it has "), message
        assert "messages[].content[].text (string)" in message
        path = message.removesuffix("?").rpartition("did you mean ")[2]
        assert path == "messages[role=user].content[].text", message
        assert len(lookalike.find_pairs(rows, path, as_="table")) == 1
