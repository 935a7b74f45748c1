"""The temporary file of texts, which the commands read."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, TypedDict, TypeVar, Union

from . import _native
from ._native import Spool
from ._progress import Progress, command
from ._sources import STREAM, Pandas, Source, is_missing, source_of, text_columns, without_objects

# A list of str, a table, or another source of texts.
Texts = Union[Iterable[str], Any]

# The names that flags and other libraries have for the parameters of texts in memory.
MEANT = {
    "column": "text",
    "columns": "text",
    "exclude_text": "exclude",
    "id": "ids",
    "id_column": "ids",
    "id_field": "ids",
    "on": "text",
    "subset": "text",
    "text_column": "text",
    "text_field": "text",
}

Function = TypeVar("Function", bound=Callable[..., Any])


class Compared(TypedDict, total=False):
    """The types of the parameters that functions about texts have in common."""

    exclude: Any
    where: str | None
    threshold: float | str
    score: str
    markup: str
    shingle_size: int
    tokens: str
    fold: str
    short: str
    fingerprint: int | str
    seed: int
    memory: int | str | None
    threads: int | None
    scratch: str | os.PathLike[str] | None
    progress: Progress


def name_of(function: Callable[..., Any]) -> str:
    """What a caller writes for a function, a method or a class."""
    return function.__qualname__.removesuffix(".__init__")


def hinting(function: Function) -> Function:
    """A function that names the parameter which a user may mean by another name."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def hinted(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in known and (meant := MEANT.get(name)) in known:
                raise TypeError(f"{name_of(function)}() has no parameter {name}: use {meant}=")
        return function(*args, **given)

    return hinted  # type: ignore[return-value]


def formerly(places: int, *names: str, **renamed: str) -> Callable[[Function], Function]:
    """A function that still takes the parameters of the version before: those with these names after
    the first places, and those that have another name now. A warning shows the new call."""

    def of_function(function: Function) -> Function:
        @functools.wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            extra = args[places:] if len(args) <= places + len(names) else ()
            old = dict(zip(names, extra))
            old |= {name: given.pop(name) for name in renamed if name in given}
            if not old:
                return function(*args, **given)
            new = {renamed.get(name, name): value for name, value in old.items()}
            shown = ", ".join(f"{name}={value!r}" for name, value in new.items())
            warnings.warn(
                f"{name_of(function)}(): write {shown}; the next version takes no other form",
                DeprecationWarning,
                stacklevel=2,
            )
            return function(*args[: len(args) - len(extra)], **new, **given)

        return called  # type: ignore[return-value]

    return of_function


@contextlib.contextmanager
def of(parameter: str) -> Iterator[None]:
    """Messages about texts name where the texts come from."""
    try:
        yield
    except Exception as error:
        # Not a derived one, which may be the caller's.
        if type(error) not in (TypeError, KeyError, ValueError):
            raise
        raise type(error)(f"{parameter}: {error.args[0]}") from error


def filled(
    spool: Spool, texts: Texts, text: str | Iterable[str], *columns: str | None, whole: bool = False
) -> Spool:
    """A spool with texts, wherever they come from. Only the columns that are needed are read, unless
    the rows are kept."""
    source = texts if isinstance(texts, Source) else source_of(texts)
    needed = [tuple(names) for names in text_columns(text)]
    needed += [(column, column.split(".")[0]) for column in columns if column is not None]
    for part in source.parts(None if whole else needed):
        if isinstance(part, list):
            # NaN is what is missing, as in pandas.
            spool.add_texts([None if is_missing(text) else text for text in part])
        elif isinstance(part, tuple):
            spool.add(*part)
        else:
            spool.add(part)
    return spool


TEXT_FIELD = "--text-field="


def excluded(spool: Spool, texts: Any, text: str | Iterable[str]) -> list[Spool]:
    """A spool with the texts whose shingles count for nobody, if there are any."""
    if texts is None:
        return []
    if isinstance(texts, os.PathLike) or isinstance(texts, str) and _is_file(texts):
        raise ValueError(f"exclude={os.fspath(texts)!r} is a file, not a text: pass what it says")
    texts = [texts] if isinstance(texts, str) else texts
    with of("exclude"):
        return [filled(Spool(spool.directory, text_columns(text)), texts, text)]


def _is_file(text: str) -> bool:
    try:
        return os.path.isfile(text)
    except ValueError:
        return False


