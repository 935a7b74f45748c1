#!/usr/bin/env python3
"""List near-duplicate documents by brute force: what lookalike must find.

    oracle.py INPUT...                              the pair list, as TSV on standard output
    oracle.py --threshold 0.85 trec-web/a.gz
    oracle.py --list exact INPUT...                 the exact duplicates
    oracle.py --list documents INPUT...             words, shingles and MD5 of every document
    oracle.py --pages provenance.tsv INPUT...       says which pairs are versions of one page

This is a second implementation of the definitions, written to be read and checked by eye. It
shares no code and no idea with the Rust program: documents are tokens in a list, shingles are
strings in a Python set, and every document is compared with every other. It is slow, it holds
everything in memory, and it reads only well-formed input: a file that is damaged stops it.

An INPUT is a file or a directory; each one is a collection of its own. The format follows from
the name: .trec .sgm (TREC SGML, Reuters-21578), .gz (TREC web bundle), .warc.gz .warc.wet.gz
.warc.zst, .jsonl .jsonl.zst, .mbox .mbox.gz, and any other file or directory: .html files, .eml
messages, and else plain text.
Compressed as .gz, .bz2 or .zst.

Definitions
  text       Markup is reduced to text with html.parser: script, style and comments are dropped,
             the title stays, entities are decoded. A tag separates words unless it is one of the
             INLINE set below. Of TREC SGML only HEAD and TEXT are text, of Reuters only TITLE
             and BODY (all of TEXT where there is no BODY); the dateline is not. Of mail only the
             subject and the parts of text/plain that are not attached are text; where there are
             none, those of text/html.
  token      A maximal run of letters and digits with their combining marks, in lower case and
             canonical composition; an apostrophe (' or U+2019, both written ') between two of them
             stays inside. Each Han, Hiragana or Katakana character is a token of its own.
             Characters that nobody sees (IGNORABLE below) are dropped before.
  canonical  The tokens joined by one space. Two documents with the same canonical text are exact
  document   duplicates; the first of them represents the others and is the only one compared.
  shingle    w tokens in a row, joined by one space; a document of fewer tokens has one shingle,
             all of them. A document is the *set* of its shingles.
  pair       Two representatives A and B with |A and B| / |A or B| >= threshold, in exact
             arithmetic.

Python 3.9 or later and its standard library; .zst files need Python 3.14 or the `zstd` command.
"""
import argparse
import bz2
import email
import email.policy
import fractions
import functools
import gzip
import hashlib
import html.parser
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
import zlib

# ------------------------------------------------------------------------------------- tokens

# The three scripts without spaces (Unicode Scripts.txt). The prolonged sound mark U+30FC and
# U+3006 belong to the script Common and are not here.
OWN_TOKEN = (
    (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5),  # Han: radicals
    (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),  # Han: marks, numerals
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9), (0x20000, 0x323AF),  # Han: ideographs
    (0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11F), (0x1B150, 0x1B152),
    (0x1F200, 0x1F200),  # Hiragana
    (0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE), (0x3300, 0x3357),
    (0xFF66, 0xFF6F),  # Katakana
    (0xFF71, 0xFF9D), (0x1B000, 0x1B000), (0x1B164, 0x1B167),
)
# Symbols that Unicode calls alphabetic: circled and squared Latin letters.
ALPHABETIC_SYMBOLS = (
    (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189),
)


# Default-ignorable code points (Unicode DerivedCoreProperties.txt).
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@functools.lru_cache(maxsize=None)
def char_class(char):
    """"own", "word", "mark", "apostrophe" or "other"."""
    if char in "'\u2019":
        return "apostrophe"
    code = ord(char)
    category = unicodedata.category(char)[0]
    if category == "M":
        return "mark"
    if any(first <= code <= last for first, last in OWN_TOKEN):
        return "own"
    if category in "LN" or any(first <= code <= last for first, last in ALPHABETIC_SYMBOLS):
        return "word"
    return "other"


def tokens(text):
    """The tokens of a text, in order."""
    text = unicodedata.normalize("NFC", IGNORABLE.sub("", text))
    found = []
    token = ""  # the one being collected
    growing = False  # whether more letters may join it
    for position, char in enumerate(text):
        kind = char_class(char)
        if kind == "mark" and token:
            token += char.lower()
        elif kind == "word":
            if token and not growing:
                found.append(token)
                token = ""
            token += char.lower()
            growing = True
        elif kind == "own":
            if token:
                found.append(token)
            token = char.lower()
            growing = False
        elif (
            kind == "apostrophe"
            and token
            and growing
            and char_class(text[position + 1: position + 2] or " ") == "word"
        ):
            token += "'"
        else:
            if token:
                found.append(token)
            token = ""
            growing = False
    if token:
        found.append(token)
    return [unicodedata.normalize("NFC", token) for token in found]


