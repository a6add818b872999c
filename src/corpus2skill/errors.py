"""Every error of the product, one tree.

```
Corpus2SkillError
├── InvalidInput            what was asked cannot be done as asked; nothing was begun
│   ├── UnusableSettings    limits or settings that cannot work together
│   ├── NothingToCompile    no path given, or no readable source under the paths
│   ├── ConfirmationNeeded  the step would lose or cost something and was not confirmed
│   ├── InvalidQuestion     empty or over-long question
│   ├── Conflict            it does not go together with what is there now
│   ├── Outrun              somebody changed it since it was looked at
│   ├── Unseen              a change that has to say what was looked at, and does not
│   ├── TooLarge            what was sent is larger than what is taken in
│   └── WrongKind           what was sent is not of the kind that is taken in
├── NotSignedIn             nobody, or nobody we know, is asking
├── NotAllowed              the one who asks may not do this
├── TooMany                 a limit on how often or how much was reached; it passes
├── Stopping                the server is about to go and takes on nothing more
├── BrokenOff               the process that was at it is gone; nothing came of it
├── SourceRefused           one source document cannot become text (the others go on)
├── NotFound                a named thing does not exist
│   ├── NodeNotFound        no node at that path of that version
│   ├── VersionNotFound
│   ├── CorpusNotFound
│   ├── SourceNotFound
│   ├── RecordNotFound
│   ├── SessionNotFound
│   └── ThingNotFound       of any other kind, which it names
├── Busy                    somebody else holds the corpus
├── Damaged                 what lies on disk is not what was written
├── SpendingCapReached      the next paid call could go over the cap; what was paid for is kept
├── WorkspaceUnusable       the workspace cannot be read or written (disk, rights, newer release)
├── CompileFailed           a stage failed; the active version is untouched
│   └── StrictRefusal       warnings under `--strict`
└── ModelError              a model's failure, classified by the adapter
    ├── ModelUnavailable    transient: worth another try later
    ├── ModelRefused        the provider declined to answer
    ├── BadReply            the model answered something that cannot be used
    └── ModelUnusable       key, quota, name or endpoint are wrong: another try changes nothing
```

An error carries a `code` (the key of its text in `messages/`) and the `values` that text needs, so that
the doors can say it in the reader's language. `str(error)` is English and for logs. Callers catch a
class, never a string.
"""

from __future__ import annotations


class Corpus2SkillError(Exception):
    """The root of the tree."""

    code: str = "error"

    def __init__(self, code: str | None = None, /, **values: object) -> None:
        if code is not None:
            self.code = code
        self.values: dict[str, object] = values
        """What came, and what was wanted: filled into the message of `code`."""
        super().__init__(self.code, values)

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.code} ({shown})" if shown else self.code

    def __reduce__(self) -> tuple[object, ...]:
        """Errors go from process to process whatever their constructor wants."""
        return _again, (type(self), self.code, self.values), self.__dict__


def _again(kind: type[Corpus2SkillError], code: str, values: dict[str, object]) -> Corpus2SkillError:
    return kind.__new__(kind, code, values)


class Phrase(str):
    """A value of an error that is itself the key of a text: it is said in the reader's language."""

    __slots__ = ()


class InvalidInput(Corpus2SkillError):
    """What was asked cannot be done as asked; nothing was begun."""

    code = "invalid_input"


class UnusableSettings(InvalidInput):
    """Limits or settings that cannot work together."""

    code = "unusable_settings"


class NothingToCompile(InvalidInput):
    """No path was given and none is remembered, or no readable source lies under the paths."""

    code = "nothing_to_compile"


class ConfirmationNeeded(InvalidInput):
    """The step would lose or cost something and was not confirmed."""

    code = "confirmation_needed"


class InvalidQuestion(InvalidInput):
    """The question is empty or too long."""

    code = "invalid_question"


class Conflict(InvalidInput):
    """It does not go together with what is there now: a name that is taken, a job that has ended."""

    code = "conflict"


class Outrun(InvalidInput):
    """Somebody changed it since it was looked at."""

    code = "outrun"


class Unseen(InvalidInput):
    """A change that has to say what was looked at (`If-Match`), and does not."""

    code = "if_match_missing"


class TooLarge(InvalidInput):
    """What was sent is larger than what is taken in: the rest of it was not waited for."""

    code = "upload_too_large"


class WrongKind(InvalidInput):
    """What was sent is not of the kind that is taken in."""

    code = "not_multipart"


