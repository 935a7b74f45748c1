"""Find near-duplicate documents exactly, in bounded memory.

For texts in memory: `find_pairs`, `clusters`, `deduplicate` and, for the splits of a dataset,
`deduplicate_splits`; `Index` looks up texts. For files: `run` and `dedup`, which are the commands of
the program ``lookalike`` in this process. Parameters, defaults and results equal the commands':
``shingle_size=10`` is ``--shingle-size 10``. Sizes are numbers of bytes or texts such as ``"2GiB"``.

Results are the kind of table that came in, or a `Table` that pyarrow, Polars, pandas and DuckDB read.
"""

from typing import Any

from ._index import Index
from ._native import Error, __version__
from ._result import Result, SplitsResult
from ._run import Run, dedup, run
from ._splits import deduplicate_splits
from ._table import Table
from ._texts import clusters, deduplicate, find_pairs
from .single import containment, resemblance, shingles, tokens

__all__ = [
    "Error",
    "Index",
    "Result",
    "Run",
    "SplitsResult",
    "Table",
    "__version__",
    "clusters",
    "containment",
    "dedup",
    "deduplicate",
    "deduplicate_splits",
    "find_pairs",
    "resemblance",
    "run",
    "shingles",
    "tokens",
]


def __getattr__(name: str) -> Any:
    if name != "fingerprints":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import warnings

    from .single import fingerprints

    text = "lookalike.fingerprints: write lookalike.single.fingerprints; the next version has no other"
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return fingerprints
