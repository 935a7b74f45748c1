"""What a deduplication in memory gives: the kept rows, and the evidence for the removed ones."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from . import _native
from ._native import Spool
from ._progress import Progress, command
from ._sources import Source, has_column, joined, source_of, text_columns
from ._spool import (
    FLAGS,
    columns_of,
    command_on,
    excluded,
    fields_of,
    filled,
    flags_of,
    identify,
    ids_of,
    of,
    optional_path,
    reading,
)
from ._table import Table, as_kind, check_kind

LIMITS = ("memory", "threads")


class Search:
    """A deduplication of texts in a spool, whose temporary directory it keeps."""

    def __init__(
        self,
        kind: str,
        as_: str | None,
        text: Any,
        policies: list[str],
        against: Any,
        given: dict[str, Any],
        keeps_rows: bool,
        ids: str | None = None,
    ) -> None:
        check_kind(as_)
        self.as_ = as_
        self.kind = as_ or kind
        self.text = text
        self.policies = policies
        # The other parameters are what came in, which the result does not keep.
        self.given = {name: given.get(name) for name in (*FLAGS, "scratch")}
        self.keeps_rows = keeps_rows
        self.against = against
        self.exclude = given["exclude"]
        self.ids = ids
        # Whether the docnos of the other collection are rows, and what these are called.
        self.numbered = False
        self.names: Any = None
        self.named: str | None = given.get("named")
        self.others = 0
        self.left_out: list[Spool] = []
        self.base: list[Spool] = []
        self.reading: list[str] = []
        self.where = fields_of(given.get("where"))
        fields = [*dict.fromkeys([*columns_of(policies), *self.where])]
        if reserved := [field for field in fields if field.startswith("lookalike ")]:
            raise ValueError(f"the column {reserved[0]} has a reserved name: rename it")
        names = None
        if isinstance(directory := getattr(against, "directory", against), (str, os.PathLike)):
            self.against = os.fspath(directory)
            # A temporary index lives as long as the evidence, which is read from it.
            self.compared = against
            if calls := getattr(against, "_calls", None):
                self.numbered, self.names = calls()
            names, self.reading = _as_in(self.against, fields)
        self.spool = Spool(
            optional_path(given["scratch"]),
            text_columns(text),
            ids,
            fields,
            str(given["memory"] or "2GiB") if keeps_rows else None,
            0,
            names,
        )
        self.summary: dict[str, Any] = {}

    def fill(self, source: Source) -> None:
        """Add the rows of a table."""
        fields = columns_of(self.policies)
        filled(self.spool, source, self.text, self.ids, *fields, *self.where, whole=self.keeps_rows)

    def place(self, name: str) -> str:
        """A path in the temporary directory."""
        return os.path.join(self.spool.directory, name)

    def run(self, rule: str, progress: Progress) -> bytes:
        """Find out which rows are kept: a byte that is not 0 for each."""
        spool = self.spool
        # Of no rows, none has the column of a policy.
        self.keep = [f"--keep={policy}" for policy in self.policies if spool.rows]
        self.keep.append(f"--rule={rule}")
        flags = flags_of(self.given)
        if self.reading:
            flags = [flag for flag in flags if not flag.startswith("--markup=")]
        self.left_out = excluded(spool, self.exclude, self.text)
        self.exclude = None
        if self.against is not None:
            flags.append(f"--against={self._base(flags)}")
        elif rule == "star" and not self.where:
            # Only the survivors are seen, and thousands of rows of one template have millions of pairs.
            flags.append("--pairs=none")
        places = ["-o", self.place("kept"), "--work", self.place("work"), "--ids-only", "--json"]
        as_read = [*reading(spool, "dedup", self.left_out, 0, *self.base), *self.reading]
        flags = [*places, *as_read, *self.keep, *flags]
        self.summary = json.loads(command_on(spool, "dedup", flags, progress))
        del self.summary["costs"]
        if self.against is not None:
            status = json.loads(_native.command(["status", "--json", "--", self.place("work")]))
            self.others = status["catalogue"]["documents"] - status["ingest"]["documents"]
            self.against = None
        return spool.mask(self.place("kept/removed.tsv"))

    def _base(self, flags: list[str]) -> str:
        """The directory of the collection to compare with."""
        if isinstance(self.against, str):
            return self.against
        self.numbered = True
        with of("against"):
            source, column, ids = source_of(self.against), None, None
            if self.named is not None and has_column(source, self.named):
                column, ids = ids_of(source, self.named)
            other = Spool(self.spool.directory, text_columns(self.text), column, self.where)
            self.base = [filled(other, source, self.text, column, *self.where)]
            if ids is not None:
                identify(other, ids)
        if column is not None or ids is not None:
            self.names = other
        of_collection = [
            flag for flag in flags if not flag.startswith(("--threshold=", "--score="))
        ]
        as_read = reading(other, "ingest", self.left_out, 0, self.spool)
        flags = ["-o", self.place("base"), *as_read, *of_collection]
        try:
            command_on(other, "stage ingest", flags, None)
        except KeyError as error:
            raise KeyError(f"against: {error.args[0]}") from error
        return self.place("base")

    def evidence(self, name: str, *flags: str) -> str:
        """Write lists of what was removed and why."""
        out = self.place(name)
        limits = flags_of(self.given, LIMITS)
        from_ = ["dedup", f"--from={self.place('work')}", "-o", out, "--ids-only"]
        command([*from_, "--results=parquet", *self.keep, *limits, *flags], None)
        return os.path.join(out, "removed.parquet")

    def given_back(self, table: Table) -> Any:
        """A table in the kind that came in."""
        return as_kind(table, self.kind)


# A name of a field that is not a path.
PLAIN = re.compile(r'[^.,\[\]="\\]+')


def _as_in(directory: str, fields: list[str]) -> tuple[tuple[str, str], list[str]]:
    """The names of the fields of the row and the text, and the flags, with which texts are read like
    the documents of a directory."""
    status = json.loads(_native.command(["status", "--json", "--", directory]))
    read = status["collection"]["read"]
    names = (read["id_field"] or "id", read["text_field"] or "text")
    plain = all(map(PLAIN.fullmatch, names)) and read["format"] in (None, "jsonl")
    if not plain or set(names) & set(fields):
        raise ValueError(
            f"against={directory}: texts in memory cannot be read as its documents, which have"
            f" their texts in {names[1]} and their ids in {names[0]}: give its texts as a table"
        )
    if read.get("convert"):
        raise ValueError(
            f"against={directory}: its documents were converted by programs, which convert no texts in"
            " memory: give its texts as a table"
        )
    flags = []
    for name, value in read.items():
        if value is not None and name not in ("rule", "fields"):
            value = value if isinstance(value, list) else [value]
            flags += [f"--{name.replace('_', '-')}={part}" for part in value]
    return names, flags


class Evidence:
    """What was removed and why. It is computed when it is needed, from a temporary directory that
    lives as long as the result."""

    _search: Search
    _removed: Table | None = None

    @property
    def removed(self) -> Any:
        """The removed rows, as the kind that came in if that is a data frame or a table.

        Columns: `row`, its number or what `ids` calls it; `reason`; `survivor`, the row that is kept
        in its place; `resemblance` (or `score`) of the two; `shared`, the number of shared shingles.
        The resemblance is null if there is nothing to compare: texts of the same words, all of them
        excluded. With `against`, the survivor of some rows is in the other collection:
        `survivor_against` is its row, docno or id. For splits, rows have columns `split` and
        `survivor_split`.
        """
        search = self._search
        if self._removed is None:
            lists = search.evidence("evidence")
            self._removed = Table(search.spool.evidence(lists, search.others, search.numbered, search.names))
        return search.given_back(self._removed)

    @property
    def clusters(self) -> Any:
        """The rows in clusters: `row`, `cluster`, `size` and `representative`, as of `clusters`. Only
        rows of this table are counted, and `ids` names them."""
        search = self._search
        return search.given_back(Table(search.spool.clusters(search.place("work"), "row")))

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers of texts: `documents`, `kept`, `removed` by reason, and others."""
        return self._search.summary

    def report(self, path: str | os.PathLike[str], *, samples: int | None = None) -> Path:
        """Write an HTML page about what was removed, with a sample of the removed texts. It calls the
        rows by their number, from 0, whatever `ids` says.

        Parameters
        ----------
        path
            The file.
        samples
            The number of removed texts in the sample for each reason.
        """
        path = Path(path)
        flags = [f"--report={path}"]
        if samples is not None:
            flags.append(f"--samples={samples}")
        name = f"report-{len(os.listdir(self._search.spool.directory))}"
        self._search.evidence(name, *flags)
        return path


