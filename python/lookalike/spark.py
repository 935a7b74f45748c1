"""Near-duplicates in DataFrames of Apache Spark, exactly, with the same results as ``lookalike run``.

Everything is lazy: a function returns a DataFrame, and the work is done when that is read. The
package has to be installed on all executors, or be sent there (see the guide). Spark only brings
rows together; Rust code in the executors does the rest.
"""

from __future__ import annotations

import copy
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow
import pyarrow.compute
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from . import _native
from ._spool import fields_of, formerly, policies_of

Batches = Iterator[pyarrow.RecordBatch]

ROWS = "place int, blob binary"
# Names of the rows of another DataFrame begin with it, so they come first.
AGAINST = "\u0001"
# What the policies take the values of their columns for.
READ_AS = {
    "newest": "date",
    "oldest": "date",
    "max": "number or date",
    "min": "number or date",
}
# Fractions of a second are kept, and seconds of an offset, as times before about 1900 have them.
DATES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def find_pairs(
    df: DataFrame,
    text: str = "text",
    *,
    ids: str = "id",
    threshold: float | str = 0.85,
    where: str | None = None,
    content_type: str | None = None,
    markup: str | None = None,
    method: str = "exact",
    bands: int = 16,
    rows: int = 8,
    score: str = "resemblance",
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    seed: int = 0,
    sampling: str = "full",
    size_groups: str | None = None,
    partitions: int | None = None,
    memory: int | str = "512MiB",
) -> DataFrame:
    """Find all pairs of texts whose resemblance is at least the threshold.

    Parameters
    ----------
    df
        The texts. Rows whose text is null, or has no words, are in no pair.
    text
        The column with the texts. Like every column here, it may be a field of a struct
        (``"page.body"``) or have dots in its name; a column of that name comes first.
    ids
        The column by which the result calls rows. It may have any type that JSON can express. The
        result cannot tell rows with the same id apart; a null is an error.
    threshold
        The lowest resemblance of a pair: a decimal or a fraction such as ``"2/3"``, above 0 and at
        most 1.
    where
        Which pairs count, such as ``"a.source != b.source"`` or ``"abs(a.date - b.date) <= days(30)"``,
        as ``--where`` of the command. The fields are columns; `a` is the row with the lesser id. The
        values are not looked at beforehand, so nothing warns of those that cannot be read.
    content_type
        The column that says what a text is: ``text/html`` is markup.
    markup
        Which texts are markup, of which only the visible text counts: ``"never"``, ``"declared"`` (by
        the content type), ``"auto"`` (also those that begin like an HTML page) or ``"always"``. By
        default ``"declared"`` if there is a `content_type`, and else ``"never"``.
    method
        ``"exact"``, or ``"minhash"`` to compare only texts with a common band of min-hashes. That
        costs less and finds a pair of resemblance r with probability 1 - (1 - r^rows)^bands. The
        numbers of the pairs that it finds are exact as well.
    bands, rows
        For ``"minhash"``: the number of bands, and of min-hashes in each.
    score
        ``"resemblance"``, ``"containment"`` (also called ``"overlap"``), ``"cosine"`` or ``"dice"``.
    shingle_size, tokens, fold, short, seed, sampling, size_groups
        As the flags of ``lookalike run``. The sampling ``broder97`` is not possible here.
    partitions
        Number of parts into which the texts are cut; by default ``spark.sql.shuffle.partitions``. A
        part should have 50 to 500 MB of text.
    memory
        Memory of a task for its data, in bytes or as ``"2GiB"``; more goes to its disk. The Python
        process of a task needs about 350 MiB beside it.

    Returns
    -------
    DataFrame
        Columns `id_a`, `id_b`, `resemblance` (or `score`; six decimals), `shared`, `shingles_a` and
        `shingles_b` (numbers of fingerprints), in no order; `id_a` is less than `id_b`. A text of
        the same tokens as others is paired with the one of them that has the least id only, and so
        are the pairs with other texts, unless `where` tells these texts apart. Integers and strings are ordered as usual, other ids by their
        JSON.

    Raises
    ------
    ValueError
        A parameter is not allowed.

    References
    ----------
    Vernica, Carey & Li 2010, *Efficient parallel set-similarity joins using MapReduce*.
    """
    found, kind = _found(df, locals())
    score_column = "resemblance" if score == "resemblance" else "score"
    return found.select(
        kind.decoded("a").alias("id_a"),
        kind.decoded("b").alias("id_b"),
        F.col("score").alias(score_column),
        "shared",
        F.col("size_a").alias("shingles_a"),
        F.col("size_b").alias("shingles_b"),
    )


