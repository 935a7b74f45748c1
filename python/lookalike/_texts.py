"""Texts in memory: what can be done with them."""

# Without a library, its types are Any, and overloads for others are never reached.
# mypy: disable-error-code="overload-cannot-match"

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, overload

from ._native import Spool
from ._progress import Progress
from ._result import Result, Search
from ._sources import Source, given_back, source_of, text_columns
from ._spool import (
    Compared,
    Texts,
    command_on,
    excluded,
    fields_of,
    filled,
    flags_of,
    hinting,
    identify,
    ids_of,
    optional_path,
    policies_of,
    reading,
)
from ._table import Table, check_kind

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

# What comes in, by the kind that comes back.
Lists = Union["list[Any]", "tuple[Any, ...]"]
OfPandas = Union["pandas.DataFrame", "pandas.Series"]
OfPolars = Union["polars.DataFrame", "polars.LazyFrame", "polars.Series"]
OfArrow = Union["pyarrow.Table", "pyarrow.RecordBatch", "pyarrow.Array", "pyarrow.ChunkedArray"]
# Kinds of which rows are selected, so that they come back.
Given = TypeVar(
    "Given", bound=Union[Lists, "dict[Any, Any]", OfPandas, "polars.DataFrame", "polars.Series", OfArrow, "datasets.Dataset"]
)
Columns = Union[str, Iterable[str]]


class Sampled(Compared, total=False):
    sampling: str


class Judged(Compared, total=False):
    ids: Any
    against: Any
    rule: str


