"""The splits of a dataset, without near-duplicates within and across them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ._native import Spool
from ._progress import Progress
from ._result import Search, SplitsResult
from ._sources import source_of
from ._spool import hinting, of, policies_of

# Orders splits by their names; those that match none come before the last.
KINDS = ("test", "val|dev|eval", "", "train")


@hinting
def deduplicate_splits(
    splits: Mapping[Any, Any],
    text: str | Iterable[str] = "text",
    keep: str | Iterable[str] = "first",
    *,
    order: Iterable[str] | None = None,
    against: Any = None,
    exclude: Any = None,
    where: str | None = None,
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
) -> SplitsResult:
    """Remove the near-duplicates within and across the splits of a dataset.

    All splits together are one collection. A row of the training split that resembles a row of the
    test split is removed, so the test rows measure what a model has not seen.

    Parameters
    ----------
    splits
        A DatasetDict or IterableDatasetDict of Hugging Face, or another mapping of tables, columns
        or lists of texts, as for `deduplicate`. A streaming dataset is read twice: now, and when
        its result is read, so it must give the same rows again.
    text
        The column with the texts, in every split, as for `find_pairs`.
    keep
        Which of several similar rows of the same split is kept, as for `deduplicate`.
    order
        The names of splits whose rows are kept before the rows of later ones. Other splits follow in
        the default order: those whose name has the word test, then val, dev or eval, then others,
        then train.
    against, exclude, where, threshold, rule, score, markup
        As for `deduplicate`.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.
    memory, threads, scratch, progress
        As for `deduplicate`. Only texts and the fields of `where` are written to the temporary file.

    Returns
    -------
    SplitsResult
        A mapping with the same splits in the same order. `kept` is the same as a mapping of the type
        that came in. Datasets, frames, arrow tables and lists keep their types; other tables become
        tables of pyarrow. `mask` has one for each split; `removed`, `clusters`, `summary` and `report` are as for `deduplicate`;
        their rows have a split. If the splits are of several kinds, `removed` and `clusters` are a
        `Table`.

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
    >>> result = lookalike.deduplicate_splits(splits)
    >>> result.kept
    {'train': ['d e f'], 'test': ['A b, c', 'g h i']}
    >>> result.removed.head(1)[0]["survivor_split"]
    'test'
    """
    if not isinstance(splits, Mapping):
        raise TypeError(
            f"expected a mapping of tables, such as a DatasetDict, not a {type(splits).__name__}:"
            " use lookalike.deduplicate for one table"
        )
    policies = [Spool.by_split, *(policies_of(keep) or ["first"])]
    sources = {}
    for name, split in splits.items():
        if isinstance(split, (str, bytes)):
            raise TypeError("a split is a table or a list of texts, not a single text")
        with of(f"split {name}"):
            sources[name] = source_of(split).settled()
    kinds = {source.kind for source in sources.values()}
    kind = kinds.pop() if len(kinds) == 1 else "table"
    search = Search(kind, None, text, policies[1:], against, locals(), False)
    search.policies = policies
    ends = {}
    begin = 0
    for name in _in_order(list(splits), order):
        search.spool.split(str(name))
        with of(f"split {name}"):
            search.fill(sources[name])
        begin, ends[name] = search.spool.rows, (begin, search.spool.rows)
    mask = search.run(rule, progress)
    kept: dict[Any, Any] = {}
    masks = {}
    for name, source in sources.items():
        first, end = ends[name]
        kept[name] = source.select(mask[first:end])
        # The rows themselves are the caller's.
        source.given = None
        masks[name] = (source, mask[first:end])
    of_type: Any = type(splits)
    return SplitsResult(search, of_type(kept), masks)


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
