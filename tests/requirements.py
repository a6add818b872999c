"""The promises of the article and of the design, each with an id that a test must name.

`C-...` is Part 1 (compiling), `N-...` Parts 2 and 3 (navigating), `P-...` paying and deleting. `test_requirements.py` fails for an id
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

NAVIGATING: dict[str, str] = {
    "N-01": "The navigator has exactly one tool, get_document, described as in the article.",
    "N-02": "get_document returns path, content, node_type, children and doc_id.",
    "N-03": "A path is taken from the root, relative to the node just read, without suffix, or as a doc id.",
    "N-04": "A path that names no node gives no such node with the valid children; nothing is guessed.",
    "N-05": "No path leaves the version; hostile paths get the same answer as wrong ones.",
    "N-06": "The run goes on while the model wants the tool and ends when it only writes.",
    "N-07": "A ninth fetch ends the run as fetch_limit, with the not-found sentence and where was looked.",
    "N-08": "Where the limits say so, the model has one last word without tools at the fetch limit.",
    "N-09": "Every path asked for is a fetch, wrong ones too; the prefetched root and unknown tools are not.",
    "N-10": "Each visit keeps the node, its position, the reason and the time since the visit before.",
    "N-11": "The reason is what the model wrote before the call; where it wrote nothing, that is said.",
    "N-12": "Several calls in one reply are served in order and share its words; the first carries its time.",
    "N-13": "Evidence is the leaves read; citations are among them, and others are struck out and counted.",
    "N-14": "Markers of sources never reach voice or the history.",
    "N-15": "Not found is what the model declares at the head of its answer, in either language.",
    "N-16": "An answer without a leaf, or without any fetch, is an answer.",
    "N-17": "On the first turn the root is read before the model is asked, as if it had asked for it.",
    "N-18": "On later turns nothing is read before the model asks.",
    "N-19": "Earlier turns stand first in the history: what was asked and answered, nothing of how.",
    "N-20": "The history comes from our own records, never from the asker.",
    "N-21": "The history is bounded; the oldest turns are left out and counted.",
    "N-22": "While it runs, a run tells of each round, each piece of text and each visit.",
    "N-23": "A listener that fails changes nothing.",
    "N-24": "However a run ends, exactly one record is written, with the trail so far and the outcome.",
    "N-25": "A cancelled run is recorded first: interrupted at a barge-in, cancelled otherwise.",
    "N-26": "Rounds and runs that take too long end as timed_out.",
    "N-27": "Empty blocks are not sent back to the model; signed thinking goes back untouched.",
    "N-28": "An unknown tool is answered with what there is; the second in a row ends the run.",
    "N-29": "Every call has its result; malformed ones are answered with an error and bounded.",
    "N-30": "The third request for the same wrong path ends the run as tool_misuse.",
    "N-31": "Each channel has its own output cap and instructions.",
    "N-32": "An empty reply is asked once more, then the run ends as model_failed.",
    "N-33": "Output cut within a call is an error to be retried; a cut answer is marked in the record.",
    "N-34": "A refusal of the provider ends the run as refused.",
    "N-35": "A broken stream drops the draft and is tried once more, then the run ends as model_failed.",
    "N-36": "A tree that cannot be read ends the run as tree_unavailable.",
    "N-37": "Anything unexpected is recorded with its class and then raised.",
    "N-38": "An empty or over-long question is refused before anything begins.",
    "N-39": "The answer is in the question's language where that is ja or en, else in the corpus's.",
    "N-40": "A run stays on the version it began with, and its record says which.",
    "N-41": "Every outcome without an answer has one fixed sentence per language and channel.",
    "N-42": "Document text is data: it reaches the model inside a tool result, and the model is told so.",
    "N-43": "Within a run the history only grows; instructions and tools stay as they are.",
    "N-44": "An unavailable model is tried again within the run's time, the draft dropped; one that cannot be used is not.",
    "N-45": "What a window has no room for is left out, the history first, and model and record are told so.",
    "N-46": "A round that could go over a spending limit of question, session or day is not begun: the outcome is budget.",
    "N-47": "Later rounds and runs find their beginning in the provider's cache; the record has cached tokens and money.",
    "N-48": "Whatever a provider does ends in the outcome that is named for it, and it takes all that it is sent.",
    "N-49": "What a listener takes of a run's time does not count against its limits.",
    "N-50": "Quotations in an answer are checked word for word against the leaves read, and the record says which hold.",
}
"""Parts 2 and 3 of the article, and what design.md adds to them."""

PAYING: dict[str, str] = {
    "P-19": "`remove` takes a document out of the next version and the result store, and it stays out.",
    "P-20": "With `--purge` old versions and records lose its text too, and it is said what no longer opens.",
}
"""What design.md says of paid calls, and of deleting."""

REQUIREMENTS: dict[str, str] = {**COMPILING, **NAVIGATING, **PAYING}
