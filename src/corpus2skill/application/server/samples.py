"""The packaged sample documents as a corpus of the tenant's: the whole product without a key."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from corpus2skill.application.server.corpora import create_corpus
from corpus2skill.application.server.jobs import start_job
from corpus2skill.application.server.receive_documents import receive
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.language import Language
from corpus2skill.domain.people import Principal
from corpus2skill.domain.server_job import JobOptions, ServerJob
from corpus2skill.domain.upload import CorpusSettings
from corpus2skill.messages import message


def start_samples(server: Server, by: Principal, language: Language) -> ServerJob:
    """Make the corpus `sample-ja` or `sample-en`, hand the samples in and queue its compile, which costs nothing.

    Raises:
        Conflict: the corpus is there already.
    """
    corpus = f"sample-{language}"
    title = message(language, "sample.title")
    create_corpus(server, by, corpus, CorpusSettings(title=title, language=language))
    reception = receive(server, by, corpus)
    try:
        for file in _samples(language):
            reception.begin(file.name)
            reception.write(file.read_bytes())
        reception.finish()
    finally:
        reception.discard()
    return start_job(server, by, corpus, JobOptions(model="offline"))


def _samples(language: Language) -> list[Traversable]:
    folder = resources.files("corpus2skill") / "samples" / language
    return sorted((file for file in folder.iterdir() if file.is_file()), key=lambda file: file.name)
