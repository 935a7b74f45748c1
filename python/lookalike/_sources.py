"""Where texts come from, and how results are given back in the kind that came in.

A `Source` is what came in: its parts for the temporary file, and its rows without the removed ones.
Python objects are recognized by the module of their class, which imports no library.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Union

from . import _native
from ._table import Table, as_kind

# Rows or texts that are passed on at a time.
ROWS = 1000

STREAM = "__arrow_c_stream__"

# The columns that are needed, each by the names that it may have; `None` for all columns.
Wanted = Union["list[tuple[str, ...]]", None]


def source_of(given: Any) -> Source:
    """What came in, by its type.

    Iterating over a mapping or a table gives its names, which would be taken for the texts.
    """
    if isinstance(given, Source):
        return given
    if isinstance(given, (str, bytes)):
        # It would be an iterable of str as well.
        raise TypeError("expected a table or an iterable of texts, not a single text")
    if isinstance(given, Mapping):
        return Columns(given)
    kinds = {"pandas": Pandas, "polars": Polars, "pyarrow": Arrow, "datasets": Hub}
    for base in type(given).__mro__:
        kind: type[Source] | None = kinds.get(base.__module__.split(".")[0])
        if kind is not None and (found := kind.of(given)):
            return found
    if hasattr(given, STREAM):
        return Stream(given)
    if is_table(given):
        raise TypeError(
            f"a {type(given).__name__} has columns, but not the Arrow PyCapsule interface: convert"
            " it to a table of pyarrow, or pass the column with the texts"
        )
    if isinstance(given, Iterator):
        return Stream(given)
    if not hasattr(given, "__iter__") and not hasattr(given, "__getitem__"):
        raise TypeError(f"expected texts or a table, not {type(given).__name__}")
    return List(given)


def has_column(source: Source, name: str) -> bool:
    """Whether a source is known to have a column."""
    given = source.given
    if isinstance(given, (list, tuple)):
        given = given[0] if given and isinstance(given[0], Mapping) else {}
    if isinstance(source, PolarsLazy):
        given = dict(given.collect_schema())
    names: Any = getattr(given, "column_names", None)
    if names is None:
        names = getattr(given, "columns", given if isinstance(given, Mapping) else [])
    return name in map(str, names)


class Source:
    """What came in."""

    # The kind in which tables are given back.
    kind = "table"
    # Whether the rows can be selected after they were read; otherwise they are kept while reading.
    selects = True

    def __init__(self, given: Any) -> None:
        self.given = given

    @classmethod
    def of(cls, given: Any) -> Source | None:
        """The source, if the object is one of these."""
        return cls(given)

    def parts(self, columns: Wanted) -> Iterator[Any]:
        """The rows, as Arrow streams or lists of str, with these columns or more. A part with which
        not all columns are known is in a tuple."""
        raise NotImplementedError

    def select(self, mask: bytes) -> Any:
        """The rows whose byte is not 0."""
        raise NotImplementedError

    def mask(self, mask: bytes) -> Any:
        """Whether the byte of each row is not 0, as such rows are selected with it."""
        return list(map(bool, mask))

    def table(self, rows: Any, name: str) -> Table:
        """Some of its rows as a table; texts without a name get this one."""
        return Table(_native.wrapped(rows), rows)

    def settled(self) -> Source:
        """The same, with rows that can be selected."""
        return self


def chosen(names: Iterable[Any], columns: Wanted) -> list[Any] | None:
    """The columns to read; `None` for all of them, which a message about a missing one names."""
    names = list(names)
    given = {str(name) for name in names}
    if columns is None or not all(given.intersection(column) for column in columns):
        return None
    wanted = {name for column in columns for name in column}
    return [name for name in names if str(name) in wanted]


class List(Source):
    """Texts, or dicts."""

    def parts(self, columns: Wanted) -> Iterator[Any]:
        return of_rows(iter(self.given), columns, in_memory=True)

    def select(self, mask: bytes) -> Any:
        kept = list(itertools.compress(self.given, mask))
        return tuple(kept) if isinstance(self.given, tuple) else kept

    def table(self, rows: Any, name: str) -> Table:
        if rows and any(isinstance(row, Mapping) for row in rows):
            (part, _), *_ = of_rows(iter(rows), None, in_memory=True)
            return super().table(part, name)
        return Table(_native.column(name, list(rows)))


class Columns(Source):
    """A mapping of columns."""

    def __init__(self, given: Mapping[Any, Any]) -> None:
        super().__init__(given)
        if is_splits(given):
            first = next(iter(given))
            raise TypeError(
                f"a {type(given).__name__} of tables is not a table: pass d[{first!r}], or call"
                " lookalike.deduplicate_splits(d) for all of them"
            )
        for name, value in given.items():
            if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                raise TypeError(
                    f"the column {name} is a {type(value).__name__}, not a list: to compare the"
                    " values of a dict, pass list(d.values())"
                )
        self.given = {
            name: list(column) if isinstance(column, Iterator) else column
            for name, column in given.items()
        }
        self.type = type(given)

    def parts(self, columns: Wanted) -> Iterator[Any]:
        yield self.arrow(self.given)

    @staticmethod
    def arrow(given: Mapping[Any, Any]) -> Any:
        try:
            import pyarrow
        except ImportError as error:
            raise TypeError("a dict of columns needs pyarrow: pip install pyarrow") from error

        def column(name: str, value: Any) -> Any:
            if hasattr(value, STREAM):
                return pyarrow.chunked_array(without_objects(value))
            return value if hasattr(value, "__arrow_c_array__") else array_of(name, value)

        return pyarrow.table({n: column(n, value) for n, value in by_text(given).items()})

    def select(self, mask: bytes) -> Any:
        kept = {}
        for name, column in self.given.items():
            if hasattr(column, "dtype") and hasattr(column, "shape") and not hasattr(column, STREAM):
                import numpy

                kept[name] = column[numpy.frombuffer(mask, bool)]
            else:
                kept[name] = source_of(column).select(mask)
        # A batch within `datasets.Dataset.map` cannot be made of columns.
        plain = self.type is dict or self.type.__module__.startswith("datasets.")
        return kept if plain else self.type(kept)  # type: ignore[call-arg]

    def table(self, rows: Any, name: str) -> Table:
        return super().table(self.arrow(rows), name)


class Pandas(Source):
    """A data frame or a series."""

    kind = "pandas"

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        # Whether the index has row numbers, and so is not a column.
        self.numbered = type(given.index).__name__ == "RangeIndex"

    def parts(self, columns: Wanted) -> Iterator[Any]:
        import pyarrow

        if self.given.ndim == 1:
            name = str(self.given.name or "text")
            yield pyarrow.chunked_array([self._read(pyarrow.Array.from_pandas, {name: self.given})])
        else:
            names = chosen(self.given.columns, columns)
            frame = self.given if names is None else self.given[names]
            yield self._read(pyarrow.Table.from_pandas, frame, preserve_index=False)

    @staticmethod
    def _read(read: Any, given: Any, **how: Any) -> Any:
        import pyarrow

        frame = next(iter(given.values())) if isinstance(given, dict) else given
        try:
            return read(frame, **how)
        except (UnicodeError, OverflowError, pyarrow.ArrowException):
            for name, values in given.items():
                if str(values.dtype) in ("object", "string", "str", "category"):
                    array_of(str(name), values.tolist())
            raise

    @classmethod
    def of(cls, given: Any) -> Source | None:
        return cls(given) if hasattr(given, "iloc") else None

    def select(self, mask: bytes) -> Any:
        return self.given[self.mask(mask)]

    def mask(self, mask: bytes) -> Any:
        import numpy

        # A copy can be changed.
        return numpy.frombuffer(mask, bool).copy()

    def table(self, rows: Any, name: str) -> Table:
        import pyarrow

        frame = rows if rows.ndim == 2 else rows.to_frame(rows.name or name)
        index = False if self.numbered else None
        return super().table(pyarrow.Table.from_pandas(frame, preserve_index=index), name)


class Polars(Source):
    """A data frame or a series."""

    kind = "polars"

    def __init__(self, given: Any, lazy: bool = False) -> None:
        super().__init__(given)
        self.lazy = lazy

    @classmethod
    def of(cls, given: Any) -> Source | None:
        if hasattr(given, "collect_schema") and not hasattr(given, STREAM):
            return PolarsLazy(given)
        return cls(given) if hasattr(given, STREAM) else None

    def parts(self, columns: Wanted) -> Iterator[Any]:
        without_objects(self.given)
        names = chosen(getattr(self.given, "columns", ()), columns)
        yield typed(self.given if names is None else self.given.select(names))

    def select(self, mask: bytes) -> Any:
        kept = self.given.filter(self.mask(mask))
        return kept.lazy() if self.lazy else kept

    def mask(self, mask: bytes) -> Any:
        import polars

        return polars.Series(values=list(mask), dtype=polars.UInt8).cast(polars.Boolean)

    def table(self, rows: Any, name: str) -> Table:
        frame = rows if hasattr(rows, "columns") else rows.to_frame(name)
        return Table(_native.wrapped(typed(frame)), frame)


class PolarsLazy(Source):
    """A LazyFrame, which is evaluated once, in batches."""

    kind = "polars"
    selects = False

    def mask(self, mask: bytes) -> Any:
        return Polars.mask(self, mask)  # type: ignore[arg-type]

    def parts(self, columns: Wanted) -> Iterator[Any]:
        import polars

        frame = self.given
        schema = frame.collect_schema()
        yield typed(without_objects(polars.DataFrame(schema=schema)))
        names = chosen(schema.names(), columns)
        batches = (frame if names is None else frame.select(names)).collect_batches()
        yield from map(typed, batches)

    def settled(self) -> Source:
        return Polars(self.given.collect(), lazy=True)


class Arrow(Source):
    """A table, a batch, an array or chunks of one."""

    kind = "arrow"

    @classmethod
    def of(cls, given: Any) -> Source | None:
        if hasattr(given, "scanner"):
            return ArrowDataset(given)
        if not (hasattr(given, "take") and hasattr(given, "filter")):
            return None
        # pyarrow does not filter views and runs.
        kinds = str(getattr(given, "schema", None) or given.type)
        views = "_view" in kinds or "run_end_encoded" in kinds
        return ArrowViews(cls.table_of(given)) if views else cls(given)

    def parts(self, columns: Wanted) -> Iterator[Any]:
        given = self.table_of(self.given)
        names = chosen(getattr(given, "column_names", ()), columns)
        yield given if names is None else given.select(names)

    @staticmethod
    def table_of(given: Any) -> Any:
        import pyarrow

        if isinstance(given, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([given])
        return pyarrow.chunked_array([given]) if isinstance(given, pyarrow.Array) else given

    def select(self, mask: bytes) -> Any:
        return self.given.filter(self.mask(mask))

    def mask(self, mask: bytes) -> Any:
        import pyarrow

        buffers = [None, pyarrow.py_buffer(mask)]
        bits = pyarrow.Array.from_buffers(pyarrow.uint8(), len(mask), buffers)
        return bits.cast(pyarrow.bool_())

    def table(self, rows: Any, name: str) -> Table:
        import pyarrow

        rows = self.table_of(rows)
        is_column = isinstance(rows, pyarrow.ChunkedArray)
        return super().table(pyarrow.table({name: rows}) if is_column else rows, name)


class Stream(Source):
    """Rows that can be read only once."""

    selects = False

    def parts(self, columns: Wanted) -> Iterator[Any]:
        if hasattr(self.given, STREAM):
            yield self.given
        else:
            yield from of_rows(self._begun(), columns)

    def _begun(self) -> Iterator[Any]:
        """The rows of an iterator that has any: one that was read before looks like an empty one."""
        for first in self.given:
            return itertools.chain([first], self.given)
        raise ValueError(
            f"the {type(self.given).__name__} gives no texts; it can be read only once: pass a list"
            " to read the texts again, or for no texts"
        )

    def settled(self) -> Source:
        if hasattr(self.given, STREAM):
            import pyarrow

            return Arrow(pyarrow.table(self.given))
        return List(list(self._begun()))


class ArrowViews(Stream):
    """A table of pyarrow with columns that it cannot filter."""

    kind = "arrow"


class ArrowDataset(Stream):
    """A dataset of pyarrow: files, of which only the wanted columns are read."""

    def parts(self, columns: Wanted) -> Iterator[Any]:
        yield self.given.scanner(columns=chosen(self.given.schema.names, columns)).to_reader()

    def settled(self) -> Source:
        return Arrow(self.given.to_table())


class Hub(Source):
    """A dataset of Hugging Face."""

    kind = "dataset"

    @classmethod
    def of(cls, given: Any) -> Source | None:
        if not (hasattr(given, "with_format") and hasattr(given, "iter")):
            return None
        return cls(given) if hasattr(given, "select") else HubStream(given)

    def parts(self, columns: Wanted) -> Iterator[Any]:
        names = chosen(self.given.column_names or (), columns)
        given = self.given if names is None else self.given.select_columns(names)
        if features := getattr(given, "features", None):
            # A dataset without rows has no parts.
            yield features.arrow_schema.empty_table()
            yield from given.with_format("arrow").iter(ROWS)
        else:
            # The types of its columns are not known, and may be found late.
            yield from of_rows(iter(given), columns)

    def select(self, mask: bytes) -> Any:
        return self.given.select(list(itertools.compress(range(len(mask)), mask)))

    def table(self, rows: Any, name: str) -> Table:
        return super().table(HubRows(rows), name)


class HubRows:
    """The rows of a dataset with the Arrow interface."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow

        parts = self.dataset.with_format("arrow").iter(ROWS)
        batches = (batch for part in parts for batch in part.to_batches())
        schema = self.dataset.features.arrow_schema
        return pyarrow.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()