class NotSignedIn(Corpus2SkillError):
    """Nobody, or nobody we know, is asking."""

    code = "not_signed_in"


class NotAllowed(Corpus2SkillError):
    """The one who asks may not do this."""

    code = "not_allowed"


class TooMany(Corpus2SkillError):
    """A limit on how often or how much was reached; it passes."""

    code = "too_many"

    def __init__(self, code: str | None = None, /, *, retry_after: float, **values: object) -> None:
        self.retry_after = retry_after
        """Seconds until another try may succeed."""
        super().__init__(code, **values)


class Stopping(Corpus2SkillError):
    """The server is about to go and takes on nothing more; another one, or the next, will."""

    code = "stopping"


class BrokenOff(Corpus2SkillError):
    """The process that was at it died, was ended, or took too long. Nothing came of it; another try begins afresh."""

    code = "broken_off"


class SourceRefused(Corpus2SkillError):
    """One source document cannot become text. `code` is `refused.<verdict>`; the other sources go on."""

    def __init__(self, verdict: str, /, detail: str | None = None, **values: object) -> None:
        self.verdict = verdict
        """A refusing `Verdict` of `domain.corpus`."""
        self.detail = detail
        """The key of a more exact text, `refused.<verdict>.<detail>`, where there is one."""
        super().__init__(f"refused.{verdict}.{detail}" if detail else f"refused.{verdict}", **values)


class NotFound(Corpus2SkillError):
    """A named thing does not exist."""

    code = "not_found"


class NodeNotFound(NotFound):
    """No node at that path of that version.

    `children` are the valid names at the nearest node that exists, `at` that node's path.
    """

    code = "node_not_found"

    def __init__(self, path: str, /, *, at: str, children: tuple[str, ...]) -> None:
        self.path = path
        self.at = at
        self.children = children
        super().__init__(path=path, at=at, children=", ".join(children))


class VersionNotFound(NotFound):
    """The corpus has no such version, or no active one."""

    code = "version_not_found"


class CorpusNotFound(NotFound):
    """The workspace has no such corpus."""

    code = "corpus_not_found"


class SourceNotFound(NotFound):
    """The corpus has no such source document."""

    code = "source_not_found"


class RecordNotFound(NotFound):
    """No run record of that id."""

    code = "record_not_found"


class SessionNotFound(NotFound):
    """No kept record is of that conversation."""

    code = "session_not_found"


class ThingNotFound(NotFound):
    """Nothing of this `kind` has this `name`: a job, a token, an upload."""

    code = "thing_not_found"

    def __init__(self, kind: str, name: str, /) -> None:
        super().__init__(kind=kind, name=name)


class Busy(Corpus2SkillError):
    """Somebody else is compiling this corpus."""

    code = "busy"


class Damaged(Corpus2SkillError):
    """What lies on disk is not what was written."""

    code = "damaged"


class SpendingCapReached(Corpus2SkillError):
    """The next paid call could go over the cap. What was paid for is kept: the same command goes on from there."""

    code = "spending_cap_reached"


class WorkspaceUnusable(Corpus2SkillError):
    """The workspace cannot be read or written: a full or read-only disk, missing rights, a newer release."""

    code = "workspace_unusable"


class CompileFailed(Corpus2SkillError):
    """A stage failed. The active version is untouched."""

    code = "compile_failed"


class StrictRefusal(CompileFailed):
    """There were warnings and `strict` was asked for; nothing was published."""

    code = "strict_refusal"


class ModelError(Corpus2SkillError):
    """A model's failure, classified by the adapter that saw it."""

    code = "model_error"


class ModelUnavailable(ModelError):
    """Transient: the network, an overload, a cut stream. Worth another try later."""

    code = "model_unavailable"

    def __init__(
        self,
        code: str | None = None,
        /,
        *,
        retry_after: float | None = None,
        is_unreachable: bool = False,
        **values: object,
    ) -> None:
        self.retry_after = retry_after
        """Seconds to wait, where the provider said so."""
        self.is_unreachable = is_unreachable
        """True where no connection came about at all: a wrong address looks like this as well as an outage."""
        super().__init__(code, **values)


class ModelRefused(ModelError):
    """The provider declined to answer."""

    code = "model_refused"


class BadReply(ModelError):
    """The model answered something that cannot be used."""

    code = "bad_reply"


class ModelUnusable(ModelError):
    """The key, its quota, the model's name or the endpoint is wrong: another try changes nothing."""

    code = "model_unusable"
