"""The exit codes, each with one meaning for every command."""

from __future__ import annotations

from corpus2skill.domain.run import Outcome
from corpus2skill.errors import (
    Busy,
    CompileFailed,
    Corpus2SkillError,
    Damaged,
    InvalidInput,
    ModelError,
    NotFound,
    NothingToCompile,
    SourceRefused,
    SpendingCapReached,
    WorkspaceUnusable,
)

OK = 0
UNEXPECTED = 1
"""A fault of the program."""
USAGE = 2
"""Bad usage or invalid input: nothing was begun."""
WARNINGS = 3
"""Done, but sources were refused or summaries are stand-ins."""
NOT_COMPILED = 4
"""Nothing could be compiled, or the compile failed or was refused by `--strict`."""
NO_SUCH_THING = 5
"""A named corpus, version, node or record does not exist."""
BUSY = 6
"""Another process holds the corpus."""
DAMAGED = 7
"""What lies on disk is not what was written."""
WORKSPACE = 8
"""The workspace cannot be read or written."""
NOT_FOUND = 9
"""`ask`: the documents do not hold the answer."""
NO_ANSWER = 10
"""`ask`: no answer for another reason."""
SPENDING_CAP = 11
"""Stopped at the spending cap: the same command with a higher one goes on."""
INTERRUPTED = 130
"""Ctrl-C."""
READER_GONE = 141
"""Whoever read standard output went away, as `head` does."""

ALL = (
    OK,
    UNEXPECTED,
    USAGE,
    WARNINGS,
    NOT_COMPILED,
    NO_SUCH_THING,
    BUSY,
    DAMAGED,
    WORKSPACE,
    NOT_FOUND,
    NO_ANSWER,
    SPENDING_CAP,
    INTERRUPTED,
    READER_GONE,
)


_OF_ERRORS: tuple[tuple[type[Corpus2SkillError], int], ...] = (
    (NothingToCompile, NOT_COMPILED),
    (InvalidInput, USAGE),
    (SourceRefused, NOT_COMPILED),
    (NotFound, NO_SUCH_THING),
    (Busy, BUSY),
    (Damaged, DAMAGED),
    (WorkspaceUnusable, WORKSPACE),
    (SpendingCapReached, SPENDING_CAP),
    (CompileFailed, NOT_COMPILED),
    (ModelError, NOT_COMPILED),
)
"""The first class that fits decides."""


def of_error(error: Corpus2SkillError) -> int:
    return next((code for kind, code in _OF_ERRORS if isinstance(error, kind)), UNEXPECTED)


def of_outcome(outcome: Outcome) -> int:
    match outcome:
        case "answered":
            return OK
        case "not_found":
            return NOT_FOUND
        case "cancelled":
            return INTERRUPTED
        case _:
            return NO_ANSWER