class HubStream(Hub):
    """A streaming dataset: its rows are read once and kept, except as one of several splits."""

    kind = "table"
    selects = False

    def select(self, mask: bytes) -> Any:
        return self.given.filter(lambda _, row: mask[row] != 0, with_indices=True)


def of_rows(rows: Iterator[Any], columns: Wanted, in_memory: bool = False) -> Iterator[Any]:
    """Texts as lists, dicts as tables: one table if they are in memory anyway. A later part has the
    columns of the earlier ones, with types that fit the values of all."""
    part = list(itertools.islice(rows, ROWS))
    if not any(isinstance(row, Mapping) for row in part):
        while part:
            yield part
            part = list(itertools.islice(rows, ROWS))
        return
    try:
        import pyarrow
    except ImportError as error:
        raise TypeError("a list of dicts needs pyarrow: pip install pyarrow") from error
    part += rows if in_memory else ()
    first, schema = 0, pyarrow.schema([])
    while part:
        for number, row in enumerate(part, first):
            if not isinstance(row, Mapping):
                raise TypeError(f"row {number} is {type(row).__name__}, and others are dicts")
        names = list(dict.fromkeys(name for row in part for name in row))
        if not all(isinstance(name, str) for name in names):
            part = [by_text(row) for row in part]
            names = list(dict.fromkeys(name for row in part for name in row))
        names = chosen([*schema.names, *names], columns) or names
        found = {
            name: array_of(name, [row.get(name) for row in part], first) for name in names
        }
        table = pyarrow.table(found)
        try:
            schema = pyarrow.unify_schemas([schema, table.schema], promote_options="permissive")
            yield as_schema(table, schema), True
        except pyarrow.ArrowException as error:
            for name in names:
                old = schema.field(name).type if name in schema.names else None
                if old not in (None, new := table.schema.field(name).type):
                    where = f"rows {first} to {first + len(part) - 1}"
                    raise TypeError(
                        f"the column {name} has the type {old} in the rows before, and {new} in"
                        f" {where}"
                    ) from error
            raise
        first += len(part)
        part = list(itertools.islice(rows, ROWS))
    yield schema.empty_table(), False


