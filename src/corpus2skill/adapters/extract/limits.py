"""How much one source document may hold. Beyond it the document is refused, never cut."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one source document."""

    max_characters: int = 20_000_000
    """Characters of extracted text."""
    max_pages: int = 5_000
    max_inflated_bytes: int = 100_000_000
    """Bytes of all parts that are inflated out of one archive, counted while they are inflated."""
    max_rows: int = 200_000
    """Rows with something in them, over all sheets of a workbook."""
    max_cells: int = 2_000_000
    """Cells of those rows with something in them."""
    max_members: int = 5_000
    """Documents within one archive or mail, those of archives in it included."""
    max_member_bytes: int = 1_000_000_000
    """Bytes of all of them, counted while they are inflated."""
    max_depth: int = 3
    """Archives and mails within one another: a mail in an archive, an archive attached to that mail."""
    max_seconds: float = 60.0
    """Of reading one document, by the clock and of processor time."""
    max_memory_bytes: int = 600_000_000
    """Of the process that reads a document."""
    max_output_bytes: int = 200_000_000
    """Of what that process hands back at once: a text with its shape, or one document out of an archive."""