def shingles(words, size):
    """The set of shingles of a list of tokens."""
    if not words:
        return frozenset()
    last = max(len(words) - size, 0)
    return frozenset(" ".join(words[i:i + size]) for i in range(last + 1))


# --------------------------------------------------------------------------------------- text

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr output "
    "q rp rt ruby s samp small span strike strong sub sup time tt u var wbr".split()
)


class TextExtractor(html.parser.HTMLParser):
    """Collects the text of markup; a tag that separates words leaves a line break."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.pieces = []
        self.dropped = None  # the script or style element we are in

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style"):
            self.dropped = tag
        if tag not in INLINE:
            self.pieces.append("\n")

    def handle_startendtag(self, tag, attrs):
        if tag not in INLINE:
            self.pieces.append("\n")

    def handle_endtag(self, tag):
        if tag == self.dropped:
            self.dropped = None
        if tag not in INLINE:
            self.pieces.append("\n")

    def handle_data(self, data):
        if self.dropped is None:
            self.pieces.append(data)


def markup_to_text(markup):
    """The text of HTML, XHTML or SGML markup."""
    extractor = TextExtractor()
    extractor.feed(markup)
    extractor.close()
    return "".join(extractor.pieces)


# Labels as the Encoding Standard reads them, where Python's codec of that name is another one.
CODECS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "shift_jis": "cp932", "euc-kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030",
    "iso-8859-9": "cp1254", "tis-620": "cp874", "utf-16": "utf-16-le",
}
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decode(body, label, is_markup):
    """Bytes to text: byte order mark, then the declared charset, then UTF-8."""
    for bom, codec in BOMS:
        if body.startswith(bom):
            return body[len(bom):].decode(codec)
    head = body[:1024].decode("latin-1")
    if not label and is_markup:
        declared = re.match(r"<\?xml[^>]*encoding=[\"']([^\"']+)", head)
        declared = declared or re.search(r"<meta[^>]+charset=[\"']?([\w.:-]+)", head, re.I)
        label = declared and declared.group(1)
        if label and label.lower().startswith("utf-16"):
            label = "utf-8"  # it was read as ASCII, so it is not UTF-16
    label = (label or "utf-8").strip("\"' ").lower()
    return body.decode(CODECS.get(label, label))


# ------------------------------------------------------------------------------------ reading


def open_bytes(path):
    """The bytes of a file, decompressed where its name says that it is compressed."""
    with open(path, "rb") as file:
        stored = file.read()
    if path.endswith(".gz"):
        return gzip.decompress(stored)
    if path.endswith(".bz2"):
        return bz2.decompress(stored)
    if path.endswith(".zst"):
        try:
            from compression import zstd  # Python 3.14
            return zstd.decompress(stored)
        except ImportError:
            pass
        try:
            command = ["zstd", "-dcq"]
            return subprocess.run(command, input=stored, stdout=subprocess.PIPE, check=True).stdout
        except FileNotFoundError:
            sys.exit(f"{path}: no `zstd` command to read it with; install the package zstd")
    return stored


def header_value(lines, name):
    """The value of a header line, or None."""
    for line in lines:
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == name:
            return value.strip()
    return None


def content_type(value):
    """(is it markup, the declared charset or None) of a Content-Type value."""
    charset = re.search(r"charset=[\"']?([\w.:-]+)", value or "", re.I)
    return not (value or "").lower().startswith("text/plain"), charset and charset.group(1)


def element(record, name):
    """The content of the first element of this name in a TREC record, or None."""
    found = re.search(rb"<" + name + rb"\b[^>]*>(.*?)</" + name + rb">", record, re.S)
    return found and found.group(1)


def read_trec(data):
    """TREC web (has a DOCHDR) and TREC SGML (has elements): (docno, text)."""
    for record in re.findall(rb"^<DOC>(.*?)^</DOC>", data, re.S | re.M):
        docno = element(record, b"DOCNO").decode().strip()
        header = element(record, b"DOCHDR")
        if header is None:
            parts = [element(record, b"HEAD"), element(record, b"TEXT")]
            yield docno, markup_to_text(decode(b"\n".join(p for p in parts if p), None, False))
            continue
        is_markup, charset = content_type(
            header_value(header.decode("latin-1").split("\n")[2:], "content-type")
        )
        body = record.split(b"</DOCHDR>", 1)[1]
        text = decode(body.lstrip(b"\n"), charset, is_markup)
        yield docno, markup_to_text(text) if is_markup else text


def read_reuters(data):
    """Reuters-21578: TITLE and BODY, or all of TEXT where it has no BODY."""
    stories = re.findall(rb"<REUTERS[^>]*NEWID=\"(\d+)\"[^>]*>(.*?)</REUTERS>", data, re.S)
    for number, record in stories:
        parts = [element(record, b"TITLE"), element(record, b"BODY")]
        if parts[1] is None:
            parts = [element(record, b"TEXT")]
        text = b"\n".join(p for p in parts if p)
        yield number.decode(), markup_to_text(decode(text, None, False))


def unchunk(body):
    """Undoes the chunked transfer encoding."""
    source, whole = io.BytesIO(body), b""
    while True:
        size = int(source.readline().split(b";")[0], 16)
        if size == 0:
            return whole
        whole += source.read(size)
        source.readline()


def read_warc(data):
    """WARC: successful responses that are text, and conversions."""
    position = 0
    while position < len(data):
        end = data.index(b"\r\n\r\n", position)
        lines = data[position:end].decode("utf-8").split("\r\n")
        length = int(header_value(lines, "content-length"))
        block = data[end + 4: end + 4 + length]
        position = end + 4 + length + 4  # two line ends follow a record
        docno = header_value(lines, "warc-trec-id")
        docno = docno or header_value(lines, "warc-record-id")[len("<urn:uuid:"):-1]
        kind = header_value(lines, "warc-type")
        if kind == "conversion":
            yield docno, decode(block, None, False)
        if kind != "response":
            continue
        head, body = block.split(b"\r\n\r\n", 1)
        http = head.decode("latin-1").split("\r\n")
        mime = header_value(http, "content-type") or ""
        if not http[0].split()[1].startswith("2") or mime.startswith("image/"):
            continue
        if header_value(http, "transfer-encoding") == "chunked":
            body = unchunk(body)
        if header_value(http, "content-encoding") == "gzip" and body.startswith(b"\x1f\x8b"):
            body = gzip.decompress(body)
        if header_value(http, "content-encoding") == "deflate":
            body = zlib.decompress(body)
        is_markup, charset = content_type(mime)
        text = decode(body, charset, is_markup)
        yield docno, markup_to_text(text) if is_markup else text


def read_jsonl(data):
    """JSON lines: `html` is markup, `text` is text."""
    for line in data.decode("utf-8").splitlines():
        row = json.loads(line)
        yield row["id"], markup_to_text(row["html"]) if "html" in row else row["text"]


def text_parts(part, mime, outermost=True):
    """The parts of a message with this type that are not attached, decoded."""
    if part.get_content_disposition() == "attachment" and not outermost:
        return
    if part.is_multipart():
        for inner in part.get_payload():
            yield from text_parts(inner, mime, False)
    elif part.get_content_type() == mime:
        yield decode(part.get_payload(decode=True), part.get_content_charset(), mime == "text/html")


def read_message(data):
    """A message, by the mail package of the standard library: (docno, text)."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    subject = str(message["subject"] or "")
    plain = "\n".join(text_parts(message, "text/plain"))
    if not plain.strip():
        plain = markup_to_text("\n".join(text_parts(message, "text/html")))
    return str(message["message-id"]).strip("<> "), f"{subject}\n{plain}"


