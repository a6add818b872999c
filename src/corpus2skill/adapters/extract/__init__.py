"""From bytes to text: one module a format, and one that chooses."""

from __future__ import annotations

#from corpus2skill.adapters.extract.choose import Extractors
#from corpus2skill.adapters.extract.limits import ExtractLimits

#__all__ = ["ExtractLimits", "Extractors"]
