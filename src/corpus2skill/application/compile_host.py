"""What somebody who runs a compile may put around it: a server's job does, the command line does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from corpus2skill.application.compile_engine import CompileEngine
from corpus2skill.compiler.pipeline import CompilerPorts
from corpus2skill.compiler.stepwise_summarizer import StepwiseSummarizer
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.steps import Steps, at_once


def _unwatched(_engine: CompileEngine, /) -> None:
    """The watch of a compile whose money is only asked for at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileHost:
    """The surroundings of one compile; None leaves what a compile has by itself."""

    steps: Steps = at_once
    reader: SourceReader | None = None
    extractor: Extractor | None = None
    watch: Callable[[CompileEngine], None] = _unwatched
    """Is shown the engine once it is open: what it has spent can be asked at any time."""

    def around(self, ports: CompilerPorts) -> CompilerPorts:
        """`ports` with what is put around them."""
        summarizer = ports.summarizer
        if self.steps is not at_once:
            summarizer = StepwiseSummarizer(summarizer, self.steps)
        return replace(
            ports,
            steps=self.steps,
            summarizer=summarizer,
            reader=self.reader or ports.reader,
            extractor=self.extractor or ports.extractor,
        )


alone = CompileHost()
"""Of a compile in the foreground."""
