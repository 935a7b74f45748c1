"""Find near-duplicate documents exactly, in bounded memory.

The functions run the commands of the program ``lookalike`` in this process. Parameters, defaults and
results are those of the commands: ``shingle_size=10`` is ``--shingle-size 10``. Sizes are numbers of
bytes or texts such as ``"2GiB"``.
"""

from ._native import Error, __version__
from ._run import Run, dedup, run

__all__ = ["Error", "Run", "__version__", "dedup", "run"]
