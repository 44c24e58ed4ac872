"""The line that tells how far a run has come."""

import sys
import time
from typing import TextIO

from esker._esker import Progress

_REFRESH = 0.2
"""Wall time between two updates of the line [s]."""


class Line:
    """One line on the standard error that is written over; where that is no terminal, a line every tenth of the run."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = sys.stderr if out is None else out
        self._next_time = 0.0
        self._next_tenth = 1

    def __call__(self, progress: Progress) -> None:
        share = progress.step / progress.steps if progress.steps else 1.0
        text = (
            f"{100 * share:3.0f} %  {progress.time:.4g} of {progress.end:.4g} s, "
            f"{progress.contacts} contacts, {progress.steps_per_second:.4g} steps/s"
        )
        is_over = progress.step >= progress.steps
        if self._out.isatty():
            if is_over or time.monotonic() >= self._next_time:
                self._next_time = time.monotonic() + _REFRESH
                self._write(f"\r{text:<78}" + ("\n" if is_over else ""))
        elif 10 * share >= self._next_tenth:
            self._next_tenth = int(10 * share) + 1
            self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except OSError:
            pass  # A closed terminal ends no simulation.