def pairs(
    df: DataFrame,
    id: str = "id",
    text: str = "text",
    threshold: float | str = 0.85,
    **given: Any,
) -> DataFrame:
    """The name of `find_pairs` in the version before."""
    warnings.warn(
        "lookalike.spark.pairs(): write find_pairs(df, text, ids=..., threshold=...); the next version"
        " has no other name",
        DeprecationWarning,
        stacklevel=2,
    )
    return find_pairs(df, text, ids=id, threshold=threshold, **given)


@formerly(2, "ids", "text", "threshold", id="ids")
def query(
    df: DataFrame,
    collection_df: DataFrame,
    *,
    text: str = "text",
    ids: str = "id",
    threshold: float | str = 0.85,
    where: str | None = None,
    content_type: str | None = None,
    markup: str | None = None,
    method: str = "exact",
    bands: int = 16,
    rows: int = 8,
    score: str = "resemblance",
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    seed: int = 0,
    sampling: str = "full",
    size_groups: str | None = None,
    partitions: int | None = None,
    memory: int | str = "512MiB",
) -> DataFrame:
    """Find the texts of a collection that resemble other texts.

    Parameters
    ----------
    df
        The texts to look up.
    collection_df
        The collection, with the same columns; the types of their ids may differ.
    text, ids, threshold, where, content_type, markup, method, bands, rows, score, shingle_size, tokens, fold, short
        As for `find_pairs`. For `where`, `a` is the text that is looked up.
    seed, sampling, size_groups, partitions, memory
        As for `find_pairs`.

    Returns
    -------
    DataFrame
        Columns `id_query`, `id_match`, `resemblance` (or `score`), `shared`, `shingles_query` and
        `shingles_match`, in no order. Of texts of the collection with the same tokens, the one with
        the least id is a match.

    Raises
    ------
    ValueError
        A parameter is not allowed.
    """
    found, kind = _found(df, locals(), collection_df)
    score_column = "resemblance" if score == "resemblance" else "score"
    return found.select(
        kind.decoded("a").alias("id_query"),
        _Ids(collection_df, ids).decoded("b").alias("id_match"),
        F.col("score").alias(score_column),
        "shared",
        F.col("size_a").alias("shingles_query"),
        F.col("size_b").alias("shingles_match"),
    )


def clusters(pairs_df: DataFrame, id_a: str = "id_a", id_b: str = "id_b") -> DataFrame:
    """Group the documents of pairs: two of a pair are in the same cluster.

    Each task reduces its pairs to a forest, then one task joins the forests. That task needs about
    270 bytes of memory for each document that is in a pair, so 20 million documents take 5.4 GB.

    Parameters
    ----------
    pairs_df
        The pairs, as of `find_pairs`.
    id_a, id_b
        The columns with the ids.

    Returns
    -------
    DataFrame
        Columns `cluster` (the least id of its documents) and `id`, for each document of a pair.
    """
    kind, other = _Ids(pairs_df, id_a), _Ids(pairs_df, id_b)
    types = [ids.type.simpleString() for ids in (kind, other)]
    if types[0] != types[1]:
        raise ValueError(
            f"the column {id_a} has the type {types[0]}, and {id_b} {types[1]}: cast one of them"
        )
    numbers = kind.numbers
    schema = f"a {kind.encoded_type} not null, b {kind.encoded_type} not null"
    edges = pairs_df.select(kind.of(pairs_df).alias("a"), other.of(pairs_df).alias("b"))

    def lookalike_forest(batches: Batches) -> Batches:
        yield from _graph(batches, numbers, lambda graph: graph.clusters(True))

    def lookalike_clusters(batches: Batches) -> Batches:
        yield from _graph(batches, numbers, lambda graph: graph.clusters(False))

    forests = edges.mapInArrow(lookalike_forest, schema).repartition(1)
    return forests.mapInArrow(lookalike_clusters, schema).select(
        kind.decoded("b").alias("cluster"), kind.decoded("a").alias("id")
    )


