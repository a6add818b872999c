"""Ids in paths, and names in bodies, as no database takes amiss."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field

Id = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$")]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""One line."""
