"""JSON lines to shingles, by the definitions of lookalike, as fast as Python does it.

What the programs compared by bench-peers.sh have in common: they read documents, cut them to tokens
and shingles, and set exact duplicates aside. Their CPU time includes all of it, so it is written
for speed: bytes.translate and str.split for ASCII, regular expressions only for the words that need
them, and shingles as slices of the canonical document.
"""
import hashlib
import itertools
import re

import orjson
import regex

# ASCII to lower case, the apostrophe to itself, all else that is no letter or digit to a space.
# Bytes of longer characters stay.
_TABLE = bytes(
    byte if byte > 127 or byte == ord("'") or chr(byte).isdigit()
    else ord(chr(byte).lower()) if chr(byte).isalpha()
    else ord(" ")
    for byte in range(256)
)
# An apostrophe that is not between two letters or digits. (It begins with a literal, which the
# engine looks for quickly.)
_LONE_APOSTROPHE = re.compile(r"'(?:(?![0-9a-z])|(?<![0-9a-z]'))")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_OWN = r"[[\p{Han}\p{Hiragana}\p{Katakana}]--\p{M}]"
_WORD = rf"[[\p{{Alphabetic}}\p{{N}}]--{_OWN}]"
_MORE = rf"[{_WORD}\p{{M}}]*"
_TOKEN = regex.compile(rf"{_WORD}{_MORE}(?:'{_WORD}{_MORE})*|{_OWN}\p{{M}}*", regex.VERSION1)
_SEPARATORS = regex.compile(rf"[^\p{{Alphabetic}}\p{{N}}\p{{M}}\p{{Han}}\p{{Hiragana}}\p{{Katakana}}']+")


class _Simplified(dict):
    """A run of characters beyond ASCII -> the same with its separators as one space each run."""

    def __missing__(self, run):
        text = _SEPARATORS.sub(" ", run.replace("\u2019", "'"))
        if len(self) < 100_000:
            self[run] = text
        return text


_simplified = _Simplified()


def tokens(text):
    """The tokens of a text, in order."""
    if not text.isascii():
        # Most documents that are not ASCII have only its dashes and quotes.
        text = _NOT_ASCII.sub(lambda match: _simplified[match[0]], text)
    ascii_only = text.isascii()
    text = text.encode().translate(_TABLE).decode()
    if ascii_only:
        if "'" in text:
            text = _LONE_APOSTROPHE.sub(" ", text)
        return text.split()
    found = []
    for word in text.split():
        if word.isascii() and "'" not in word:
            found.append(word)
        else:
            # Lower-cased character by character: no sigma becomes a final one.
            found.extend(_TOKEN.findall(word.replace("\u03a3", "\u03c3").lower()))
    return found


def shingles(words, canonical, size):
    """All shingles, repeated ones too; a document of fewer tokens is one shingle.

    As str or as bytes, whichever both arguments are.
    """
    if len(words) <= size:
        return [canonical]
    ends = list(itertools.accumulate(map(len, words), lambda end, length: end + 1 + length))
    starts = itertools.chain((0,), (end + 1 for end in ends))
    return [canonical[start:end] for start, end in zip(starts, ends[size - 1:])]


def representatives(path, size, md5s, as_bytes=False):
    """(number, shingles) of every document that is not empty and is the first of its MD5.

    All documents are noted in `md5s`, as (docno, md5); their numbers are their places there.
    """
    seen = set()
    with open(path, "rb") as file:
        for line in file:
            row = orjson.loads(line)
            words = tokens(row["text"])
            canonical = " ".join(words)
            encoded = canonical.encode()
            md5 = hashlib.md5(encoded).digest()
            md5s.append((row["id"], md5))
            if md5 in seen:
                continue
            seen.add(md5)
            if not words:
                continue
            if as_bytes:
                yield len(md5s) - 1, shingles(encoded.split(), encoded, size)
            else:
                yield len(md5s) - 1, shingles(words, canonical, size)


def batches(documents, most):
    """Lists of documents of about so many shingles together."""
    batch, count = [], 0
    for document in documents:
        batch.append(document)
        count += len(document[1])
        if count >= most:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def write(directory, md5s, pairs):
    """documents.tsv (docno, md5) and pairs.tsv (docno, docno, estimate) of representatives."""
    with open(f"{directory}/documents.tsv", "w", encoding="utf-8") as file:
        for docno, md5 in md5s:
            file.write(f"{docno}\t{md5.hex()}\n")
    with open(f"{directory}/pairs.tsv", "w", encoding="utf-8") as file:
        for a, b, estimate in pairs:
            file.write(f"{md5s[a][0]}\t{md5s[b][0]}\t{estimate:.6f}\n")