@formerly(1, "ids", "text", "keep", id="ids")
def deduplicate(
    df: DataFrame,
    *,
    text: str = "text",
    keep: str | Iterable[str] = "first",
    ids: str | None = None,
    threshold: float | str = 0.85,
    where: str | None = None,
    rule: str = "star",
    content_type: str | None = None,
    markup: str | None = None,
    method: str = "exact",
    bands: int = 16,
    rows: int = 8,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    seed: int = 0,
    partitions: int | None = None,
    memory: int | str = "512MiB",
    against: DataFrame | None = None,
) -> DataFrame:
    """Keep the rows that are no near-duplicates of other rows.

    The result is that of the command ``lookalike dedup``: with the rule ``"star"``, no two rows that
    are kept reach the threshold, and every row that is removed reaches it with a row that is kept.
    If a policy looks at dates or numbers, the call reads their column once, warns of values that
    cannot be read, and refuses a column of which none can be. One task decides from all pairs. It
    needs about 270 bytes of memory for each document that is in a pair, and 20 for each further pair.

    Parameters
    ----------
    df
        The texts. Rows without a text stay. The DataFrame is read twice, so it must give the same
        rows twice.
    text
        The column with the texts.
    ids
        The column whose order decides between rows that the policies leave equal; by default `id`, if
        there is such a column. Ids may repeat and be null: each row is judged for itself. Without ids,
        the order depends on the content of the rows.
    keep
        Which row of a group is kept: ``"first"`` and ``"last"`` (by id), ``"longest"``,
        ``"shortest"``, ``"newest:COLUMN"``, ``"oldest:COLUMN"``, ``"max:COLUMN"``, ``"min:COLUMN"``
        or ``"prefer:COLUMN=a,b,c"``. Of several policies, the next one breaks the ties of the one
        before it, and the least id breaks the rest.
    threshold, where, content_type, markup, method, bands, rows, shingle_size, tokens, fold, short, seed
        As for `find_pairs`. The rows of `against` come before all others. Without ids, the order of the
        rows means nothing, so `where` should not depend on it.
    rule
        ``"star"``, or ``"one-per-cluster"`` to keep one row of each cluster.
    partitions, memory
        As for `find_pairs`.
    against
        Other rows, with the same columns for ids and texts: rows that resemble one of them are
        removed as well. None of these rows is in the result.

    Returns
    -------
    DataFrame
        The rows that stay, with all columns.

    Raises
    ------
    ValueError
        A parameter is not allowed.
    """
    judged = _judged(df, locals())[0]
    kept = judged.where("lookalike_copy = 1").where(_survives())
    return kept.select(*(F.col(_quoted(name)) for name in df.columns))


@formerly(1, "ids", "text", "keep", id="ids")
def removed(
    df: DataFrame,
    *,
    text: str = "text",
    keep: str | Iterable[str] = "first",
    ids: str | None = None,
    threshold: float | str = 0.85,
    where: str | None = None,
    rule: str = "star",
    content_type: str | None = None,
    markup: str | None = None,
    method: str = "exact",
    bands: int = 16,
    rows: int = 8,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    seed: int = 0,
    partitions: int | None = None,
    memory: int | str = "512MiB",
    against: DataFrame | None = None,
) -> DataFrame:
    """Show the rows that `deduplicate` removes, and why.

    The task that decides also looks up the numbers of each removed row. It needs about twice the
    memory of the one of `deduplicate`, and writes the pairs to its disk.

    Parameters
    ----------
    df, text, keep, ids, threshold, where, rule, content_type, markup, method, bands, rows, shingle_size, tokens
        As for `deduplicate`.
    fold, short, seed, partitions, memory, against
        As for `deduplicate`.

    Returns
    -------
    DataFrame
        The removed rows, with all columns and a struct `lookalike`. Its fields are `reason`
        (``"exact"``, ``"near"`` or ``"chain"``, as in ``removed.tsv`` of the command), `survivor` (the
        id of the kept row, or its text if there are no ids), `against` (whether the survivor is one
        of the other rows), `resemblance` and `shared`. A row that is only in one cluster with its
        survivor has no numbers.

    Raises
    ------
    ValueError
        A parameter is not allowed.
    """
    rows_of, others, named = _judged(df, locals(), evidence=True)
    survivors = rows_of if others is None else rows_of.unionByName(others, True)
    survivors = survivors.groupBy("lookalike_row").agg(F.first(named).alias("lookalike_named"))
    survivors = survivors.withColumnRenamed("lookalike_row", "lookalike_other")
    gone = rows_of.where(~_survives() | (F.col("lookalike_copy") > 1))
    same = F.col("lookalike_survivor") == F.col("lookalike_other")
    evidence = F.struct(
        F.col("lookalike_reason").alias("reason"),
        F.col("lookalike_named").alias("survivor"),
        F.col("lookalike_survivor").startswith(AGAINST).alias("against"),
        F.col("lookalike_score").alias("resemblance"),
        F.col("lookalike_shared").alias("shared"),
    )
    columns = (F.col(_quoted(name)) for name in df.columns)
    return gone.join(survivors, same, "left").select(*columns, evidence.alias("lookalike"))