def by_text(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A dict by the names that columns have in tables of Arrow."""
    named = {str(name): value for name, value in row.items()}
    if len(named) < len(row):
        names = ", ".join(map(repr, row))
        raise KeyError(f"two of the names {names} are the same as text: rename one")
    return named


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or another value for what is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def as_schema(table: Any, schema: Any) -> Any:
    """A table of pyarrow with the columns and the types of a later one."""
    import pyarrow

    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pyarrow.nulls(len(table), field.type)
        for field in schema
    ]
    return pyarrow.table(columns, schema=schema)


class Joined:
    """Tables with the Arrow interface, the last of which has the columns of all, as one."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow

        schema = pyarrow.schema(self.parts[-1])
        batches = (
            batch
            for part in self.parts
            for rows in pyarrow.RecordBatchReader.from_stream(part)
            for batch in as_schema(pyarrow.table(rows), schema).to_batches()
        )
        return pyarrow.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()


def joined(parts: list[_native.Table]) -> Table:
    """Consecutive parts of a table as one."""
    if len(parts) == 1:
        return Table(parts[0])
    stream = Joined(parts)
    return Table(_native.wrapped(stream), stream)


def array_of(name: str, values: Any, first: int = 0) -> Any:
    """Values of a column as an array of pyarrow. NaN beside values of another type is missing, as in
    pandas. The error names the row that does not fit; the first one has this number."""
    import pyarrow

    wrong = (UnicodeError, OverflowError, TypeError, ValueError)
    try:
        return pyarrow.array(values)
    except wrong:
        values = list(values)
    try:
        return pyarrow.array(values, from_pandas=True)
    except wrong as error:
        # The shortest beginning that is refused ends with the row.
        low, high = 0, len(values)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                pyarrow.array(values[:middle], from_pandas=True)
                low = middle
            except wrong:
                high = middle
        what = f"the column {name} in row {first + low}"
        if isinstance(error, UnicodeError):
            raise ValueError(f"{what} has a lone surrogate, which UTF-8 does not have") from error
        kind = type(values[low]).__name__
        raise TypeError(f"{what} has a value of type {kind} that does not fit: {error}") from error


def without_objects(given: Any) -> Any:
    """A frame of Polars without columns of Python objects, whose addresses Arrow would get."""
    if type(given).__module__.startswith("polars"):
        kinds = given.schema if hasattr(given, "schema") else {given.name: given.dtype}
        for name, kind in kinds.items():
            if str(kind) == "Object":
                raise TypeError(
                    f"the column {name} has Python objects (the type Object of Polars), which cannot"
                    " be read: cast it, or drop it"
                )
    return given


def typed(given: Any) -> Any:
    """A frame or a series of Polars with a type for columns without any value, which Arrow reads."""
    import polars

    def kind(given: Any) -> Any:
        if given == polars.Null:
            return polars.String
        return polars.List(kind(given.inner)) if isinstance(given, polars.List) else given

    if not hasattr(given, "schema"):
        return given.cast(kind(given.dtype))
    kinds = {name: kind(given) for name, given in given.schema.items()}
    return given.cast({name: k for name, k in kinds.items() if k != given.schema[name]})


def is_table(value: object) -> bool:
    """Whether a value is a table or a dataset, not a column. Looks at the type only: to ask a
    LazyFrame for its columns takes time."""
    names = ("columns", "column_names", "schema")
    return any(hasattr(type(value), name) for name in names)


def is_splits(texts: Mapping[Any, Any]) -> bool:
    """Whether a mapping has tables as values, not columns."""
    return any(isinstance(value, Mapping) or is_table(value) for value in texts.values())


def given_back(table: Table, source: Source, as_: str | None) -> Any:
    """A table in the kind that came in, or in the kind that was asked for."""
    return as_kind(table, as_ or source.kind)


# The name that a path begins with, in quotes or not, and a path of one field.
FIRST = re.compile(r'"((?:[^"\\]|\\.)*)"|((?:[^.\[,"\\]|\\.)+)')
PATH = re.compile(r'(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\\.|[^,])+')


def text_columns(text: str | Iterable[str]) -> list[tuple[str, str]]:
    """The columns with texts: each path, and the column in which it begins."""
    columns = []
    paths = [text] if isinstance(text, str) or not isinstance(text, Iterable) else list(text)
    for path in paths:
        if not isinstance(path, str):
            raise TypeError(f"text={text!r}: expected the name of a column, or several")
        found = FIRST.match(path) if PATH.fullmatch(path) else None
        first = next(part for part in found.groups() if part is not None) if found else path
        columns.append((path, re.sub(r"\\(.)", r"\1", first)))
    if not columns:
        raise ValueError("text is empty: name the column with the texts")
    return columns
