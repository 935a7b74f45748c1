"""Commands with their progress."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Union

from . import _native

Listener = Callable[
    [str, "str | None", "str | None", "int | None", "int | None", "str | None"], object
]
Progress = Union[bool, Listener, None]

PACKAGE = os.path.dirname(__file__)
# A flag, and the space after it if a value follows and not another word of the sentence.
FLAG = re.compile(r"(?<![\w./-])--([a-z]+(?:-[a-z]+)*)(?: (?=[a-z]+:|[^\sa-z]))?")


def command(arguments: Sequence[str | PathLike[str]], progress: Progress) -> str:
    """Run a command; return what it prints."""
    if progress is True:
        with Bars() as bars:
            return _native.command(arguments, bars)
    return _native.command(arguments, progress or None)


def warned(lines: Sequence[str]) -> None:
    """Warn of what a command says, at the line that called this package. Flags are parameters."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == PACKAGE:
        frame, level = frame.f_back, level + 1
    text = "\n".join(line.removeprefix("warning: ") for line in lines)
    warnings.warn(FLAG.sub(lambda flag: flag[1].replace("-", "_") + "=", text), stacklevel=level)


class Bars:
    """A bar of tqdm for each stage."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self.tqdm = tqdm
        self.bar: Any = None
        self.stage: str | None = None

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            # A stage that did not end.
            self.bar.leave = False
            self.bar.close()
            self.bar = None

    def __call__(
        self,
        event: str,
        stage: str | None,
        unit: str | None,
        done: int | None,
        total: int | None,
        text: str | None,
    ) -> None:
        if event == "note":
            self.tqdm.write(text)
        elif event == "start":
            of_bytes = unit == "bytes"
            parameters = {
                "unit": "B" if of_bytes else f" {unit}",
                "unit_divisor": 1024 if of_bytes else 1000,
            }
            if self.bar is not None and self.stage == stage:
                # The next part of a stage.
                self.bar.reset(total=total)
                vars(self.bar).update(parameters)
            else:
                self.__exit__()
                self.stage = stage
                self.bar = self.tqdm(desc=stage, total=total, unit_scale=True, **parameters)
        elif self.bar is not None:
            self.bar.update((done or self.bar.n) - self.bar.n)
            if event == "end":
                self.bar.update((self.bar.total or self.bar.n) - self.bar.n)
                self.bar.close()
                self.bar = None