def _check_values(df: DataFrame, text: str, policies: Sequence[str]) -> None:
    """Warn of values that a policy cannot read; refuse a column of which none can be read."""
    dated = [policy for policy in policies if policy.startswith(tuple(READ_AS))]
    fields = _native.fields_of(dated)
    if not dated:
        return
    columns = [value.alias(f"field_{n}") for n, value in enumerate(_values(df, dated))]
    values = df.where(_column(df, text).isNotNull()).select(*columns)
    counted = values.mapInArrow(_Values(dated), "n int, read long, unread long, least string")
    found = counted.groupBy("n").agg(F.sum("read"), F.sum("unread"), F.min("least")).collect()
    for n, read, unread, least in sorted(map(tuple, found)):
        kind = READ_AS[dated[n].partition(":")[0]]
        if unread and not read:
            raise ValueError(
                f"keep={dated[n]}: no value of {fields[n]} is a {kind} that can be read, such as"
                f" 2024-01-31; it has {least!r}"
            )
        if unread:
            warnings.warn(
                f"keep={dated[n]}: {unread:,} of {read + unread:,} values cannot be read as a {kind},"
                f" such as {least!r}; their rows come last",
                stacklevel=6,
            )


def _survives() -> Column:
    removed, survivor = F.col("lookalike_removed"), F.col("lookalike_survivor")
    return removed.isNull() | (removed == survivor)


def _judged(
    df: DataFrame, given: dict[str, Any], evidence: bool = False
) -> tuple[DataFrame, DataFrame | None, Column]:
    """The rows with their names, and the names of the survivors of those that are removed; the other
    rows with their names; and the column by which people call a row."""
    rule, keep, against = given["rule"], given["keep"], given["against"]
    if rule not in ("star", "one-per-cluster", "cluster"):
        raise ValueError(f"`{rule}` is not a rule; use star or one-per-cluster")
    policies = policies_of(keep)
    given = given | {"score": "resemblance", "sampling": "full", "size_groups": None}
    found, kind = _found(df, given, policies=policies or ["first"], against=against)
    _check_values(df, given["text"], policies)
    assert isinstance(kind, _Rows)
    numbers = ["score", "shared"] if evidence else []
    edges = found.select("a", "b", "rank_a", "rank_b", "exact", "same_words", *numbers)
    if against is not None:
        # The other rows are kept, whatever they resemble, and preferred to all.
        theirs = {name: F.col(name).startswith(AGAINST) for name in ("a", "b")}
        edges = edges.where(~(theirs["a"] & theirs["b"]))
        for name, their in theirs.items():
            rank = F.when(their, F.lit(bytearray())).otherwise(F.col(f"rank_{name}"))
            edges = edges.withColumn(f"rank_{name}", rank)
    schema = "removed string not null, survivor string not null"
    if evidence:
        schema += ", reason string, score double, shared int"
    gone = edges.repartition(1).mapInArrow(_Decide(rule, evidence), schema)
    gone = gone.select(*(F.col(name).alias(f"lookalike_{name}") for name in gone.columns))
    rows_of = df.select("*", kind.of(df).alias("lookalike_row"))
    same = F.col("lookalike_row") == F.col("lookalike_removed")
    # Rows that no policy can tell apart have one name. They survive themselves, but once.
    window = Window.partitionBy("lookalike_row").orderBy("lookalike_row")
    themselves = F.col("lookalike_removed") == F.col("lookalike_survivor")
    once = F.when(themselves, F.row_number().over(window)).otherwise(1)
    judged = rows_of.join(gone, same, "left").withColumn("lookalike_copy", once)
    others = None
    if against is not None:
        others = against.select("*", kind.against().of(against).alias("lookalike_row"))
    named = kind.ids.name if kind.ids else given["text"]
    return judged, others, F.col(_path(df, named))


