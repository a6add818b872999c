"""Corpus2Skill: compile a corpus of documents into a tree of files, and walk it to answer questions."""

__all__ = ["__version__"]

__version__ = "0.1.0"
