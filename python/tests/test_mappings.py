"""Mappings: a dict of columns is a table, a dict of tables is a set of splits."""

import collections
import types

import datasets
import numpy
import pandas
import polars
import pyarrow
import pytest
from made import texts_of

import lookalike

PARAMETERS = {"threshold": 0.5, "shingle_size": 3}
TEXTS = texts_of(3, 120)
ROWS = list(range(len(TEXTS)))


class StandIn(collections.abc.Mapping):
    """A mapping of a class of its own."""

    def __init__(self, given):
        self.given = dict(given)

    def __getitem__(self, name):
        return self.given[name]

    def __iter__(self):
        return iter(self.given)

    def __len__(self):
        return len(self.given)


class OldFrame:
    """A frame without the Arrow interface, which gives the names of its columns."""

    columns = ("text", "n")

    def __iter__(self):
        return iter(self.columns)


COLUMNS = {
    "lists": lambda texts: texts,
    "tuples": tuple,
    "numpy": numpy.array,
    "pandas": lambda texts: pandas.Series(texts, index=[f"i{n}" for n in range(len(texts))]),
    "polars": lambda texts: polars.Series("x", texts),
    "pyarrow": pyarrow.array,
    "pyarrow chunks": lambda texts: pyarrow.chunked_array([texts[:3], texts[3:]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("mapping", [dict, collections.UserDict, StandIn])
def test_a_dict_of_columns_is_a_table(kind, mapping):
    given = mapping({"n": ROWS, "text": COLUMNS[kind](TEXTS)})
    expected = pyarrow.table(lookalike.deduplicate(TEXTS, **PARAMETERS))["text"].to_pylist()
    found = pyarrow.table(lookalike.deduplicate(given, **PARAMETERS))
    assert found.column_names == ["n", "text"]
    assert found["text"].to_pylist() == expected
    pairs = pyarrow.table(lookalike.find_pairs(given, **PARAMETERS))
    assert pairs.equals(pyarrow.table(lookalike.find_pairs(TEXTS, **PARAMETERS)))


def test_a_slice_of_a_dataset_is_a_table():
    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    expected = pyarrow.table(lookalike.find_pairs(TEXTS[:50], **PARAMETERS))
    for part in (dataset[:50], dataset[:50]["text"], dataset["text"][:50]):
        assert pyarrow.table(lookalike.find_pairs(part, **PARAMETERS)).equals(expected)


TABLES = {
    "dataset": lambda texts: datasets.Dataset.from_dict({"n": range(len(texts)), "text": texts}),
    "stream": lambda texts: TABLES["dataset"](texts).to_iterable_dataset(),
    "pyarrow": lambda texts: pyarrow.table({"text": texts, "n": range(len(texts))}),
    "polars": lambda texts: polars.DataFrame({"text": texts, "n": range(len(texts))}),
    "polars lazy": lambda texts: TABLES["polars"](texts).lazy(),
    "pandas": lambda texts: pandas.DataFrame(
        {"text": texts, "n": range(len(texts))}, index=[f"i{n}" for n in range(len(texts))]
    ),
    "columns": lambda texts: {"text": list(texts), "n": numpy.arange(len(texts))},
}
MAPPINGS = {
    "dataset": datasets.DatasetDict,
    "stream": datasets.IterableDatasetDict,
    "polars": collections.OrderedDict,
    "pyarrow": StandIn,
    "pandas": types.MappingProxyType,
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_dict_of_tables_is_refused(kind):
    mapping = MAPPINGS.get(kind, dict)
    splits = mapping({"train": TABLES[kind](TEXTS), "test": TABLES[kind](TEXTS)})
    for call in (lookalike.find_pairs, lookalike.deduplicate):
        with pytest.raises(TypeError, match=r"pass d\['train'\], or call .*deduplicate_splits"):
            call(splits)


def as_rows(table):
    """The rows of a split, as pairs of n and text."""
    if isinstance(table, polars.LazyFrame):
        table = table.collect()
    if isinstance(table, (datasets.Dataset, datasets.IterableDataset)):
        return [(row["n"], row["text"]) for row in table]
    if isinstance(table, (pyarrow.Table, polars.DataFrame)):
        table = table.to_pandas()
    return list(zip(list(table["n"]), list(table["text"])))


@pytest.mark.parametrize("kind", TABLES)
def test_splits_come_back_as_they_came(kind):
    texts = {"train": TEXTS[:60], "validation": TEXTS[60:90], "test": TEXTS[90:]}
    splits = MAPPINGS.get(kind, dict)({n: TABLES[kind](part) for n, part in texts.items()})
    result = lookalike.deduplicate_splits(splits, **PARAMETERS)
    kept = result.kept
    assert type(kept) is type(splits) and list(kept) == list(splits) == list(result)
    assert all(result[name] is kept[name] for name in kept)
    assert all(type(kept[name]) is type(splits[name]) for name in splits)
    # One collection: test, then validation, then train.
    order = ["test", "validation", "train"]
    everything = [(name, n, t) for name in order for n, t in enumerate(texts[name])]
    table = pyarrow.table({"n": range(len(everything)), "text": [t for _, _, t in everything]})
    alone = pyarrow.table(lookalike.deduplicate(table, **PARAMETERS))["n"].to_pylist()
    expected = [everything[n] for n in alone]
    assert [(name, *row) for name in order for row in as_rows(kept[name])] == expected
    assert len(expected) < len(everything)
    if kind == "pandas":
        assert list(kept["train"].index) == [f"i{n}" for n in kept["train"]["n"]]


def test_no_training_row_resembles_a_test_row():
    splits = {"train": [*TEXTS[::2], TEXTS[9]], "dev": TEXTS[1::4], "my_test": TEXTS[3::4]}
    kept = lookalike.deduplicate_splits(splits, **PARAMETERS)
    alone = pyarrow.table(lookalike.deduplicate(splits["my_test"], **PARAMETERS))
    assert kept["my_test"] == alone["text"].to_pylist()
    for a in kept["train"] + kept["dev"]:
        for b in kept["my_test"]:
            assert lookalike.resemblance(a, b, shingle_size=3) < 0.5
    assert len(kept["train"]) < len(set(splits["train"]))


def test_order_and_policies_of_splits():
    splits = {
        "train": {"text": ["a b c", "x y z", "X y z"], "n": [1, 2, 3]},
        "latest": {"text": ["A, b c"], "n": [0]},
        "test": {"text": ["a B c!", "a b C"], "n": [5, 6]},
    }

    def kept(**parameters):
        found = lookalike.deduplicate_splits(splits, **parameters)
        return {name: table["n"] for name, table in found.items()}

    assert kept() == {"train": [2], "latest": [], "test": [5]}
    # The policies choose within a split.
    assert kept(keep="max:n") == {"train": [3], "latest": [], "test": [6]}
    assert kept(order=["train"], keep="last") == {"train": [1, 3], "latest": [], "test": []}
    assert kept(order=["latest", "test"]) == {"train": [2], "latest": [0], "test": []}
    for order in (["tset"], ["test", "test"]):
        with pytest.raises(ValueError, match="not one of the splits train, latest, test, once"):
            kept(order=order)


def test_what_is_wrong_with_a_mapping():
    for value in ("a text", 7, None):
        with pytest.raises(TypeError, match="the column b is a .*, not a list"):
            lookalike.find_pairs({"text": ["a"], "b": value})
    with pytest.raises(TypeError, match="to compare the values of a dict"):
        lookalike.deduplicate({"a.txt": "a text", "b.txt": "a text"})
    with pytest.raises(KeyError, match="there is no column text, only train, test"):
        lookalike.deduplicate({"train": ["a"], "test": ["a"]})
    with pytest.raises(ValueError):
        lookalike.deduplicate({"text": ["a", "b"], "n": [1]})
    with pytest.raises(TypeError, match="OldFrame has columns"):
        lookalike.find_pairs(OldFrame())
    with pytest.raises(TypeError, match="use lookalike.deduplicate for one table"):
        lookalike.deduplicate_splits(["a", "b"])
    with pytest.raises(KeyError, match="split test: there is no column text, only body"):
        lookalike.deduplicate_splits({"train": {"text": ["a"]}, "test": {"body": ["a"]}})
    with pytest.raises(TypeError, match="split test: the text in row 1 is int"):
        lookalike.deduplicate_splits({"train": ["a"], "test": ["b", 2]})
    with pytest.raises(TypeError, match="not a single text"):
        lookalike.deduplicate_splits({"train": "a", "test": "b"})
    assert lookalike.deduplicate_splits({}).kept == {}
