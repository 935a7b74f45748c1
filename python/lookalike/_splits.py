"""The splits of a dataset, without near-duplicates within and across them."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ._native import Spool
from ._progress import Progress
from ._texts import columns, optional_path, removed, spooled

Splits = TypeVar("Splits", bound=Mapping[Any, Any])

# Orders splits by their names; those that match none come before the last.
KINDS = ("test", "val|dev|eval", "", "train")


def deduplicate_splits(
    splits: Splits,
    text: str = "text",
    keep: str | Iterable[str] = "first",
    *,
    order: Iterable[str] | None = None,
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
) -> Splits:
    """Remove the near-duplicates within and across the splits of a dataset.

    All splits together are one collection. A row of the training split that resembles a row of the
    test split is removed, so the test rows measure what a model has not seen.

    Parameters
    ----------
    splits
        A DatasetDict or IterableDatasetDict of Hugging Face, or another mapping of tables, columns
        or lists of texts, as for `deduplicate`. A streaming dataset is read twice: now, and when
        its result is read.
    text
        The column with the texts, in every split.
    keep
        Which of several similar rows of the same split is kept, as for `deduplicate`.
    order
        The names of splits whose rows are kept before the rows of later ones. Other splits follow in
        the default order: those whose name has the word test, then val, dev or eval, then others,
        then train.
    threshold, rule, score, markup, shingle_size, tokens, fold, short, fingerprint, seed
        As for `deduplicate`.
    memory, threads, scratch, progress
        As for `deduplicate`. Only texts are written to the temporary file.

    Returns
    -------
    mapping
        A mapping of the same type, with the same splits in the same order. Datasets, frames, arrow
        tables and lists keep their types; other tables become tables of pyarrow.

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
    >>> import lookalike
    >>> splits = {"train": ["a b c", "d e f", "D E F!"], "test": ["A b, c", "g h i"]}
    >>> lookalike.deduplicate_splits(splits)
    {'train': ['d e f'], 'test': ['A b, c', 'g h i']}
    """
    if not isinstance(splits, Mapping):
        raise TypeError(
            f"expected a mapping of tables, such as a DatasetDict, not a {type(splits).__name__}:"
            " use lookalike.deduplicate for one table"
        )
    policies = ["first"] if not keep else [keep] if isinstance(keep, str) else list(keep)
    tables = {name: _readable_twice(splits[name]) for name in splits}
    spool = Spool(optional_path(scratch), text, None, list(columns(policies)))
    ends = {}
    begin = 0
    for number, name in enumerate(_in_order(list(splits), order)):
        spool.split(number)
        try:
            spooled(spool, tables[name])
        except (TypeError, KeyError) as error:
            raise type(error)(f"split {name}: {error.args[0]}") from error
        begin, ends[name] = spool.rows, (begin, spool.rows)
    gone = spool.removed(removed(spool, [spool.by_split, *policies], rule, locals(), progress))

    def kept(name: Any) -> Any:
        first, end = ends[name]
        rows = gone[bisect.bisect_left(gone, first) : bisect.bisect_left(gone, end)]
        return _without(tables[name], {row - first for row in rows}, end - first)

    return type(splits)({name: kept(name) for name in splits})  # type: ignore[call-arg]


def _in_order(names: list[Any], order: Iterable[str] | None) -> list[Any]:
    """The splits, the preferred one first."""
    first = [order] if isinstance(order, str) else list(order or ())
    for name in first:
        if name not in names or first.count(name) > 1:
            known = ", ".join(map(str, names))
            raise ValueError(f"order={first}: {name!r} is not one of the splits {known}, once each")

    def kind(name: Any) -> int:
        found = (n for n, kind in enumerate(KINDS) if kind and _begins_a_word(kind, str(name)))
        return next(found, KINDS.index(""))

    return first + sorted((name for name in names if name not in first), key=kind)


def _begins_a_word(kind: str, name: str) -> bool:
    return re.search(f"(^|[^a-z])({kind})", name.lower()) is not None


def _readable_twice(table: Any) -> Any:
    """A split that can be read again after its texts were."""
    if isinstance(table, (str, bytes)):
        raise TypeError("a split is a table or a list of texts, not a single text")
    if isinstance(table, Iterator) and not hasattr(table, "__arrow_c_stream__"):
        return list(table)
    kinds = ("take", "gather_every", "with_format", "collect_batches", "iter_rows")
    if hasattr(table, "__arrow_c_stream__") and not any(hasattr(table, kind) for kind in kinds):
        import pyarrow

        return pyarrow.table(table)
    return table


def _without(table: Any, gone: set[int], rows: int) -> Any:
    """The rows of a split without those with these numbers, in the same type."""
    if isinstance(table, Mapping):
        return type(table)(  # type: ignore[call-arg]
            {name: _without(column, gone, rows) for name, column in table.items()}
        )
    if hasattr(table, "collect_batches"):
        import polars

        number = "lookalike row"
        numbered = table.with_row_index(number)
        return numbered.filter(~polars.col(number).is_in(sorted(gone))).drop(number)
    if hasattr(table, "with_format") and not hasattr(table, "select"):
        return table.filter(lambda _, row: row not in gone, with_indices=True)
    kept = [row for row in range(rows) if row not in gone]
    if hasattr(table, "with_format"):
        return table.select(kept)
    if hasattr(table, "take"):
        return table.take(kept)
    if hasattr(table, "__arrow_c_stream__"):
        return table[kept]
    return [text for row, text in enumerate(table) if row not in gone]