def read_mbox(data):
    """mbox: messages between lines of `From `, of which those in a text have one more `>`."""
    for message in re.split(rb"(?m)^From .*\n", data)[1:]:
        yield read_message(re.sub(rb"(?m)^>(>*From )", rb"\1", message))


def read_plain(path):
    """A file, or the files of a directory in the order of their paths: HTML and mail by name, else text."""
    files = [path]
    if os.path.isdir(path):
        files = sorted(os.path.join(d, name) for d, _, names in os.walk(path) for name in names)
    for name in files:
        body = open_bytes(name)
        docno = os.path.relpath(name, path) if name != path else os.path.basename(name)
        is_markup = name.endswith((".html", ".htm"))
        if not body or (b"\0" in body and not body.startswith((b"\xff\xfe", b"\xfe\xff"))):
            continue  # empty, or not text
        if name.endswith(".eml"):
            yield read_message(body)
            continue
        text = decode(body, None, is_markup)
        yield docno, markup_to_text(text) if is_markup else text


def read_documents(path):
    """(docno, text) of every document of an input, in input order."""
    if os.path.isdir(path):
        return read_plain(path)
    if re.search(r"\.warc(\.wet)?(\.gz|\.zst)?$", path):
        return read_warc(open_bytes(path))
    if re.search(r"\.jsonl(\.gz|\.zst)?$", path):
        return read_jsonl(open_bytes(path))
    if re.search(r"\.mbox(\.gz)?$", path):
        return read_mbox(open_bytes(path))
    if re.search(r"(\.trec|\.sgml?)(\.gz|\.bz2)?$", path) or path.endswith(".gz"):
        data = open_bytes(path)
        return read_reuters(data) if b"<REUTERS" in data else read_trec(data)
    return read_plain(path)


