"""What listeners say to show that they listen (相槌). It interrupts nothing."""

from __future__ import annotations

import re
import unicodedata

_WORDS = (
    "はい|ええ|うん|うんうん|ふん|ほう|へえ|へー|ふーん|ああ|あー|おお|そう|そうです|そうですか|そうですね|そうなんですか|そうなんですね"
    "|そうか|そっか|なるほど|なるほどね|わかりました|分かりました|了解です"
    "|yes|yeah|yep|yup|uhhuh|mhm|mmhmm|mm|hm|hmm|ok|okay|right|sure|isee|gotit|ah|oh"
)
_ONLY_THOSE = re.compile(rf"(?:{_WORDS})+")


def is_backchannel(heard: str) -> bool:
    """True where `heard`, said while we speak or look, is only 「はい」, 「なるほど」, "I see" or the like."""
    folded = unicodedata.normalize("NFKC", heard).casefold()
    letters = "".join(char for char in folded if char.isalnum() or char == "ー")
    return _ONLY_THOSE.fullmatch(letters) is not None