class _Ids:
    """How the ids of a column travel: as integers, as strings, or as JSON."""

    def __init__(self, df: DataFrame, name: str) -> None:
        self.name = name
        self.type = df.select(_column(df, name)).schema[0].dataType
        integers = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
        self.numbers = isinstance(self.type, integers)
        self.strings = isinstance(self.type, T.StringType)
        self.encoded_type = "long" if self.numbers else "string"

    def of(self, df: DataFrame) -> Column:
        """What a row is called."""
        return self.encoded(_column(df, self.name))

    def encoded(self, column: Column) -> Column:
        if self.numbers:
            return column.cast("long")
        if self.strings:
            return column
        # The JSON of a null would be no null.
        return F.when(column.isNotNull(), F.to_json(F.struct(column.alias("id")), DATES))

    def decoded(self, name: str) -> Column:
        if self.numbers:
            return F.col(name).cast(self.type)
        if self.strings:
            return F.col(name)
        schema = T.StructType([T.StructField("id", self.type)])
        return F.from_json(F.col(name), schema, DATES)["id"]


class _Rows(_Ids):
    """Names of rows, in the order of their ids: rows have the same name only if their ids, texts and
    the fields of policies and of a condition are the same. They depend on content alone, because Spark may read rows
    again in another order."""

    def __init__(
        self,
        df: DataFrame,
        id: str | None,
        text: str,
        policies: Sequence[str],
        where: str | None,
    ) -> None:
        if id is None and "id" in df.columns:
            id = "id"
        self.ids = None if id is None else _Ids(df, id)
        self.text, self.policies, self.where = text, policies, where
        self.numbers, self.encoded_type = False, "string"
        self.before = ""

    def against(self) -> _Rows:
        """Names of other rows, which come before all of these."""
        others = copy.copy(self)
        others.before, others.policies = AGAINST, []
        return others

    def of(self, df: DataFrame) -> Column:
        ids = F.lit("") if self.ids is None else self.ids.of(df)
        text = _column(df, self.text)
        parts = [ids, text, *_values(df, self.policies), *_of_condition(df, self.where)]
        # A hash leaves nulls out.
        parts += [part.isNull() for part in parts]
        hashes = [F.hex(F.xxhash64(F.lit(seed), *parts)) for seed in ("1", "2")]
        if self.ids is not None and self.ids.numbers:
            # In the order of numbers, also as text.
            least = F.lit(str(2**63)).cast("decimal(20,0)")
            ids = F.lpad((ids.cast("decimal(20,0)") + least).cast("string"), 20, "0")
        first = F.coalesce(F.concat(F.lit(self.before + "0"), ids), F.lit(self.before + "1"))
        name = F.concat_ws("\u0000", first, *hashes)
        # Rows without a text are never compared. One name for all would put them into one task.
        alone = F.concat(F.lit("2"), F.monotonically_increasing_id().cast("string"))
        return F.when(text.isNull(), alone).otherwise(name)


def _quoted(name: str) -> str:
    """The name of a column as Spark reads it."""
    return "`" + name.replace("`", "``") + "`"


def _path(df: DataFrame, name: str) -> str:
    """A column of this name, or the field of a struct (``a.b``), as Spark reads it."""
    return _quoted(name) if name in df.columns else name


def _column(df: DataFrame, name: str) -> Column:
    return df[_path(df, name)]


