"""What goes wrong, as exceptions. Each is an `Error`, and where Python has an exception of that kind, that one as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esker._esker import Problem


class Error(Exception):
    """A simulation that cannot go on, or a request that cannot be met: the message says why and what to change."""

    def __str__(self) -> str:
        # The exceptions of Python that some of these are as well would put the message into quotes.
        return str(self.args[0]) if self.args else ""


class InputError(Error, ValueError):
    """A value that cannot be: the message says what was expected and what was found."""


class UnknownNameError(Error, KeyError):
    """A name or an id that the scene does not have: the message lists those that it has."""


class FileError(Error, OSError):
    """A file that cannot be read or written; `filename` is its path, and `errno` what the system says."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that is not there."""


class ScenarioError(Error, ValueError):
    """A scenario with mistakes. The attribute `problems` lists all of them, each a `Problem`."""

    problems: list[Problem]


class MissingScenarioError(ScenarioError, FileNotFoundError):
    """A scenario whose file is not there."""


for _exception in (Error, InputError, UnknownNameError, FileError, MissingFileError, ScenarioError, MissingScenarioError):
    # Their place for everybody else.
    _exception.__module__ = "esker"
