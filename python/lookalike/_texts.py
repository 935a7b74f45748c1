"""Texts in memory: what can be done with them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from typing import Any

from . import _native
from ._native import Spool
from ._progress import Progress
from ._result import Result, Search
from ._sources import STREAM, Pandas, Source, given_back, is_missing, source_of, text_columns, without_objects
from ._spool import (
    Texts,
    command_on,
    excluded,
    filled,
    flags_of,
    hinting,
    of,
    optional_path,
    policies_of,
    reading,
)
from ._table import Table, check_kind


@hinting
def find_pairs(
    texts: Texts,
    text: str | Iterable[str] = "text",
    *,
    ids: Any = None,
    exclude: Any = None,
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
    source, spool = _identified(texts, text, ids, as_, scratch)
    out = os.path.join(spool.directory, "run")
    # A spool removes its files with itself.
    left_out = excluded(spool, exclude, text)
    as_read = reading(spool, "run", left_out)
    flags = ["-o", out, *as_read, *flags_of(locals())]
    command_on(spool, "run", flags, progress)
    return given_back(Table(spool.pairs(out)), source, as_)


@hinting
def clusters(
    texts: Texts,
    text: str | Iterable[str] = "text",
    *,
    ids: Any = None,
    exclude: Any = None,
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
    texts, text, ids, exclude, threshold, score, as_, markup
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
    source, spool = _identified(texts, text, ids, as_, scratch)
    out = os.path.join(spool.directory, "run")
    # A spool removes its files with itself.
    left_out = excluded(spool, exclude, text)
    as_read = reading(spool, "run", left_out)
    flags = ["-o", out, *as_read, *flags_of(locals()), "--pairs=none"]
    command_on(spool, "run", flags, progress)
    return given_back(Table(spool.clusters(out, "id")), source, as_)


@hinting
def deduplicate(
    texts: Texts,
    text: str | Iterable[str] = "text",
    keep: str | Iterable[str] = "first",
    *,
    against: Any = None,
    exclude: Any = None,
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
) -> Result:
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
    against
        Another table of texts, the directory of a `run`, or an `Index`: rows that resemble one of
        its texts are removed. A directory was made with the same parameters.
    rule
        Which rows of a group are kept: ``"star"``, ``"one-per-cluster"`` (even if only a chain of
        similar rows connects the cluster), ``"drop-clusters"`` (no row that is in a cluster) or
        ``"keep-all"``.
    score
        ``"resemblance"`` or ``"containment"``.
    exclude, threshold, markup, as_
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
    source = source_of(texts)
    search = Search(source.kind, as_, text, policies_of(keep), against, locals(), not source.selects)
    search.fill(source)
    mask = search.run(rule, progress)
    return Result(search, source, mask)


def _identified(
    texts: Texts,
    text: str | Iterable[str],
    ids: Any,
    as_: str | None,
    scratch: str | os.PathLike[str] | None,
) -> tuple[Source, Spool]:
    """A spool with the texts and what the result calls them."""
    check_kind(as_)
    source = source_of(texts)
    column = ids if isinstance(ids, str) else None
    if column and isinstance(source, Pandas) and source.given.ndim == 2:
        if column in source.given and source.given[column].dtype == object:
            ids, column = source.given[column], None
    spool = filled(Spool(optional_path(scratch), text_columns(text), column), source, text, column)
    if ids is not None and column is None:
        with of("ids"):
            without_objects(ids)
        if hasattr(ids, "__arrow_c_array__") and not hasattr(ids, STREAM):
            import pyarrow

            ids = pyarrow.chunked_array([ids])
        if getattr(ids, "dtype", None) == object or not hasattr(ids, STREAM):
            values = ids.to_pylist() if hasattr(ids, "to_pylist") else ids
            ids = [_as_id(value) for value in values]
        spool.identify(ids)
    return source, spool


def _as_id(value: Any) -> Any:
    """An id as text or a number; None for what is missing."""
    if is_missing(value):
        return None
    if hasattr(value, "dtype") and hasattr(value, "item"):
        # A number of numpy. Of a time, it would be a number as well.
        return value if getattr(value.dtype, "kind", "") in ("m", "M") else value.item()
    return str(value) if isinstance(value, uuid.UUID) else value


def tokens(text: str, *, tokens: str = "words", fold: str = "none") -> list[str]:
    """Cut a text into tokens.

    Parameters
    ----------
    text
        Plain text.
    tokens
        What a token is: ``"words"``, ``"whitespace"`` (what is between white space), or ``"code"``
        (programs; ``"code:python"`` in a language).
    fold
        ``"compat"`` treats compatibility forms of Unicode as equal, ``"diacritics"`` letters with
        and without accents, ``"digits"`` the digits of all scripts, ``"arabic"`` the forms of
        Arabic letters; ``"hyphens"`` joins words that are divided at line ends. Several are a list
        with commas; ``"none"`` is none of them.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.tokens("Don't panic: 42!")
    ["don't", 'panic', '42']
    >>> lookalike.tokens("ﬁne soft\\u00adware", fold="compat")
    ['fine', 'software']
    """
    return _native.tokens(text, tokens, fold)


def shingles(
    text: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
) -> list[str]:
    """Cut a text into shingles: all runs of consecutive tokens, in order, with repetitions.

    Parameters
    ----------
    text
        Plain text.
    shingle_size, tokens, fold, short
        As for `find_pairs`.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.shingles("a rose is a rose", shingle_size=3)
    ['a rose is', 'rose is a', 'is a rose']
    """
    return _native.shingles(text, shingle_size, tokens, fold, short)


def fingerprints(
    text: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
) -> list[int]:
    """Compute the distinct fingerprints of a text's shingles, in order of value.

    Parameters
    ----------
    text
        Plain text.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.

    Returns
    -------
    list of int
        Numbers of 64 bits (xxh3), or of 128 bits with ``fingerprint="md5"``.

    Examples
    --------
    >>> import lookalike
    >>> len(lookalike.fingerprints("a rose is a rose is a rose", shingle_size=3))
    3
    """
    return _native.fingerprints(text, shingle_size, tokens, fold, short, str(fingerprint), seed)


def resemblance(
    a: str,
    b: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
) -> float:
    """Compute the resemblance of two texts: shared fingerprints divided by all of the two.

    Parameters
    ----------
    a, b
        Plain texts.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.

    References
    ----------
    Broder, Glassman, Manasse & Zweig 1997, *Syntactic clustering of the Web*, section 2.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.resemblance("a b c d", "a b c d e", shingle_size=2)
    0.75
    """
    parameters = (shingle_size, tokens, fold, short, str(fingerprint), seed)
    return _native.score(a, b, "resemblance", *parameters)


def containment(
    a: str,
    b: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
) -> float:
    """Compute the containment of two texts: shared fingerprints divided by the smaller set.

    Parameters
    ----------
    a, b
        Plain texts.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.containment("a b c d", "a b c d e", shingle_size=2)
    1.0
    """
    parameters = (shingle_size, tokens, fold, short, str(fingerprint), seed)
    return _native.score(a, b, "containment", *parameters)