def reading(
    spool: Spool, name: str, left_out: list[Spool], longest: int = 0, *others: Spool
) -> list[str]:
    """The flags with which a command reads a spool and those beside it. A list of texts may stand
    beside texts inside of columns: a document has one or the other."""
    beside = [*left_out, *others]
    flags = spool.flags(name, max([longest, *(other.longest for other in beside)]))
    parts = [flags, *(other.flags("ingest", 0) for other in beside)]
    fields = {flag for part in parts for flag in part if flag.startswith(TEXT_FIELD)}
    field = TEXT_FIELD + ",".join(flag.removeprefix(TEXT_FIELD) for flag in sorted(fields))
    flags = [field if flag.startswith(TEXT_FIELD) else flag for flag in flags]
    return [*flags, *(f"--exclude-text={other.path}" for other in left_out)]


def command_on(spool: Spool, name: str, flags: Iterable[str], progress: Progress) -> str:
    """Run a command on the file of a spool; return what it prints."""
    try:
        return command([*name.split(), spool.path, *flags], progress)
    except _native.Error as error:
        # Texts inside of columns, of which no row has one.
        _, found, detail = str(error).rpartition("no text field: ")
        if not found or not str(error).startswith("no document was found"):
            raise
        detail = detail.replace("lookalike row (string), ", "")
        raise KeyError(f"no row has a text: {detail}") from None


def policies_of(keep: str | Iterable[str]) -> list[str]:
    """The policies of a parameter `keep`."""
    if isinstance(keep, bool):
        raise TypeError(
            f'keep={keep}: keep says which row of a group stays, such as "first"; the parameter'
            ' rule="drop-clusters" removes all rows of a group'
        )
    return [keep] if isinstance(keep, str) else list(keep)


def columns_of(policies: Iterable[str]) -> Iterator[str]:
    """The columns that policies look at."""
    for policy in policies:
        _, colon, rest = policy.partition(":")
        if colon:
            yield rest.partition("=")[0]


def fields_of(where: str | None) -> list[str]:
    """The columns that a condition names."""
    return [] if where is None else _native.fields_of_condition(where)


def ids_of(source: Source, ids: Any) -> tuple[str | None, Any]:
    """The column of the ids, or the ids."""
    if not isinstance(ids, str):
        return None, ids
    if isinstance(source, Pandas) and source.given.ndim == 2 and ids in source.given:
        if source.given[ids].dtype == object:
            return None, source.given[ids]
    return ids, None


def identify(spool: Spool, ids: Any) -> None:
    """Give the texts of a spool what the result calls them."""
    with of("ids"):
        without_objects(ids)
    if hasattr(ids, "__arrow_c_array__") and not hasattr(ids, STREAM):
        import pyarrow

        ids = pyarrow.chunked_array([ids])
    if getattr(ids, "dtype", None) == object or not hasattr(ids, STREAM):
        values = ids.to_pylist() if hasattr(ids, "to_pylist") else ids
        ids = [_as_id(value) for value in values]
    spool.identify(ids)


def _as_id(value: Any) -> Any:
    """An id as text or a number; None for what is missing."""
    if is_missing(value):
        return None
    if hasattr(value, "dtype") and hasattr(value, "item"):
        # The numbers of numpy become numbers of Python. item() would also turn its times into
        # numbers, so they stay as they are.
        return value if getattr(value.dtype, "kind", "") in ("m", "M") else value.item()
    return str(value) if isinstance(value, uuid.UUID) else value


def optional_path(path: str | os.PathLike[str] | None) -> str | None:
    """A path as text, if there is one."""
    return None if path is None else os.fspath(path)


FLAGS = (
    "threshold score markup shingle_size tokens fold short fingerprint seed sampling where memory"
    " threads".split()
)


def flags_of(given: dict[str, Any], names: Iterable[str] = FLAGS) -> list[str]:
    """The arguments that the functions about texts have in common."""
    values = {name: given[name] for name in names if given.get(name) is not None}
    return [f"--{name.replace('_', '-')}={as_text(value, name + '=')}" for name, value in values.items()]


def as_text(value: object, name: str = "") -> str:
    """A value as the command line has it; errors begin with the name. A real number near a decimal is
    that decimal: 0.1 + 0.2 is 0.3."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, float) or hasattr(value, "dtype"):
        number = float(str(value))
        near = round(number, 9)
        if near and abs(near - number) < 1e-12:
            return f"{near:.9f}".rstrip("0").rstrip(".")
        if 0 < number < 1 and number == float(ratio := Fraction(number).limit_denominator(1000)):
            a, b = ratio.numerator, ratio.denominator
            raise ValueError(f'{name}{number} has too many digits: write "{a}/{b}", or Fraction({a}, {b})')
    return str(value)