def _value(df: DataFrame, name: str, timed: bool = True) -> Column:
    """The values of a column as text. A time has its offset: when clocks are set back, an hour comes
    twice."""
    column = _column(df, name)
    kind = df.select(column).schema[0].dataType
    timed = timed and isinstance(kind, T.TimestampType)
    text = column.cast("string")
    return F.concat(text, F.date_format(column, "XXX")) if timed else text


def _values(df: DataFrame, policies: Sequence[str]) -> list[Column]:
    """The values of policies as text."""
    with_field = [policy for policy in policies if ":" in policy]
    named = zip(_native.fields_of(policies), with_field)
    return [_value(df, name, policy.startswith(tuple(READ_AS))) for name, policy in named]


def _of_condition(df: DataFrame, where: str | None) -> list[Column]:
    """The values of the columns that a condition names, as text."""
    names = fields_of(where)
    for name in names:
        kind = df.select(_column(df, name)).schema[0].dataType
        if isinstance(kind, (T.ArrayType, T.MapType, T.StructType, T.BinaryType)):
            raise TypeError(
                f"the column {name} has the type {kind.simpleString()}; a condition needs strings, numbers,"
                " dates or times: name a field of a struct, or make a column with one value of each list"
            )
    # Spark would look for the part after a dot in a struct.
    return [_value(df, name).alias(f"where_{name.encode().hex()}") for name in names]


def _found(
    df: DataFrame,
    given: dict[str, Any],
    collection: DataFrame | None = None,
    policies: Sequence[str] = (),
    against: DataFrame | None = None,
) -> tuple[DataFrame, _Ids]:
    """The pairs with all that is known of them, and how the ids of `df` travel."""
    if given["method"] not in ("exact", "minhash"):
        raise ValueError(f"`{given['method']}` is not a method; use exact or minhash")
    spark = df.sparkSession
    partitions = given["partitions"]
    names = "score shingle_size tokens fold short seed sampling size_groups where".split()
    job = {name: given[name] for name in names} | {
        "threshold": str(given["threshold"]),
        "partitions": partitions or _partitions(spark.conf.get("spark.sql.shuffle.partitions")),
        "memory": str(given["memory"]),
        "bands": (given["bands"], given["rows"]) if given["method"] == "minhash" else None,
        "look_up": collection is not None,
        "markup": given["markup"] or ("declared" if given["content_type"] else "never"),
    }
    _native.check_job(_configured(job), policies)

    def together(rows: DataFrame) -> DataFrame:
        return rows.repartition(partitions, "place") if partitions else rows.repartition("place")

    def stage(rows: DataFrame, name: str) -> DataFrame:
        return rows.mapInArrow(_Stage(name, job), ROWS)

    frames = [side for side in (df, collection, against) if side is not None]
    kinds: list[_Ids]
    if policies:
        own = _Rows(df, given["ids"], given["text"], policies, given["where"])
        kinds = [own] if against is None else [own, own.against()]
    else:
        kinds = [_Ids(side, given["ids"]) for side in frames]
    sides = [3, 3] if collection is None else [1, 2]
    texts = None
    for side, kind, number in zip(frames, kinds, sides):
        rows = _texts(side, given, kind, number, policies, kinds)
        texts = rows if texts is None else texts.unionByName(rows)
    assert texts is not None
    documents = together(texts.mapInArrow(_Intake(job, policies), ROWS))
    if job["bands"]:
        keys = stage(documents, "bands")
    else:
        frequencies = stage(documents, "frequencies")
        classes = stage(together(frequencies), "classes")
        keys = stage(_beside(documents, together(classes)), "prefixes")
    candidates = stage(together(stage(together(keys), "candidates")), "blocks")
    verified = stage(_beside(documents, together(candidates)), "verify")
    numbers = [all(kind.numbers for kind in kinds)] * 2
    id_type = "long" if numbers[0] else "string"
    schema = (
        f"a {id_type} not null, b {id_type} not null, score double not null, shared int not null,"
        " size_a int not null, size_b int not null, rank_a binary not null,"
        " rank_b binary not null, exact boolean not null, same_words boolean not null"
    )
    found = together(verified).mapInArrow(_Results(job, numbers), schema)
    return found, kinds[0]


