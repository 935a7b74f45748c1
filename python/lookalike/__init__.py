"""Find near-duplicate documents exactly, in bounded memory.

For texts in memory: `find_pairs`, `deduplicate` and, for the splits of a dataset,
`deduplicate_splits`. For files: `run` and `dedup`, which are the commands of the program
``lookalike`` in this process. Parameters, defaults and results equal the commands':
``shingle_size=10`` is ``--shingle-size 10``. Sizes are numbers of bytes or texts such as ``"2GiB"``.

Results are tables that pyarrow, Polars, pandas and DuckDB can read.
"""

from ._native import Error, Table, __version__
from ._run import Run, dedup, run
from ._splits import deduplicate_splits
from ._texts import (
    containment,
    deduplicate,
    find_pairs,
    fingerprints,
    resemblance,
    shingles,
    tokens,
)

__all__ = [
    "Error",
    "Run",
    "Table",
    "__version__",
    "containment",
    "dedup",
    "deduplicate",
    "deduplicate_splits",
    "find_pairs",
    "fingerprints",
    "resemblance",
    "run",
    "shingles",
    "tokens",
]
