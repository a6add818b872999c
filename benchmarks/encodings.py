"""Whether Japanese text comes back as it was, whatever encoding it was saved in, by how little there is of it.

usage: python benchmarks/encodings.py [--texts N] [--wrong N]

Takes the sample corpus and, where the environment names them, the texts under CORPUS2SKILL_DOCUMENTS and
CORPUS2SKILL_PACKS (those that are UTF-8); cuts them to 1, 3 and 10 lines at three places; saves each piece
in every encoding that has all its characters; and reads it back. A piece of ASCII alone is no question.
Ends with 1 where a piece of three lines or more was silently wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from corpus2skill.adapters.extract.text_encoding import decoded
from corpus2skill.errors import SourceRefused

SAMPLES = Path(__file__).parent.parent / "src" / "corpus2skill" / "samples"
LINES = (1, 3, 10)
PLACES = 3
KANA_AND_KANJI = ("\u3040", "\u9fff")
ENCODINGS = {
    "UTF-8": "utf-8",
    "UTF-8, BOM": "utf-8-sig",
    "CP932": "cp932",
    "EUC-JP": "euc_jp",
    "ISO-2022-JP": "iso2022_jp",
    "UTF-16, BOM": "utf-16",
    "UTF-16LE": "utf-16-le",
    "UTF-16BE": "utf-16-be",
}
RIGHT, REFUSED, WRONG = "right", "refused", "wrong"


@dataclass(slots=True)
class Tally:
    counts: Counter[tuple[str, int, str]] = field(default_factory=Counter[tuple[str, int, str]])
    """By encoding, number of lines and outcome."""
    wrong: list[tuple[str, int, str, str]] = field(default_factory=list[tuple[str, int, str, str]])
    refused: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])

    def note(self, encoding: str, lines: int, piece: str) -> None:
        outcome, read = _read_back(piece, ENCODINGS[encoding])
        self.counts[encoding, lines, outcome] += 1
        if outcome == WRONG:
            self.wrong.append((encoding, lines, piece, read))
        elif outcome == REFUSED:
            self.refused.append((encoding, lines, piece))


def main() -> int:
    options = _options()
    tally, began = Tally(), time.perf_counter()
    texts = _texts(options.texts)
    for text in texts:
        for lines, piece in _pieces(text):
            for encoding, codec in ENCODINGS.items():
                if _has_all(piece, codec):
                    tally.note(encoding, lines, piece)
    print(f"{len(texts)} texts, {tally.counts.total()} pieces, {time.perf_counter() - began:.0f} s\n")
    _show_table(tally)
    for kind, found in (("wrong", tally.wrong), ("refused", tally.refused)):
        for encoding, lines, *pieces in found[: options.wrong]:
            print(
                kind, encoding, lines, *(ascii(piece[:40]) + " " + piece[:40] for piece in pieces), sep=" | "
            )
    return 1 if any(lines >= 3 for _, lines, _, _ in tally.wrong) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=600, help="how many texts at most, drawn evenly")
    parser.add_argument("--wrong", type=int, default=10, help="how many wrong and refused pieces to show")
    return parser.parse_args()


def _texts(most: int) -> list[str]:
    """Return the Japanese texts there are, drawn by a fixed seed where there are more."""
    named = [
        os.environ[name] for name in ("CORPUS2SKILL_DOCUMENTS", "CORPUS2SKILL_PACKS") if name in os.environ
    ]
    paths = sorted(
        path for folder in (SAMPLES, *map(Path, named)) for path in folder.rglob("*") if path.is_file()
    )
    random.Random(7).shuffle(paths)
    texts: list[str] = []
    for path in paths:
        if len(texts) == most:
            break
        text = _japanese(path)
        if text is not None:
            texts.append(text)
    return texts


def _japanese(path: Path) -> str | None:
    """Return the text of a file, None for what is no text or has hardly a Japanese character."""
    if path.suffix in {".jsonl", ".json", ".py", ".gz"} or path.stat().st_size > 1_000_000:
        return None
    try:
        text = decoded(path.read_bytes())
    except SourceRefused:
        return None
    first, last = KANA_AND_KANJI
    count = sum(first <= character <= last for character in text)
    return text if count > 0.1 * len(text) else None


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield pieces of a text by their number of lines: from its beginning, its middle and its end."""
    lines = [line for line in text.splitlines() if line.strip()]
    for number in LINES:
        last = len(lines) - number
        for start in sorted({max(last, 0) * place // (PLACES - 1) for place in range(PLACES)}):
            piece = "\n".join(lines[start : start + number]) + "\n"
            if last >= 0 and not piece.isascii():
                yield number, piece


def _has_all(piece: str, codec: str) -> bool:
    try:
        return piece.encode(codec).decode(codec) == piece
    except UnicodeError:
        return False


def _read_back(piece: str, codec: str) -> tuple[str, str]:
    try:
        read = decoded(piece.encode(codec))
    except SourceRefused as refusal:
        return REFUSED, str(refusal)
    return (RIGHT if read == piece else WRONG), read


def _show_table(tally: Tally) -> None:
    print("| encoding | " + " | ".join(f"{lines} lines: right, refused, wrong" for lines in LINES) + " |")
    print("|---|" + "---|" * len(LINES))
    for encoding in ENCODINGS:
        cells: list[str] = []
        for lines in LINES:
            counts = [tally.counts[encoding, lines, outcome] for outcome in (RIGHT, REFUSED, WRONG)]
            cells.append(f"{counts[0]:,} / {counts[1]:,} / {counts[2]:,}")
        print(f"| {encoding} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
