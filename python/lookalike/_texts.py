"""Texts in memory: where they come from, and what can be done with them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Union

from . import _native
from ._native import Spool, Table
from ._progress import Progress, command

# Anything with __arrow_c_stream__, a dataset of Hugging Face, a LazyFrame of Polars, or texts.
Texts = Union[Iterable[str], Any]

# Rows or texts that are passed on at a time.
ROWS = 1000


def find_pairs(
    texts: Texts,
    ids: Any = None,
    threshold: float | str = 0.85,
    *,
    text: str = "text",
    score: str = "resemblance",
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
) -> Table:
    """Find all pairs of texts whose resemblance is at least the threshold.

    The result is exact, as that of the command ``lookalike run``. The texts are written to a
    temporary directory, so that they and the work may be larger than memory.

    Parameters
    ----------
    texts
        A table or an array with the Arrow PyCapsule interface (pyarrow, Polars, pandas, DuckDB), a
        dataset of Hugging Face, a LazyFrame of Polars, a dict of columns, or an iterable of str. A
        text that is null has no words.
    ids
        What the result calls the texts: the name of a column of the table, or an Arrow array, or an
        iterable of str or of int. Without it, texts are called by their row, from 0. They are kept in
        memory.
    threshold
        The lowest resemblance of a pair: a decimal or a fraction such as ``"2/3"``, above 0 and at
        most 1.
    text
        The column with the texts, if it is a table.
    markup
        Which texts are markup, of which only the visible text counts: ``"never"``, ``"auto"`` for
        texts that begin like an HTML page, or ``"always"``.
    score, shingle_size, tokens, fold, short, fingerprint, seed, sampling
        As the flags of ``lookalike run``.
    memory
        Memory for the work, in bytes or as ``"2GiB"``. By default that of ``lookalike run``.
    threads
        Number of threads; all cores by default.
    scratch
        Directory for the temporary directory.
    progress
        True for bars of tqdm, or a callable, as for `run`.

    Returns
    -------
    Table
        Columns `id_a`, `id_b`, `resemblance` (or `score`; six decimals), `shared`, `shingles_a` and
        `shingles_b` (numbers of fingerprints). A text of the same tokens as an earlier one is paired
        with the first such text only, and these pairs come last.

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
    >>> import lookalike, pyarrow
    >>> texts = ["one two three four", "something else entirely", "one two three four five"]
    >>> pairs = lookalike.find_pairs(texts, threshold=0.6, shingle_size=2)
    >>> pyarrow.table(pairs).to_pylist()[0]["resemblance"]
    0.75
    """
    column = ids if isinstance(ids, str) else None
    spool = spooled(Spool(optional_path(scratch), text, column), texts)
    if ids is not None and column is None:
        spool.identify(ids if hasattr(ids, "__arrow_c_stream__") else list(ids))
    out = os.path.join(spool.directory, "run")
    flags = _flags(locals())
    command(["run", spool.path, "-o", out, *spool.flags("run"), *flags], progress)
    return spool.pairs(out)


def deduplicate(
    table: Texts,
    text: str = "text",
    keep: str | Iterable[str] = "first",
    *,
    threshold: float | str = 0.85,
    rule: str = "star",
    score: str = "resemblance",
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
) -> Table:
    """Keep the rows that are no near-duplicates of other rows.

    The result is that of the command ``lookalike dedup``: with the rule ``"star"``, no two rows that
    are kept reach the threshold, and every row that is removed reaches it with a row that is kept.

    Parameters
    ----------
    table
        A table with the Arrow PyCapsule interface (pyarrow, Polars, pandas, DuckDB), a dataset of
        Hugging Face, a LazyFrame of Polars, a dict of columns, or an iterable of str. Rows without a
        text are kept. For a dict of such tables, use `deduplicate_splits`.
    text
        The column with the texts.
    keep
        Which row of a group stays: ``"first"``, ``"last"``, ``"longest"``, ``"shortest"``,
        ``"newest:COLUMN"``, ``"oldest:COLUMN"``, ``"max:COLUMN"``, ``"min:COLUMN"`` or
        ``"prefer:COLUMN=a,b,c"``. Of several policies, the next one breaks the ties of the one before
        it, and the order of the rows breaks the rest.
    markup
        As for `find_pairs`.
    threshold, rule, score, shingle_size, tokens, fold, short, fingerprint, seed
        As the flags of ``lookalike dedup``.
    memory, threads, scratch, progress
        As for `find_pairs`. Rows that take more than a quarter of the memory are kept in a temporary
        file.

    Returns
    -------
    Table
        The rows that stay, in their order, with all columns.

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
    >>> import lookalike, pyarrow
    >>> table = pyarrow.table({"n": [1, 2, 3], "text": ["a b c", "d e f", "A B C!"]})
    >>> pyarrow.table(lookalike.deduplicate(table))["n"].to_pylist()
    [1, 2]
    """
    policies = [keep] if isinstance(keep, str) else list(keep)
    spool = Spool(optional_path(scratch), text, None, list(columns(policies)), str(memory or "2GiB"))
    spooled(spool, table)
    return spool.kept(removed(spool, policies, rule, locals(), progress))


def removed(
    spool: Spool, policies: list[str], rule: str, given: dict[str, Any], progress: Progress
) -> str:
    """Remove the near-duplicates of a spool; returns the list of what was removed."""
    kept, work = (os.path.join(spool.directory, name) for name in ("kept", "work"))
    places = ["-o", kept, "--work", work, "--ids-only"]
    # Of no rows, none has the column of a policy.
    keep = [f"--keep={policy}" for policy in policies if spool.rows]
    flags = [*keep, f"--rule={rule}", *_flags(given)]
    command(["dedup", spool.path, *places, *spool.flags("dedup"), *flags], progress)
    return os.path.join(kept, "removed.tsv")


def spooled(spool: Spool, texts: Texts) -> Spool:
    """Add texts to a spool, from wherever they come."""
    if isinstance(texts, (str, bytes)):
        # It would be an iterable of str as well.
        raise TypeError("expected a table or an iterable of texts, not a single text")
    for part in _parts(texts):
        if isinstance(part, list):
            spool.add_texts(part)
        else:
            spool.add(part)
    return spool


def _parts(texts: Any) -> Iterator[Any]:
    """The texts, as tables, arrays and lists of str.

    Iterating over a mapping or a table gives its names, which would be taken for the texts.
    """
    if isinstance(texts, Mapping):
        yield _table(texts)
    elif hasattr(texts, "__arrow_c_stream__"):
        yield _without_objects(texts)
    elif hasattr(texts, "__arrow_c_array__"):
        raise TypeError("an Arrow array has to be a chunked array: pyarrow.chunked_array([array])")
    elif hasattr(texts, "with_format") and hasattr(texts, "iter"):
        parts = texts.with_format("arrow").iter(ROWS)
        if features := getattr(texts, "features", None):
            # A dataset without rows has no parts.
            parts = itertools.chain(parts, [features.arrow_schema.empty_table()])
        yield from parts
    elif hasattr(texts, "collect_batches"):
        if hasattr(texts, "collect_schema"):
            import polars

            yield _without_objects(polars.DataFrame(schema=texts.collect_schema()))
        yield from texts.collect_batches()
    elif _is_table(texts):
        raise TypeError(
            f"a {type(texts).__name__} has columns, but not the Arrow PyCapsule interface: convert"
            " it to a table of pyarrow, or pass the column with the texts"
        )
    else:
        texts = iter(texts)
        while part := list(itertools.islice(texts, ROWS)):
            yield part


def _without_objects(texts: Any) -> Any:
    """A frame of Polars without columns of Python objects, whose addresses Arrow would get."""
    if type(texts).__module__.startswith("polars"):
        kinds = texts.schema if hasattr(texts, "schema") else {texts.name: texts.dtype}
        for name, kind in kinds.items():
            if str(kind) == "Object":
                raise TypeError(
                    f"the column {name} has Python objects (the type Object of Polars), which cannot"
                    " be read: cast it, or drop it"
                )
    return texts


def _is_table(value: object) -> bool:
    """Whether a value is a table or a dataset, not a column. Looks at the type only: to ask a
    LazyFrame for its columns takes time."""
    names = ("columns", "column_names", "schema")
    return any(hasattr(type(value), name) for name in names)


def is_splits(texts: Mapping[Any, Any]) -> bool:
    """Whether a mapping has tables as values, not columns."""
    return any(isinstance(value, Mapping) or _is_table(value) for value in texts.values())


def _table(texts: Mapping[Any, Any]) -> Any:
    """A mapping of columns as a table."""
    if is_splits(texts):
        first = next(iter(texts))
        raise TypeError(
            f"a {type(texts).__name__} of tables is not a table: pass d[{first!r}], or call"
            " lookalike.deduplicate_splits(d) for all of them"
        )
    for name, value in texts.items():
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise TypeError(
                f"the column {name} is a {type(value).__name__}, not a list: to compare the values"
                " of a dict, pass list(d.values())"
            )
    try:
        import pyarrow
    except ImportError as error:
        raise TypeError("a dict of columns needs pyarrow: pip install pyarrow") from error
    arrow = "__arrow_c_stream__"
    return pyarrow.table(
        {
            str(name): pyarrow.chunked_array(_without_objects(value)) if hasattr(value, arrow) else value
            for name, value in texts.items()
        }
    )


def columns(policies: Iterable[str]) -> Iterator[str]:
    """The columns that policies look at."""
    for policy in policies:
        _, colon, rest = policy.partition(":")
        if colon:
            yield rest.partition("=")[0]


def optional_path(path: str | os.PathLike[str] | None) -> str | None:
    """A path as text, if there is one."""
    return None if path is None else os.fspath(path)


SHARED_FLAGS = (
    "threshold score markup shingle_size tokens fold short fingerprint seed sampling memory"
    " threads".split()
)


def _flags(given: dict[str, Any]) -> list[str]:
    """The arguments that the functions of this module have in common."""
    values = {name: given[name] for name in SHARED_FLAGS if given.get(name) is not None}
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]


def tokens(text: str, *, tokens: str = "words", fold: str = "none") -> list[str]:
    """Cut a text into tokens.

    Parameters
    ----------
    text
        Plain text.
    tokens
        ``"words"`` or ``"whitespace"``, as the flag ``--tokens`` of ``lookalike run``.
    fold
        ``"compat"`` or ``"none"``, as the flag ``--fold``.

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
    shingle_size
        Tokens in a shingle, 1 to 1,000.
    tokens, fold, short
        As the flags of ``lookalike run``.

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
        As the flags of ``lookalike run``.

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
    """Compute the resemblance of two texts: shared fingerprints by those of their union.

    Parameters
    ----------
    a, b
        Plain texts.
    shingle_size, tokens, fold, short, fingerprint, seed
        As the flags of ``lookalike run``.

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
    """Compute the containment of two texts: shared fingerprints by those of the smaller set.

    Parameters
    ----------
    a, b
        Plain texts.
    shingle_size, tokens, fold, short, fingerprint, seed
        As the flags of ``lookalike run``.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.containment("a b c d", "a b c d e", shingle_size=2)
    1.0
    """
    parameters = (shingle_size, tokens, fold, short, str(fingerprint), seed)
    return _native.score(a, b, "containment", *parameters)