def _partitions(setting: str | None) -> int:
    """The number of partitions of a shuffle, which some platforms leave to themselves."""
    return int(setting) if setting and setting.isdecimal() else 200


def _texts(
    df: DataFrame,
    given: dict[str, Any],
    kind: _Ids,
    side: int,
    policies: Sequence[str],
    kinds: list[_Ids],
) -> DataFrame:
    """The columns that the first stage needs."""
    text = _column(df, given["text"])
    if not isinstance(df.select(text).schema[0].dataType, T.StringType):
        raise ValueError(f"the column {given['text']} has no strings")
    ids = kind.of(df)
    if not all(kind.numbers for kind in kinds):
        ids = ids.cast("string")
    content_type = given["content_type"]
    declared = _column(df, content_type) if content_type else F.lit(None)
    # Other rows are preferred to all, whatever their fields are.
    own = _values(df, kind.policies) if isinstance(kind, _Rows) else []
    values = own or [F.lit(None).cast("string") for _ in _native.fields_of(policies)]
    fields = [value.alias(f"field_{n}") for n, value in enumerate(values)]
    return df.select(
        ids.alias("id"),
        text.alias("text"),
        declared.cast("string").alias("type"),
        F.lit(side).alias("side"),
        *fields,
        *_of_condition(df, given["where"]),
    )


def _beside(documents: DataFrame, others: DataFrame) -> DataFrame:
    """The rows of both; rows of the same place are in the same task.

    A union would shuffle the documents once more. In a full join nothing of which matches, they
    stay where they are, and each row comes once.
    """
    left = documents.select(F.col("place").alias("left_place"), F.col("blob").alias("left_blob"))
    right = others.select(F.col("place").alias("right_place"), F.col("blob").alias("right_blob"))
    same = left["left_place"] == right["right_place"]
    never = F.length(left["left_blob"]) < 0
    return left.join(right, same & never, "full").select(
        F.coalesce("left_place", "right_place").alias("place"),
        F.coalesce("left_blob", "right_blob").alias("blob"),
    )


def _scratch() -> str:
    """A directory on the disk of this executor."""
    for name in ("LOCAL_DIRS", "SPARK_LOCAL_DIRS"):
        for directory in os.environ.get(name, "").split(","):
            if os.path.isdir(directory):
                return directory
    return tempfile.gettempdir()


def _configured(job: dict[str, Any]) -> str:
    return json.dumps(job | {"scratch": _scratch()})


def _batches(table: _native.Table | None) -> Batches:
    if table is not None:
        yield from pyarrow.RecordBatchReader.from_stream(table)


def _worked(task: Any, batches: Batches) -> Batches:
    for batch in batches:
        yield from _batches(task.add(pyarrow.Table.from_batches([batch])))
    more = True
    while more:
        more, table = task.step()
        yield from _batches(table)


def _graph(
    batches: Batches,
    numbers: bool,
    answer: Callable[[_native.GraphTask], _native.Table | None],
) -> Batches:
    task = _native.GraphTask(numbers)
    for batch in batches:
        task.add(pyarrow.Table.from_batches([batch]))
    yield from _batches(answer(task))


class _Intake:
    __name__ = "lookalike_read"

    def __init__(self, job: dict[str, Any], policies: Sequence[str]) -> None:
        self.job, self.policies = job, policies

    def __call__(self, batches: Batches) -> Batches:
        task = _native.IntakeTask(_configured(self.job), self.policies)
        for batch in batches:
            yield from _batches(task.add(pyarrow.Table.from_batches([batch])))
        yield from _batches(task.finish())


class _Values:
    """Counts the values that policies can read."""

    __name__ = "lookalike_values"

    def __init__(self, policies: Sequence[str]) -> None:
        self.policies = policies

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            found = _native.values_of(self.policies, pyarrow.Table.from_batches([batch]))
            columns = [list(range(len(found))), *map(list, zip(*found))]
            kinds = (pyarrow.int32(), pyarrow.int64(), pyarrow.int64(), pyarrow.string())
            arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, kinds)]
            yield pyarrow.RecordBatch.from_arrays(arrays, ["n", "read", "unread", "least"])