@overload
def find_pairs(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["pandas"], **given: Unpack[Sampled]
) -> pandas.DataFrame: ...
@overload
def find_pairs(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["polars"], **given: Unpack[Sampled]
) -> polars.DataFrame: ...
@overload
def find_pairs(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["arrow"], **given: Unpack[Sampled]
) -> pyarrow.Table: ...
@overload
def find_pairs(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["dataset"], **given: Unpack[Sampled]
) -> datasets.Dataset: ...
@overload
def find_pairs(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["table"], **given: Unpack[Sampled]
) -> Table: ...
@overload
def find_pairs(
    texts: Lists, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Sampled]
) -> Table: ...
@overload
def find_pairs(
    texts: OfPandas, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Sampled]
) -> pandas.DataFrame: ...
@overload
def find_pairs(
    texts: OfPolars, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Sampled]
) -> polars.DataFrame: ...
@overload
def find_pairs(
    texts: OfArrow, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Sampled]
) -> pyarrow.Table: ...
@overload
def find_pairs(
    texts: datasets.Dataset, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Sampled]
) -> datasets.Dataset: ...
@overload
def find_pairs(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Sampled]
) -> Any: ...
@hinting
def find_pairs(
    texts: Texts,
    text: str | Iterable[str] = "text",
    *,
    ids: Any = None,
    exclude: Any = None,
    where: str | None = None,
    threshold: float | str = 0.85,
    score: str = "resemblance",
    as_: str | None = None,
    markup: str = "never",
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
    sampling: str = "full",
    memory: int | str | None = None,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Any:
    """Find all pairs of texts whose resemblance is at least the threshold.

    The result is exact, like the result of the command ``lookalike run``. The texts are written to a
    temporary directory, so that they and the work may be larger than memory.

    Parameters
    ----------
    texts
        A list of str, a data frame or a series of pandas or Polars, a table or an array of pyarrow, a
        dataset of Hugging Face or of pyarrow, a relation of DuckDB, any other table with the Arrow
        PyCapsule interface, a dict of columns, a list of dicts, or any iterable of str. A text that
        is None or null has no words and resembles nothing.
    text
        The column with the texts. Several columns, as in ``["prompt", "completion"]``, are compared
        as one text. A path leads to a text inside of a column: ``"messages[].content"`` for the
        contents of all messages, ``"messages[role=user].content"`` for the messages of a role,
        ``"messages[0].content"`` for the first, ``"page.body"`` for a field. Lists of str have no
        columns.
    ids
        What the result calls the texts: the name of a column, an Arrow array, or an iterable of
        str, numbers or UUIDs. Without it, texts are called by their row, from 0. The ids are kept
        in memory.
    exclude
        A text, or texts, whose shingles count for nobody: a template, a licence, the text of an
        assignment. Resemblance is computed over what remains of each text. Texts of the same words of
        which nothing remains are a pair without a resemblance: it is null.
    where
        Only pairs for which this condition holds count, such as ``"a.source != b.source"``: an
        expression in CEL about the columns of two texts, of which `a` comes first, as for the flag
        ``--where`` of the command.
    threshold
        The lowest resemblance of a pair: a decimal of at most nine digits, or a fraction such as
        ``"2/3"``, above 0 and at most 1.
    score
        How two texts are compared: ``"resemblance"`` (shared shingles divided by all distinct
        shingles of the two), ``"containment"`` or ``"overlap"`` (divided by the shingles of the
        shorter one), ``"dice"`` (divided by the mean of both), or ``"s3"``, ``"s4"`` and others of
        the guide to methods.
    as_
        The kind of the result: ``"pandas"``, ``"polars"``, ``"arrow"``, ``"dataset"``, or ``"table"``
        for a `Table`, which may be larger than memory. By default, the kind that came in.
    markup
        Which texts are markup, of which only the visible text counts: ``"never"``, ``"auto"`` for
        texts that begin like an HTML page, or ``"always"``.
    shingle_size
        The number of consecutive tokens in a shingle, 1 to 1,000. A text with fewer tokens matches
        only a text of the same tokens.
    tokens
        What a token is: ``"words"``, ``"whitespace"`` (what is between white space),
        ``"code"`` (programs; ``"code:python"`` in a language) or ``"bytes:8"`` (every 8 bytes).
    fold
        ``"compat"`` treats compatibility forms of Unicode as equal, ``"diacritics"`` letters with
        and without accents, ``"digits"`` the digits of all scripts, ``"arabic"`` the forms of
        Arabic letters; ``"hyphens"`` joins words that are divided at line ends. Several are a list
        with commas; ``"none"`` is none of them.
    short
        What a text of fewer tokens than a shingle has: one shingle (``"whole"``) or none
        (``"skip"``).
    fingerprint
        The bits of xxh3 that stand for a shingle, at most 64, or ``"md5"`` for 128 bits.
    seed
        Another number gives other fingerprints.
    sampling
        Which shingles are compared: ``"full"`` for all of them, a ratio such as ``"1/8"``, or the
        file of a sampling plan.
    memory
        Memory for the work, in bytes or as ``"2GiB"``. By default a quarter of the free memory,
        between 256 MiB and 4 GiB.
    threads
        The number of threads; all cores by default.
    scratch
        The directory for the temporary directory; the system's by default.
    progress
        True for bars of tqdm, or a callable, as for `run`.

    Returns
    -------
    table
        Columns `id_a`, `id_b`, `resemblance` (or `score`; six decimals), `shared`, `shingles_a` and
        `shingles_b` (numbers of fingerprints). A text of the same tokens as an earlier one is paired
        with the first such text only, and these pairs come last. Data frames, tables of pyarrow and
        datasets give the same kind, a LazyFrame gives a DataFrame, and everything else a `Table`.

    Raises
    ------
    TypeError, KeyError
        The texts are not strings, or the table lacks the column.
    ValueError
        A parameter is not allowed.
    Error
        The work failed; `path`, `offset` and `help` say where and what to do.

    References
    ----------
    Broder, Glassman, Manasse & Zweig 1997, *Syntactic clustering of the Web*.

    Examples
    --------
    >>> import lookalike
    >>> texts = ["one two three four", "something else entirely", "one two three four five"]
    >>> pairs = lookalike.find_pairs(texts, threshold=0.6, shingle_size=2)
    >>> [(pair["id_a"], pair["id_b"], pair["resemblance"]) for pair in pairs]
    [(0, 2, 0.75)]
    """
    source, spool = _identified(texts, text, ids, as_, scratch, where)
    out = os.path.join(spool.directory, "run")
    # A spool removes its files with itself.
    left_out = excluded(spool, exclude, text)
    as_read = reading(spool, "run", left_out)
    flags = ["-o", out, *as_read, *flags_of(locals())]
    command_on(spool, "run", flags, progress)
    return given_back(Table(spool.pairs(out)), source, as_)


@overload
def clusters(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["pandas"], **given: Unpack[Compared]
) -> pandas.DataFrame: ...
@overload
def clusters(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["polars"], **given: Unpack[Compared]
) -> polars.DataFrame: ...
@overload
def clusters(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["arrow"], **given: Unpack[Compared]
) -> pyarrow.Table: ...
@overload
def clusters(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["dataset"], **given: Unpack[Compared]
) -> datasets.Dataset: ...
@overload
def clusters(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: Literal["table"], **given: Unpack[Compared]
) -> Table: ...
@overload
def clusters(
    texts: Lists, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Compared]
) -> Table: ...
@overload
def clusters(
    texts: OfPandas, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Compared]
) -> pandas.DataFrame: ...
@overload
def clusters(
    texts: OfPolars, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Compared]
) -> polars.DataFrame: ...
@overload
def clusters(
    texts: OfArrow, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Compared]
) -> pyarrow.Table: ...
@overload
def clusters(
    texts: datasets.Dataset, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Compared]
) -> datasets.Dataset: ...
@overload
def clusters(
    texts: Texts, text: Columns = ..., *, ids: Any = ..., as_: None = ..., **given: Unpack[Compared]
) -> Any: ...
@hinting
def clusters(
    texts: Texts,
    text: str | Iterable[str] = "text",
    *,
    ids: Any = None,
    exclude: Any = None,
    where: str | None = None,
    threshold: float | str = 0.85,
    score: str = "resemblance",
    as_: str | None = None,
    markup: str = "never",
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Any:
    """Find the clusters of texts: the groups that pairs connect, directly or through other texts.

    Parameters
    ----------
    texts, text, ids, exclude, where, threshold, score, as_, markup
        As for `find_pairs`.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.
    memory, threads, scratch, progress
        As for `find_pairs`.

    Returns
    -------
    table
        A row for each text that is in a cluster, in the order of the texts, with the columns `id`,
        `cluster` (its number), `size` (texts of the cluster) and `representative` (the id of its
        first text). It is of the same kind as the result of `find_pairs`.

    Examples
    --------
    >>> import lookalike
    >>> for row in lookalike.clusters(["a b c", "d e f", "A B C!"]):
    ...     print(row)
    {'id': 0, 'cluster': 0, 'size': 2, 'representative': 0}
    {'id': 2, 'cluster': 0, 'size': 2, 'representative': 0}
    """
    source, spool = _identified(texts, text, ids, as_, scratch, where)
    out = os.path.join(spool.directory, "run")
    # A spool removes its files with itself.
    left_out = excluded(spool, exclude, text)
    as_read = reading(spool, "run", left_out)
    flags = ["-o", out, *as_read, *flags_of(locals()), "--pairs=none"]
    command_on(spool, "run", flags, progress)
    return given_back(Table(spool.clusters(out, "id")), source, as_)


@overload
def deduplicate(
    texts: Texts, text: Columns = ..., keep: Columns = ..., *, as_: Literal["pandas"], **given: Unpack[Judged]
) -> Result[pandas.DataFrame]: ...
@overload
def deduplicate(
    texts: Texts, text: Columns = ..., keep: Columns = ..., *, as_: Literal["polars"], **given: Unpack[Judged]
) -> Result[polars.DataFrame]: ...
@overload
def deduplicate(
    texts: Texts, text: Columns = ..., keep: Columns = ..., *, as_: Literal["arrow"], **given: Unpack[Judged]
) -> Result[pyarrow.Table]: ...
@overload
def deduplicate(
    texts: Texts, text: Columns = ..., keep: Columns = ..., *, as_: Literal["dataset"], **given: Unpack[Judged]
) -> Result[datasets.Dataset]: ...
@overload
def deduplicate(
    texts: Texts, text: Columns = ..., keep: Columns = ..., *, as_: Literal["table"], **given: Unpack[Judged]
) -> Result[Table]: ...
@overload
def deduplicate(
    texts: polars.LazyFrame, text: Columns = ..., keep: Columns = ..., *, as_: None = ..., **given: Unpack[Judged]
) -> Result[polars.DataFrame]: ...
@overload
def deduplicate(
    texts: Given, text: Columns = ..., keep: Columns = ..., *, as_: None = ..., **given: Unpack[Judged]
) -> Result[Given]: ...
@overload
def deduplicate(
    texts: Iterator[Any], text: Columns = ..., keep: Columns = ..., *, as_: None = ..., **given: Unpack[Judged]
) -> Result[Table]: ...
@overload
def deduplicate(
    texts: Texts, text: Columns = ..., keep: Columns = ..., *, as_: None = ..., **given: Unpack[Judged]
) -> Result[Any]: ...
@hinting
def deduplicate(
    texts: Texts,
    text: str | Iterable[str] = "text",
    keep: str | Iterable[str] = "first",
    *,
    ids: Any = None,
    against: Any = None,
    exclude: Any = None,
    where: str | None = None,
    threshold: float | str = 0.85,
    rule: str = "star",
    score: str = "resemblance",
    as_: str | None = None,
    markup: str = "never",
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Result[Any]:
    """Keep the rows of a table in memory that are not near-duplicates of other rows.

    For files, `dedup` does the same and writes new files. With the rule ``"star"``, no two rows that
    are kept reach the threshold, and every row that is removed reaches it with a row that is kept.

    Parameters
    ----------
    texts
        A table or a list of texts, as for `find_pairs`. Rows without a text are kept. For a dict of
        tables, use `deduplicate_splits`.
    text
        The column with the texts, as for `find_pairs`.
    keep
        Which row of a group is kept: ``"first"``, ``"last"``, ``"longest"``, ``"shortest"``,
        ``"newest:COLUMN"``, ``"oldest:COLUMN"``, ``"max:COLUMN"``, ``"min:COLUMN"`` or
        ``"prefer:COLUMN=a,b,c"``. Of several policies, the next one breaks the ties of the one before
        it, and the order of the rows breaks the rest.
    ids
        What `removed` and `clusters` call the rows, as for `find_pairs`: a column, the labels of an
        index (``ids=frame.index``) or other values. Without it, rows are called by their number.
    against
        Another table of texts, the directory of a `run`, or an `Index`: rows that resemble one of
        its texts are removed. A directory was made with the same parameters. `survivor_against` is
        what an index or, if `ids` is a column that it has too, the other table calls a text.
    rule
        Which rows of a group are kept: ``"star"``, ``"one-per-cluster"`` (even if only a chain of
        similar rows connects the cluster), ``"drop-clusters"`` (no row that is in a cluster) or
        ``"keep-all"``.
    score
        ``"resemblance"`` or ``"containment"``.
    exclude, where, threshold, markup, as_
        As for `find_pairs`.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.
    memory, threads, scratch, progress
        As for `find_pairs`. Rows of a stream that take more than a quarter of the memory are kept in
        a temporary file.

    Returns
    -------
    Result
        `kept` has the rows that are kept, in their order, with all columns, as the kind that came in:
        a data frame of pandas with its index, a data frame of Polars, a table of pyarrow, a dataset,
        a list or a dict of columns. A LazyFrame gives a DataFrame. What can be read only once (an
        iterator, a streaming dataset, a dataset of pyarrow, a relation of DuckDB) gives a `Table`.
        `mask` says of each row whether it is kept, so ``frame[~result.mask]`` has the removed rows.
        `removed`, `clusters` and `summary` say what was removed and why, and `report` writes a page
        about it. The result itself is a `Table` of the kept rows.

    Raises
    ------
    TypeError, KeyError
        The texts are not strings, or the table lacks the column.
    ValueError
        A parameter is not allowed.
    Error
        The work failed; `path`, `offset` and `help` say where and what to do.

    Examples
    --------
    >>> import lookalike, polars
    >>> table = polars.DataFrame({"n": [1, 2, 3], "text": ["a b c", "d e f", "A B C!"]})
    >>> result = lookalike.deduplicate(table)
    >>> result.kept["n"].to_list()
    [1, 2]
    >>> result.removed.rows(named=True)
    [{'row': 2, 'reason': 'same words', 'survivor': 0, 'resemblance': 1.0, 'shared': 1}]
    """
    policies, source = policies_of(keep), source_of(texts)
    named = ids if isinstance(ids, str) else None
    column, ids = ids_of(source, ids)
    given = {**locals(), "named": named}
    search = Search(source.kind, as_, text, policies, against, given, not source.selects, column)
    search.fill(source)
    if ids is not None:
        identify(search.spool, ids)
    mask = search.run(rule, progress)
    return Result(search, source, mask)


def _identified(
    texts: Texts,
    text: str | Iterable[str],
    ids: Any,
    as_: str | None,
    scratch: str | os.PathLike[str] | None,
    where: str | None,
) -> tuple[Source, Spool]:
    """A spool with the texts and what the result calls them."""
    check_kind(as_)
    source = source_of(texts)
    column, ids = ids_of(source, ids)
    fields = fields_of(where)
    spool = Spool(optional_path(scratch), text_columns(text), column, fields)
    filled(spool, source, text, column, *fields)
    if ids is not None:
        identify(spool, ids)
    return source, spool
