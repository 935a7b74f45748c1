"""Tables of results."""

from __future__ import annotations

import html
import itertools
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars
    import pyarrow

KINDS = ("pandas", "polars", "arrow", "dataset", "table")
# The types of pandas for integers of which some are missing.
INTEGERS = {
    f"{sign}int{bits}": f"{sign.upper()}Int{bits}Dtype"
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


class Table:
    """A table on disk or in memory, which can be read any number of times.

    It has the Arrow PyCapsule interface, so pyarrow, Polars, pandas and DuckDB read it: for example
    ``polars.DataFrame(table)``, and in DuckDB ``SELECT * FROM table``. Rows are read while they are
    used, in batches. Iterating gives each row as a dict. A table of a directory can be pickled: its
    copy reads the same file.

    Examples
    --------
    >>> import lookalike
    >>> pairs = lookalike.find_pairs(["a b c", "d e f", "A B C!"])
    >>> [(pair["id_a"], pair["id_b"]) for pair in pairs]
    [(0, 2)]
    >>> len(pairs), pairs.columns[:3]
    (1, ['id_a', 'id_b', 'resemblance'])
    """

    # The directory and the name of a result file.
    _origin: tuple[str | os.PathLike[str], str] | None = None

    def __init__(self, rows: _native.Table, stream: Any = None) -> None:
        self._rows = rows
        # The object from which the rows come, if they pass through this class only.
        self._stream = rows if stream is None else stream

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._rows.columns

    def __len__(self) -> int:
        return len(self._rows)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._dicts()

    def _dicts(self) -> Iterator[dict[str, Any]]:
        batches = self._rows.batches()
        if batches is None:
            import pyarrow

            for batch in pyarrow.RecordBatchReader.from_stream(self):
                yield from batch.to_pylist()
        else:
            columns = self._rows.columns
            for text in batches:
                for row in json.loads(text):
                    yield dict(zip(columns, row))

    def head(self, rows: int = 5) -> list[dict[str, Any]]:
        """The first rows, each as a dict."""
        return list(itertools.islice(self._dicts(), rows))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas, which is in memory. Integers of which some are missing
        have a type with a capital, such as ``UInt64``, because the others would make them floats."""
        import pandas

        rows = self.to_arrow()
        missing = {str(column.type) for column in rows.columns if column.null_count}
        kinds = {kind: getattr(pandas, name)() for kind, name in INTEGERS.items() if kind in missing}
        return rows.to_pandas(types_mapper=lambda kind: kinds.get(str(kind)))

    def to_polars(self) -> polars.DataFrame:
        """The rows as a data frame of Polars, which is in memory."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table of pyarrow, which is in memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_dataset(self) -> datasets.Dataset:
        """The rows as a dataset of Hugging Face, which is in memory."""
        import datasets

        rows = self.to_arrow()
        # It refuses columns without chunks.
        return datasets.Dataset(rows if rows.num_rows else rows.schema.empty_table())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._rows.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"lookalike.{type(self).__name__}({self._rows.described()})"

    def _repr_html_(self) -> str:
        def row(cells: Any, tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        def short(value: object) -> str:
            text = "" if value is None else str(value)
            return text if len(text) <= 200 else text[:200] + "..."

        found = self.head(11)
        rows = [row(map(short, values.values()), "td") for values in found[:10]]
        more = f"<p>The first 10 of {len(self):,} rows</p>" if len(found) > 10 else ""
        return f"<table>{row(self.columns, 'th')}{''.join(rows)}</table>{more}"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise TypeError(
                "this table is temporary and cannot be pickled: pickle table.to_arrow(), or a table"
                " of a directory, such as lookalike.run(...).pairs()"
            )
        directory, name = self._origin
        return of_directory, (os.fspath(directory), name)


def of_directory(directory: str | os.PathLike[str], name: str) -> Table:
    """A result file of a directory as a table."""
    table = Table(_native.table(directory, name))
    table._origin = (directory, name)
    return table


def check_kind(as_: str | None) -> None:
    """Refuse what is not a kind, before any work."""
    if as_ is not None and as_ not in KINDS:
        raise ValueError(f"as_={as_!r}: expected one of {', '.join(KINDS)}")


def as_kind(table: Table, kind: str) -> Any:
    """A table as one of the kinds."""
    return table if kind == "table" else getattr(table, f"to_{kind}")()