class _Stage:
    def __init__(self, name: str, job: dict[str, Any]) -> None:
        self.name, self.job = name, job
        # Spark shows it in plans.
        self.__name__ = f"lookalike_{name}"

    def __call__(self, batches: Batches) -> Batches:
        yield from _worked(_native.StageTask(self.name, _configured(self.job)), batches)


class _Results:
    __name__ = "lookalike_pairs"

    def __init__(self, job: dict[str, Any], numbers: list[bool]) -> None:
        self.job, self.numbers = job, numbers

    def __call__(self, batches: Batches) -> Batches:
        yield from _worked(_native.ResultsTask(_configured(self.job), self.numbers), batches)


class _Decide:
    """The rows that are removed, with their survivors: from all pairs, in one task."""

    __name__ = "lookalike_decide"

    def __init__(self, rule: str, evidence: bool) -> None:
        self.rule, self.evidence = rule, evidence

    def __call__(self, batches: Batches) -> Batches:
        if self.evidence:
            yield from self._with_numbers(batches)
            return
        for batch in _graph(batches, False, lambda graph: graph.removed(self.rule)):
            yield pyarrow.RecordBatch.from_arrays(batch.columns, ["removed", "survivor"])

    def _with_numbers(self, batches: Batches) -> Batches:
        """The pairs are read again from a file, when it is known which are needed."""
        with tempfile.TemporaryFile(dir=_scratch()) as file:
            writer: Any = None

            def noted() -> Batches:
                nonlocal writer
                for batch in batches:
                    pairs = batch.select(["a", "b", "score", "shared", "exact", "same_words"])
                    writer = writer or pyarrow.ipc.new_stream(file, pairs.schema)
                    writer.write_batch(pairs)
                    yield batch

            gone = list(_graph(noted(), False, lambda graph: graph.removed(self.rule)))
            if writer is None or not gone:
                return
            writer.close()

            def pairs() -> Iterator[pyarrow.Table]:
                file.seek(0)
                for batch in pyarrow.ipc.open_stream(file):
                    yield pyarrow.Table.from_batches([batch])

            yield from _numbered(pyarrow.Table.from_batches(gone), pairs).to_batches()


def _numbered(gone: Any, pairs: Callable[[], Iterator[Any]]) -> Any:
    """Adds the reason, the resemblance and the shared count to rows that are removed.

    A pair names the first of the texts that are equal.
    """
    compute: Any = pyarrow.compute
    exact = pyarrow.concat_tables(table.filter(table["exact"]) for table in pairs())
    exact = exact.group_by(["a", "b"]).aggregate([("shared", "max")])
    for side in ("a", "b"):
        first = exact.select(["b", "a", "shared_max"])
        first = first.rename_columns(["text", f"first_{side}", f"shared_{side}"])
        gone = gone.join(first, side, "text", "left outer")
        name = f"first_{side}"
        filled = compute.coalesce(gone[name], gone[side])
        gone = gone.set_column(gone.column_names.index(name), name, filled)
    a, b = gone["first_a"], gone["first_b"]
    gone = gone.append_column("least", compute.min_element_wise(a, b))
    gone = gone.append_column("greatest", compute.max_element_wise(a, b))
    keys, names = ["least", "greatest"], ["a", "b"]
    wanted = gone.select(keys)
    near = pyarrow.concat_tables(
        table.filter(compute.invert(table["exact"])).join(wanted, names, keys, "left semi")
        for table in pairs()
    )
    numbers = ["score", "shared", "same_words"]
    near = near.group_by(names).aggregate([(name, "max") for name in numbers])
    gone = gone.join(near.rename_columns([*names, *numbers]), keys, names, "left outer")
    same = compute.equal(gone["first_a"], gone["first_b"])
    far = compute.if_else(compute.is_null(gone["score"]), "chain", "near")
    words = compute.coalesce(gone["same_words"], False)
    score = compute.if_else(same, 1.0, gone["score"])
    of_equal = compute.coalesce(gone["shared_a"], gone["shared_b"])
    shared = compute.if_else(same, of_equal, gone["shared"])
    return pyarrow.table(
        {
            "removed": gone["a"],
            "survivor": gone["b"],
            "reason": compute.if_else(compute.or_(same, words), "exact", far),
            "score": score,
            "shared": shared,
        }
    )