# ---------------------------------------------------------------------------------- comparing


class Document:
    """A document as its definitions see it."""

    def __init__(self, docno, text, size):
        words = tokens(text)
        self.docno = docno
        self.words = len(words)
        self.md5 = hashlib.md5(" ".join(words).encode("utf-8")).hexdigest()
        self.shingles = shingles(words, size)
        self.representative = self


def collection(path, size):
    """All documents of an input; exact duplicates know their representative."""
    documents = [Document(docno, text, size) for docno, text in read_documents(path)]
    first = {}
    for document in documents:
        document.representative = first.setdefault(document.md5, document)
    return documents


def pairs(documents, threshold):
    """(a, b, shared) of all pairs of representatives at or above the threshold."""
    alone = [d for d in documents if d.representative is d and d.shingles]
    for i, a in enumerate(alone):
        for b in alone[i + 1:]:
            shared = len(a.shingles & b.shingles)
            union = len(a.shingles) + len(b.shingles) - shared
            if shared * threshold.denominator >= threshold.numerator * union:
                yield a, b, shared


def pair_rows(corpus, documents, threshold, pages):
    """The lines of the pair list."""
    for a, b, shared in pairs(documents, threshold):
        kind = "-"
        if pages:
            page = pages.get((corpus, a.docno))
            kind = "version" if page and page == pages.get((corpus, b.docno)) else "other"
        yield a.docno, b.docno, shared, len(a.shingles), len(b.shingles), kind


def read_pages(path):
    """(corpus, docno) -> the page that the document is a version of."""
    pages = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                corpus, docno, page = line.rstrip("\n").split("\t")[:3]
                pages[corpus, docno] = page
    return pages


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="a file or a directory")
    parser.add_argument("--list", choices=["pairs", "exact", "documents"], default="pairs")
    parser.add_argument("--threshold", type=fractions.Fraction, default=fractions.Fraction("0.5"),
                        help="least resemblance, as 0.85 or 17/20 [0.5]")
    parser.add_argument("--shingle-size", type=int, default=10, help="words in a shingle [10]")
    parser.add_argument("--pages", metavar="FILE",
                        help="TSV of corpus, docno, page: a pair of one page is of kind `version`")
    parser.add_argument("--root", default=".", help="the directory that INPUTs are named from [.]")
    args = parser.parse_args()
    if not 0 < args.threshold <= 1:
        parser.error("--threshold must be above 0 and at most 1")
    if args.shingle_size < 1:
        parser.error("--shingle-size must be at least 1")
    for path in args.inputs:
        if not os.path.exists(os.path.join(args.root, path)):
            parser.error(f"{path}: no such file or directory (inputs are named from --root)")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")

    pages = read_pages(args.pages) if args.pages else {}
    columns = {
        "pairs": "docno_a docno_b shared shingles_a shingles_b kind",
        "exact": "docno representative md5",
        "documents": "docno words shingles md5",
    }[args.list]
    print(f"# shingle size: {args.shingle_size}")
    print("# tokens: words")
    if args.list == "pairs":
        print(f"# threshold: {float(args.threshold)}")
    print("\t".join(["corpus"] + columns.split()))
    for path in args.inputs:
        documents = collection(os.path.join(args.root, path), args.shingle_size)
        if args.list == "pairs":
            rows = pair_rows(path, documents, args.threshold, pages)
        elif args.list == "exact":
            rows = [(d.docno, d.representative.docno, d.md5)
                    for d in documents if d.representative is not d]
        else:
            rows = [(d.docno, d.words, len(d.shingles), d.md5) for d in documents]
        for row in rows:
            print(path, *row, sep="\t")


if __name__ == "__main__":
    main()