Kept = TypeVar("Kept")


class Result(Evidence, Table, Generic[Kept]):
    """The rows that `deduplicate` keeps, and why it removed the others.

    `kept` has the rows as the kind that came in. The result itself is a `Table` of these rows, with
    the Arrow PyCapsule interface. Iterating over it gives texts if texts came in, and else dicts.
    """

    kept: Kept

    def __init__(self, search: Search, source: Source, mask: bytes) -> None:
        self._search = search
        self._source = source
        self._mask = mask
        self._count = mask.count(1)
        self._table: Table | None = None
        text = search.text
        self._name = text if isinstance(text, str) else "text"
        if source.selects:
            self.kept = source.select(mask)
            source.given = None
            if search.as_ is not None:
                self._table = self._as_table()
                self.kept = as_kind(self._table, search.as_)
        else:
            self._table = joined(search.spool.kept(search.place("kept/removed.tsv")))
            self.kept = as_kind(self._table, search.kind)

    @property
    def mask(self) -> Any:
        """Whether each row that came in is kept: an array of numpy for data frames of pandas, a series
        of Polars, an array of pyarrow, or a list of bool."""
        return self._source.mask(self._mask)

    def _as_table(self) -> Table:
        if self._table is None:
            self._table = self._source.table(self.kept, self._name)
        return self._table

    @property
    def _rows(self) -> _native.Table:  # type: ignore[override]
        return self._as_table()._rows

    @property
    def _stream(self) -> Any:  # type: ignore[override]
        return self._as_table()

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return self._count > 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.kept) if isinstance(self.kept, (list, tuple)) else self._dicts()

    def __repr__(self) -> str:
        return f"lookalike.Result({self._count:,} of {self._search.spool.rows:,} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a result cannot be pickled: pickle result.kept and result.removed")


class SplitsResult(Evidence, Mapping[Any, Any]):
    """The splits that `deduplicate_splits` keeps, and why it removed the other rows.

    `kept` is a mapping of the type that came in. The result itself is a mapping with the same splits.
    """

    def __init__(self, search: Search, kept: Any, masks: dict[Any, tuple[Source, bytes]]) -> None:
        self._search = search
        self.kept = kept
        self._masks = masks

    @property
    def mask(self) -> dict[Any, Any]:
        """For each split, whether each of its rows is kept, as for `deduplicate`."""
        return {name: source.mask(mask) for name, (source, mask) in self._masks.items()}

    def __getitem__(self, name: Any) -> Any:
        return self.kept[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)

    def __repr__(self) -> str:
        masks = self._masks.items()
        splits = (f"{name}: {mask.count(1):,} of {len(mask):,} rows" for name, (_, mask) in masks)
        return f"lookalike.SplitsResult({', '.join(splits)})"
