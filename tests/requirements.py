"""The promises of the article and of the design, each with an id that a test must name.

`C-...` is Part 1 (compiling), `N-...` Parts 2 and 3 (navigating). `test_requirements.py` fails for an id
without a test and for a test that names an unknown id.
"""

from __future__ import annotations

COMPILING: dict[str, str] = {
    "C-01": "A compile runs the six stages in their order and ends with the new version active.",
    "C-02": "Text that cannot be decoded is refused before anything that costs.",
    "C-03": "Text that is empty is refused before anything that costs.",
    "C-04": "A refused source never stops the others, and is named.",
    "C-05": "A source that is refused now keeps its last good text; one gone from its folder is removed.",
    "C-06": "More than a fifth of the sources going needs a confirmation.",
    "C-07": "Chunks are ordered, disjoint spans with only white space between them.",
    "C-08": "Paragraphs are packed by the article's loop (1,500 / 40, settable).",
    "C-09": "A short text without a blank line is one chunk.",
    "C-10": "No sentence is cut where a sentence or line end lies before the limit.",
    "C-11": "A table row is never cut, and later pieces keep the header row beside them.",
    "C-12": "A tail under the minimum joins the chunk before it.",
    "C-13": "A bare heading is no chunk of its own.",
    "C-14": "A list of choices joins what follows; where nothing follows its summary says so.",
    "C-15": "A chunk remembers its headings, pages and span.",
    "C-16": "An unchanged chunk keeps its number; no number is used again.",
    "C-17": "A renamed file costs nothing.",
    "C-18": "Every chunk gets a title of at most 40 and a summary of at most 160 characters.",
    "C-19": "A failed summary is never made up: the compile fails and the active version stays.",
    "C-20": "Grouping sees titles and summaries, and every chunk ends up in exactly one group.",
    "C-21": "Ids that a grouping loses, doubles or invents are put right by rule, and counted.",
    "C-22": "No node is wider and no path longer than the limits, and settings that cannot fit are refused.",
    "C-23": "Slugs are [a-z0-9-], 1 to 48, unique among siblings; titles keep the Japanese.",
    "C-24": "Twins stay leaves, side by side, and are named as equal.",
    "C-25": "The tree is folders and text files: every leaf is reachable from the root by links, none twice.",
    "C-26": "A leaf is title, summary, rule and the original text, never rewritten.",
    "C-27": "The same input, settings and predecessor give byte-identical node files.",
    "C-28": "A recompile keeps unchanged groups and leaves every untouched node file byte-identical.",
    "C-29": "A summary is not made again for an unchanged chunk.",
    "C-30": "A version is written beside the others and switched to in one step.",
    "C-31": "Whatever fails or is killed, the active version stays whole.",
    "C-32": "Two compiles of one corpus never mix.",
    "C-33": "A version can be checked from its files alone, and a fault names the file.",
}
"""Part 1 of the article, and what design.md adds to it."""

NAVIGATING: dict[str, str] = {}
"""Parts 2 and 3 of the article, and what design.md adds to them."""

REQUIREMENTS: dict[str, str] = {**COMPILING, **NAVIGATING}
