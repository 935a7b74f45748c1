#!/usr/bin/env python3
"""Make sample-corpora/: small, real, free collections in every format that lookalike reads.

    build-sample-corpora.py                     writes ../sample-corpora
    build-sample-corpora.py --work /var/tmp/w   keep the packages elsewhere
    build-sample-corpora.py --check             build apart and compare with what is there

The text comes out of Debian's documentation packages, pinned below by version and SHA-256: the
manuals of PostgreSQL, SQLite and the Apache HTTP server, each in several releases, so that most
pages have near-duplicates by nature. Packages are fetched with `apt-get download` under a private
apt directory in --work; nothing is installed and the system's apt state is not touched. A package
that the archive has dropped can be put into --work/debs by hand (snapshot.debian.org keeps all).

With the same packages the output is the same, byte for byte, given the same zlib and zstd
(zstd 1.5.4 made the files at hand). Other versions of them may compress to other bytes; --check
therefore compares what is in the compressed files.

After the corpora it runs oracle.py, which stands beside it, for known-pairs.tsv and
exact-duplicates.tsv, and writes index.toml with what it counted.

Python 3.9 or later and its standard library; apt-get, dpkg-deb and zstd from Debian.
"""
import argparse
import binascii
import bz2
import collections
import filecmp
import hashlib
import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import textwrap
import uuid
import zlib

sys.dont_write_bytecode = True  # no __pycache__ beside the scripts
import oracle  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))

Package = collections.namedtuple("Package", "name version suite licence sha256")
PACKAGES = [
    Package("postgresql-doc-13", "13.16-0+deb11u1", "bullseye", "PostgreSQL",
            "2610eef54ac9ca948a5513f1593d07f4573a0ff1c5d3c5b6c37378452421550c"),
    Package("postgresql-doc-15", "15.18-0+deb12u1", "bookworm", "PostgreSQL",
            "3c598277a463c44d672daa2c335deb8d8252e1852fb025fd4578ea2d9a1b90f0"),
    Package("postgresql-doc-17", "17.11-0+deb13u1", "trixie", "PostgreSQL",
            "495fa1277ad588d36ffb3bc1dd384349638bfd8774e9aca72e0d8b7341f4e3fd"),
    Package("sqlite3-doc", "3.34.1-3", "bullseye", "public domain",
            "31a4d1b351946d25348f580b618b1f638a113908e6e2fa8a35746231848128ac"),
    Package("sqlite3-doc", "3.40.1-2+deb12u2", "bookworm", "public domain",
            "466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2"),
    Package("sqlite3-doc", "3.46.1-7+deb13u2", "trixie", "public domain",
            "67d28cb8ec314c609a6b3bd9d91315276843251635ac7fba52247859e58f742f"),
    Package("apache2-doc", "2.4.62-1~deb11u1", "bullseye", "Apache-2.0",
            "26f58c8a87ef658e1537c8588fe721f7b33a879e782c0e69b63d94bcf5a873b9"),
    Package("apache2-doc", "2.4.68-1~deb12u1", "bookworm", "Apache-2.0",
            "cee8fe80ffb5de2744cd690c3d795b489e43a1c44c4e3a634c521642f22d7835"),
]
POSTGRESQL, SQLITE, APACHE = PACKAGES[0:3], PACKAGES[3:6], PACKAGES[6:8]

# A page of a corpus. `page` names what the versions of one page have in common.
Page = collections.namedtuple("Page", "docno page package path url mime charset body")


def fail(message):
    sys.exit(f"build-sample-corpora.py: {message}")


def log(message):
    print(message, file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------- the packages


def apt_environment(work):
    """An apt of our own, for the suites that the packages are pinned to."""
    base = os.path.join(work, "apt")
    for folder in ("lists/partial", "cache/archives/partial", "empty"):
        os.makedirs(os.path.join(base, folder), exist_ok=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    options = f"[signed-by={keyring}] " if os.path.exists(keyring) else ""
    with open(os.path.join(base, "sources.list"), "w") as file:
        for suite in sorted({package.suite for package in PACKAGES}):
            file.write(f"deb {options}http://deb.debian.org/debian {suite} main\n")
    config = os.path.join(base, "apt.conf")
    with open(config, "w") as file:
        file.write(
            f'Dir::Etc::sourcelist "{base}/sources.list";\n'
            f'Dir::Etc::sourceparts "{base}/empty";\n'
            f'Dir::Etc::preferencesparts "{base}/empty";\n'
            f'Dir::State::lists "{base}/lists";\n'
            f'Dir::Cache "{base}/cache";\n'
            'Acquire::Languages "none";\n'
            'APT::Sandbox::User "root";\n'
        )
    environment = dict(os.environ, APT_CONFIG=config, LC_ALL="C")
    log("apt-get update, in a directory of its own")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["apt-get", "-q", "update"], env=environment, check=False, **quiet)
    return environment


def fetch(work):
    """The path of each package's .deb, downloaded where it is not at hand."""
    debs = os.path.join(work, "debs")
    os.makedirs(debs, exist_ok=True)
    environment = None
    paths = {}
    for package in PACKAGES:
        version = package.version.replace(":", "%3a")
        path = os.path.join(debs, f"{package.name}_{version}_all.deb")
        if not os.path.exists(path):
            environment = environment or apt_environment(work)
            log(f"fetching {package.name} {package.version}")
            subprocess.run(["apt-get", "-q", "download", f"{package.name}={package.version}"],
                           cwd=debs, env=environment, check=False, stdout=subprocess.DEVNULL)
        if not os.path.exists(path):
            fail(f"{package.name} {package.version} cannot be had from the archive;\n"
                 f"put it into {path} by hand (snapshot.debian.org has every version)")
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        if digest != package.sha256:
            fail(f"{path} has SHA-256 {digest}, expected {package.sha256}; delete it and repeat")
        paths[package] = path
    return paths


def unpack(path):
    """The HTML pages of a package: path below the manual's directory -> bytes."""
    pages = {}
    command = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=command.stdout, mode="r|") as archive:
        for member in archive:
            found = re.match(r"\./usr/share/doc/[^/]+/(?:html/|manual/)?(.*\.html)$", member.name)
            if found and member.isfile():
                pages[found.group(1)] = archive.extractfile(member).read()
    if command.wait():
        fail(f"dpkg-deb cannot read {path}; delete it and repeat")
    return pages


# --------------------------------------------------------------------------- writing formats


def deflate(data):
    """A raw deflate stream."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def gzip_member(data):
    """One gzip member. Python's own differs in its header from version to version."""
    header = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    return header + deflate(data) + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def zstd_frame(data):
    """One zstd frame."""
    try:
        command = ["zstd", "-19", "-q", "-c", "--single-thread"]
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
    except FileNotFoundError:
        fail("there is no `zstd` command; install the package zstd")


def hashed(names):
    """The names in the order of their digests: a fixed shuffle."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def trec_web(page, number):
    """A page as a document of a TREC web bundle, in the manner of .GOV."""
    names = ["Date", "Server", "Content-Type", "Content-Length"]
    if number % 3 == 1:  # servers do not agree on capitals
        names = ["date", "server", "content-type", "content-length"]
    values = ["Wed, 01 Jan 2025 00:00:00 GMT", "sample", media_type(page), len(page.body)]
    fields = "".join(f"{name}: {value}\n" for name, value in zip(names, values))
    head = (f"<DOC>\n<DOCNO>{page.docno}</DOCNO>\n<DOCHDR>\n{page.url}\n"
            f"HTTP/1.{number % 2} 200 OK\n{fields}</DOCHDR>\n")
    if b"<DOC>" in page.body or b"</DOC>" in page.body:
        fail(f"{page.path} contains TREC's own tags; choose another page")
    end = b"" if page.body.endswith(b"\n") else b"\n"
    return head.encode() + page.body + end + b"</DOC>\n"


def media_type(page):
    """The value of Content-Type for a page."""
    return f"{page.mime}; charset={page.charset}" if page.charset else page.mime


def record_id(*names):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, " ".join(names)))


def warc_record(version, fields, block):
    """One WARC record; fields are (name, value)."""
    lines = [f"WARC/{version}"] + [f"{name}: {value}" for name, value in fields]
    lines.append(f"Content-Length: {len(block)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def warcinfo(version, file_name):
    block = (b"software: build-sample-corpora.py\r\nformat: WARC File Format "
             + version.encode() + b"\r\n")
    return warc_record(version, [
        ("WARC-Type", "warcinfo"), ("WARC-Date", "2025-01-01T00:00:00Z"),
        ("WARC-Filename", file_name), ("WARC-Record-ID", f"<urn:uuid:{record_id(file_name)}>"),
        ("Content-Type", "application/warc-fields"),
    ], block)


def warc_fields(kind, page, number, content_type, with_trec_id):
    fields = [
        ("WARC-Type", kind),
        ("WARC-Date", f"2025-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"),
    ]
    if with_trec_id and kind == "response":
        fields.append(("WARC-TREC-ID", page.docno))
    fields += [
        ("WARC-Target-URI", page.url),
        ("WARC-Record-ID", f"<urn:uuid:{record_id(kind, page.docno)}>"),
        ("Content-Type", content_type),
    ]
    return fields


def chunked(body):
    """The body in the chunked transfer encoding, in pieces of uneven size."""
    out, position, size = [], 0, 700
    while position < len(body):
        piece = body[position:position + size]
        out.append(b"%x\r\n" % len(piece) + piece + b"\r\n")
        position, size = position + size, size % 5000 + 613
    return b"".join(out) + b"0\r\n\r\n"


def http_response(page, coding):
    """Status line, header and body in one of the codings that crawls hold."""
    fields = [f"Content-Type: {media_type(page)}"]
    body = page.body
    if coding == "gzip":
        body = gzip_member(body)
        fields.append("Content-Encoding: gzip")
    elif coding == "deflate":
        body = zlib.compress(body, 9)
        fields.append("Content-Encoding: deflate")
    elif coding == "gzip, already decoded":
        fields.append("Content-Encoding: gzip")
    elif coding == "gzip and chunked":
        body = chunked(gzip_member(body))
        fields += ["Content-Encoding: gzip", "Transfer-Encoding: chunked"]
    elif coding == "chunked":
        body = chunked(body)
        fields.append("transfer-encoding: chunked")
    if "chunked" not in coding:
        fields.append(f"Content-Length: {len(body)}")
    return ("HTTP/1.1 200 OK\r\n" + "\r\n".join(fields) + "\r\n\r\n").encode() + body


CODINGS = ["plain", "chunked", "gzip", "plain", "deflate", "gzip and chunked"]
# One pixel, black, with NUL bytes in it as every PNG has.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e527ded40000000049454e44ae426082"
)


def warc_records(pages, version, file_name, with_trec_id):
    """The records of a WARC file: (kind, bytes)."""
    response_type = "application/http; msgtype=response"
    yield "warcinfo", warcinfo(version, file_name)
    for number, page in enumerate(pages):
        if number % 3 == 0:
            host, path = page.url[len("http://"):].split("/", 1)
            block = f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: sample\r\n\r\n".encode()
            request_type = "application/http; msgtype=request"
            fields = warc_fields("request", page, number, request_type, with_trec_id)
            yield "request", warc_record(version, fields, block)
        coding = "gzip, already decoded" if number in (10, 40) else CODINGS[number % len(CODINGS)]
        fields = warc_fields("response", page, number, response_type, with_trec_id)
        yield "response", warc_record(version, fields, http_response(page, coding))
        if number % 5 == 0:
            block = b"fetchTimeMs: 12\r\n"
            fields = warc_fields("metadata", page, number, "application/warc-fields", with_trec_id)
            yield "metadata", warc_record(version, fields, block)
        if number == 20:
            fields = warc_fields("revisit", pages[0], number, response_type, with_trec_id)
            profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
            fields.insert(4, ("WARC-Profile", profile))
            block = b"HTTP/1.1 304 Not Modified\r\n\r\n"
            yield "revisit", warc_record(version, fields, block)
    others = [
        ("missing", b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"
                    b"<html><title>404</title><p>There is no such page.</html>"),
        ("moved", b"HTTP/1.1 301 Moved Permanently\r\nLocation: /\r\n\r\n"),
        ("pixel", b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + PNG),
    ]
    for name, block in others:
        page = Page(name, None, None, None, f"http://docs.example/{name}", None, None, b"")
        fields = warc_fields("response", page, 0, response_type, with_trec_id)
        yield name, warc_record(version, fields, block)


def wet_records(pages, file_name):
    """The records of a WET file: the text of each page as a conversion."""
    yield "warcinfo", warcinfo("1.0", file_name)
    for number, page in enumerate(pages):
        fields = warc_fields("conversion", page, number, "text/plain", False)
        original = record_id("response", page.docno)
        fields.insert(3, ("WARC-Refers-To", f"<urn:uuid:{original}>"))
        text = "\n".join(paragraphs(page_text(page))) + "\n"
        yield "conversion", warc_record("1.0", fields, text.encode())


def page_text(page):
    """The decoded markup of a page."""
    return oracle.decode(page.body, page.charset, page.mime == "text/html")


def paragraphs(markup):
    """The text of markup, a paragraph an item, white space folded."""
    extractor = oracle.TextExtractor()
    extractor.feed(markup)
    extractor.close()
    folded = "".join(p if p == "\n" else re.sub(r"\s+", " ", p) for p in extractor.pieces)
    return [line.strip() for line in folded.split("\n") if line.strip()]


def wrapped(lines, width=72, indent=""):
    """Paragraphs as lines of newspaper width."""
    return "\n".join(
        textwrap.fill(line, width, initial_indent=indent, break_long_words=False,
                      break_on_hyphens=False)
        for line in lines
    )


def sgml(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def trec_sgml(docno, file_id, head, lines, tagged):
    """A document in the manner of the TREC disks: AP, or with paragraph tags as the LA Times."""
    if tagged:
        body = "\n".join(f"<P>\n{wrapped([sgml(line)])}\n</P>" for line in lines)
    else:
        body = wrapped([sgml(line) for line in lines], indent="   ")
    return (f"<DOC>\n<DOCNO> {docno} </DOCNO>\n<FILEID>{file_id}</FILEID>\n"
            f"<HEAD>{sgml(head)}</HEAD>\n<DATELINE>CHARLOTTE, N.C. </DATELINE>\n<TEXT>\n{body}\n</TEXT>\n</DOC>\n").encode()


# Ways to write a message: the parts that it is made of.
MESSAGES = ["plain 8bit", "plain legacy", "alternative", "html base64", "attachments", "digest",
            "html legacy", "bare"]
LEGACY = {"de": "iso-8859-1", "en": "us-ascii", "es": "iso-8859-15", "fr": "windows-1252",
          "ja": "iso-2022-jp", "ko": "euc-kr", "pt-br": "iso-8859-1", "ru": "koi8-r",
          "tr": "iso-8859-9", "zh-cn": "gb2312"}


def encoded_words(text, number):
    """A subject as it may stand in a header: encoded words (RFC 2047) where it is not ASCII."""
    if text.isascii():
        return text
    words, rest = [], text
    while rest:
        size = len(rest)
        while len(rest[:size].encode()) > 42:
            size -= 1
        piece, rest = rest[:size].encode(), rest[size:]
        if number % 2:
            words.append(f"=?utf-8?B?{binascii.b2a_base64(piece, newline=False).decode()}?=")
        else:
            quoted = "".join(chr(b) if chr(b).isalnum() and b < 128 else f"={b:02X}" for b in piece)
            words.append(f"=?UTF-8?Q?{quoted}?=")
    return "\n ".join(words)


def coded(text, charset, way):
    """A part: its fields and its body."""
    codec = CODECS.get(charset, charset)
    try:
        data = text.encode(codec)
    except UnicodeEncodeError:
        charset, data = "utf-8", text.encode()
    kind = "html" if text.startswith("<") else "plain"
    fields = f"Content-Type: text/{kind}; charset={charset}\n"
    if way == "base64":
        body = binascii.b2a_base64(data, newline=False)
        body = b"\n".join(body[at:at + 76] for at in range(0, len(body), 76)) + b"\n"
    elif way == "quoted-printable":
        body = binascii.b2a_qp(data, istext=True)
    else:
        body = data
    return f"{fields}Content-Transfer-Encoding: {way}\n\n".encode() + body


def multipart(kind, boundary, parts):
    """Parts in one body, with its fields."""
    mark = b"--" + boundary.encode()
    head = f'Content-Type: multipart/{kind};\n\tboundary="{boundary}"\n\n'.encode()
    inside = b"".join(mark + b"\n" + part + b"\n" for part in parts)
    return head + b"A message in several parts.\n" + inside + mark + b"--\n"


def message(row, kind, name, number):
    """A page as a message, without the separator of a mailbox."""
    text = wrapped(row["text"].split("\n")[1:]) + "\n"
    paragraphs_ = (f"<p>{html.escape(line)}</p>" for line in row["text"].split("\n")[1:])
    markup = "<html><body>\n" + "\n".join(paragraphs_) + "\n</body></html>\n"
    charset, boundary = LEGACY[row["language"]], f"=_part {number}"
    if kind == "plain 8bit":
        body = coded(text, "utf-8", "8bit")
    elif kind == "plain legacy":
        seven = charset in ("us-ascii", "iso-2022-jp")
        body = coded(text, charset, "7bit" if seven else "quoted-printable")
    elif kind == "alternative":
        body = multipart("alternative", boundary, [coded(text, "utf-8", "base64"),
                                                   coded(markup, "utf-8", "quoted-printable")])
    elif kind == "html base64":
        body = coded(markup, "utf-8", "base64")
    elif kind == "attachments":
        aside = b"Content-Disposition: attachment; filename=aside.txt\n"
        pixel = b"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n"
        pixel += binascii.b2a_base64(PNG)
        body = multipart("mixed", boundary, [
            coded(text, "utf-8", "quoted-printable"), pixel,
            aside + coded("What is attached is no text of the message.\n", "us-ascii", "7bit")])
    elif kind == "digest":
        inner = b"Subject: a part's own subject is no text\n" + coded(text, "utf-8", "8bit")
        body = multipart("digest", boundary, [b"\n" + inner])
    elif kind == "html legacy":
        body = coded(markup, charset, "7bit" if charset == "iso-2022-jp" else "8bit")
    else:
        body = b"\n" + text.encode()  # nothing is declared
    received = (f"Received: from relay{number % 5}.example by lists.example with ESMTP id {number:06};\n"
                f"\tWed, 1 Jan 2025 {number // 60:02}:{number % 60:02}:07 +0000\n")
    head = (f"{received}From: sender@lists.example\nTo: list@lists.example\n"
            f"Date: Wed, 1 Jan 2025 {number // 60:02}:{number % 60:02}:00 +0000\n"
            f"Message-ID: <{name}>\nSubject: {encoded_words(row['title'], number)}\n")
    if kind != "bare":
        head += "MIME-Version: 1.0\n"
    return head.encode() + body


# ----------------------------------------------------------------------------- the collection


class Builder:
    """Writes the corpora below one directory and remembers what index.toml says of them."""

    def __init__(self, out, manuals):
        self.out = out
        self.manuals = manuals  # package -> path -> bytes
        self.entries = []  # of index.toml
        self.broken = []
        self.provenance = []

    def write(self, name, data):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def entry(self, path, form, compression, packages, about, **facts):
        self.entries.append((path, form, compression, packages, about, facts))

    def origin(self, corpus, docno, page, package, path):
        self.provenance.append((corpus, docno, page, package.name, package.version, path))

    # -- PostgreSQL: the same documents in every format

    def postgresql_pages(self, names, first_number):
        """Three versions of each page, shuffled, with a few of them twice."""
        found = []
        for package in POSTGRESQL:
            for name in names:
                url = f"http://docs.example/{package.name}/{name}"
                found.append((url, name, package))
        found.sort(key=lambda item: hashlib.sha256(item[0].encode()).digest())
        for copied in range(0, len(found), 19):  # byte for byte the same page at another address
            url, name, package = found[copied]
            found.append((url.replace("docs.example", "mirror.example"), name, package))
        pages = []
        for number, (url, name, package) in enumerate(found, first_number):
            body = self.manuals[package][name]
            pages.append(Page(f"PG-{number:06}", name, package, name, url, "text/html", None, body))
        return pages

    def choose_postgresql(self):
        """The pages of both bundles: in all three versions, short ones first."""
        manuals = [self.manuals[package] for package in POSTGRESQL]
        common = hashed(set.intersection(*(set(manual) for manual in manuals)))

        def fits(name, least, most):
            return all(least <= len(manual[name]) <= most for manual in manuals)

        short = [name for name in common if fits(name, 2500, 9000)][:30]
        longer = [name for name in common if fits(name, 4000, 45000) and name not in short][:50]
        return short, longer

    def build_postgresql(self):
        short, longer = self.choose_postgresql()
        a = self.postgresql_pages(short, 1)
        b = self.postgresql_pages(longer, 1 + len(a))
        b = [self.as_latin(page) if number % 9 == 4 else page for number, page in enumerate(b)]
        b = [self.as_text(page) if number % 31 == 0 else page for number, page in enumerate(b)]

        self.write("trec-web/a.gz", gzip_member(b"".join(map(trec_web, a, range(len(a))))))
        self.entry("trec-web/a.gz", "trec-web", "gzip", POSTGRESQL,
                   "Manual pages in three versions each, and some of them twice.")
        bundle = b"".join(map(trec_web, b, range(len(b))))
        step = 50_000  # members end where they happen to, not at the end of a document
        members = [bundle[at:at + step] for at in range(0, len(bundle), step)]
        self.write("trec-web/b.gz", b"".join(map(gzip_member, members)))
        self.entry("trec-web/b.gz", "trec-web", f"gzip, {len(members)} members", POSTGRESQL,
                   "Longer manual pages; every ninth in windows-1252, declared in its HTTP "
                   "header against what its meta tag says; six as text/plain.")

        refused = {"HTTP status not 2xx": 2, "not text": 1}
        decoded = {"content encoding broken": 2}
        records = list(warc_records(a, "1.0", "a.warc.gz", True))
        self.write("warc/a.warc.gz", b"".join(gzip_member(data) for _, data in records))
        self.entry("warc/a.warc.gz", "warc", "gzip, one member a record", POSTGRESQL,
                   "The documents of trec-web/a.gz under the same docnos; chunked, gzip and "
                   "deflate bodies; two bodies that were decoded though the header says gzip.",
                   rejects=refused, notices=decoded, skipped=skipped(records))
        part = b[:60]
        records = list(warc_records(part, "1.1", "b.warc.zst", False))
        self.write("warc/b.warc.zst", b"".join(zstd_frame(data) for _, data in records))
        self.entry("warc/b.warc.zst", "warc", "zstd, one frame a record", POSTGRESQL,
                   "The first 60 documents of trec-web/b.gz; docnos are record identifiers.",
                   rejects=refused, notices=decoded, skipped=skipped(records))
        part_of_a = a[:30]
        records = list(wet_records(part_of_a, "c.warc.wet.gz"))
        self.write("warc/c.warc.wet.gz", b"".join(gzip_member(data) for _, data in records))
        self.entry("warc/c.warc.wet.gz", "warc", "gzip, one member a record", POSTGRESQL,
                   "The text of the first 30 documents of trec-web/a.gz as conversion records.",
                   skipped=skipped(records))

        rows = [{"id": page.docno, "url": page.url, "html": page_text(page)} for page in a]
        self.write("jsonl/a.jsonl.zst", zstd_frame(json_lines(rows)))
        self.entry("jsonl/a.jsonl.zst", "jsonl", "zstd", POSTGRESQL,
                   "The documents of trec-web/a.gz under the same docnos, markup in `html`.")
        for page in a:
            self.write(f"files/a/{page.docno}.html", page.body)
        self.entry("files/a", "files", "none", POSTGRESQL,
                   "The documents of trec-web/a.gz; docnos with `.html` behind.")

        for page in a:
            for corpus, end in (("trec-web/a.gz", ""), ("warc/a.warc.gz", ""),
                                ("jsonl/a.jsonl.zst", ""), ("files/a", ".html")):
                self.origin(corpus, page.docno + end, page.page, page.package, page.path)
        for page in b:
            self.origin("trec-web/b.gz", page.docno, page.page, page.package, page.path)
        for page in part:
            docno = record_id("response", page.docno)
            self.origin("warc/b.warc.zst", docno, page.page, page.package, page.path)
        for page in part_of_a:
            docno = record_id("conversion", page.docno)
            self.origin("warc/c.warc.wet.gz", docno, page.page, page.package, page.path)
        return a

    @staticmethod
    def as_latin(page):
        """The page in windows-1252, as its HTTP header says and its meta tag does not."""
        text = re.sub(r"^<\?xml[^>]*\?>\s*", "", page.body.decode("utf-8"))
        body = text.encode("cp1252", "xmlcharrefreplace")
        return page._replace(body=body, charset="ISO-8859-1")

    @staticmethod
    def as_text(page):
        """The text of the page: the same words, so that a copy in HTML is an exact duplicate."""
        body = "\n".join(paragraphs(page_text(page))) + "\n"
        return page._replace(body=body.encode("utf-8"), mime="text/plain", charset=None)

    # -- SQLite: plain text

    def sqlite_pages(self, chosen, packages, first_number, tagged):
        """(bytes, docno, name, package) of pages as TREC SGML, shuffled."""
        found = [(f"{package.version}/{name}", name, package)
                 for package in packages for name in chosen]
        found.sort(key=lambda item: hashlib.sha256(item[0].encode()).digest())
        for number, (_, name, package) in enumerate(found, first_number):
            lines = self.lines(package, name)
            docno = f"SQ{number:04}-{package.version.split('-')[0].replace('.', '')}"
            yield trec_sgml(docno, name, lines[0], lines[1:], tagged), docno, name, package

    def words(self, package, name):
        return oracle.tokens("\n".join(self.lines(package, name)))

    def lines(self, package, name):
        """The paragraphs of a page in UTF-8."""
        return paragraphs(self.manuals[package][name].decode("utf-8"))

    def common_sqlite(self, pattern, packages, most_bytes):
        common = set.intersection(*(set(self.manuals[package]) for package in packages))
        return [name for name in hashed(common) if re.fullmatch(pattern, name)
                and all(len(self.manuals[package][name]) <= most_bytes for package in packages)]

    def build_sqlite(self):
        names = self.common_sqlite(r"(?!doc_|keyword|changes)\w+\.html", SQLITE, 60_000)
        names = [name for name in names if 300 <= len(self.words(SQLITE[0], name)) <= 4000][:40]
        corpus, data = "trec-sgml/sqlite.trec.gz", []
        for record, docno, name, package in self.sqlite_pages(names, SQLITE, 1, False):
            data.append(record)
            self.origin(corpus, docno, name, package, name)
        self.write(corpus, gzip_member(b"".join(data)))
        self.entry(corpus, "trec-sgml", "gzip", SQLITE,
                   "Documentation in three versions each, as text in the manner of AP.")

        packages = [SQLITE[0], SQLITE[2]]
        names = self.common_sqlite(r"c3ref/\w+\.html", packages, 20_000)
        names = [name for name in names if len(self.words(packages[0], name)) <= 500]
        same = [name for name in names
                if self.words(packages[0], name) == self.words(packages[1], name)]
        names = [name for name in names if name not in same][:32] + same[:6]
        corpus, data = "trec-sgml/short.trec.bz2", []
        for record, docno, name, package in self.sqlite_pages(names, packages, 501, True):
            data.append(record)
            self.origin(corpus, docno, name, package, name)
        motto = ("SQLite is a C-language library that implements a small, fast, self-contained, "
                 "high-reliability, full-featured, SQL database engine").split()
        for number, count in enumerate((1, 1, 2, 5, 6, 7, 8, 8, 9)):
            # HEAD and TEXT together make one word more than TEXT, hyphens make two words of one.
            lines = [" ".join(motto[:count])]
            data.append(trec_sgml(f"TINY-{number:04}", "motto", "Motto", lines, True))
        self.write(corpus, bz2.compress(b"".join(data), 9))
        self.entry(corpus, "trec-sgml", "bzip2", packages,
                   "Short pages, paragraphs tagged, and documents around the length of a shingle.")

    def build_reuters(self):
        """News of SQLite's releases in the layout of Reuters-21578."""
        news = self.manuals[SQLITE[2]]["news.html"].decode("utf-8")
        found = re.findall(r"<h3>(\d{4})-(\d\d)-(\d\d) - (.*?)</h3>\s*"
                           r"<blockquote>(.*?)</blockquote>", news, re.S)
        stories = []
        for year, month, day, title, body in found[:45]:
            name = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()[int(month) - 1]
            stories.append((f"{day}-{name}-{year} 12:00:00.00",
                            " ".join(paragraphs(title)).upper(), paragraphs(body)))
        # A story is often sent again: as an update, or without its last paragraph.
        again = [(date, title + " (UPDATE 1)", lines) for date, title, lines in stories[::4]]
        again += [(date, title, lines[:-1])
                  for date, title, lines in stories[1::4] if len(lines) > 1]
        out = ['<!DOCTYPE lewis SYSTEM "lewis.dtd">\n']
        for number, (date, title, lines) in enumerate(stories + again, 1):
            story = title.replace(" (UPDATE 1)", "")
            self.origin("trec-sgml/reuters.sgm", str(number), story, SQLITE[2], "news.html")
            body = wrapped([sgml(line) for line in lines], 60, "    ")
            place = f"CHARLOTTE, {date[3:6].capitalize()} {int(date[:2])} - "
            text = (f"<TEXT>&#2;\n<TITLE>{sgml(title)}</TITLE>\n"
                    f"<DATELINE>    {place}</DATELINE><BODY>{body}\n&#3;</BODY></TEXT>")
            out.append(reuters(number, date, "<D>sql</D><D>database</D>", text))
        last = len(stories + again)
        brief = ("<TEXT TYPE=\"BRIEF\">&#2;\n******<TITLE>SQLITE RELEASES A NEW VERSION</TITLE>\n"
                 "&#3;</TEXT>")
        out.append(reuters(last + 1, "01-JAN-2025 12:00:00.00", "", brief))
        table = ("<TEXT TYPE=\"UNPROC\">&#2;\n RELEASE   YEAR\n 3.40.1    2022\n 3.46.1    2024\n"
                 "&#3;</TEXT>")
        out.append(reuters(last + 2, "01-JAN-2025 12:00:01.00", "", table))
        self.write("trec-sgml/reuters.sgm", "".join(out).encode())
        self.entry("trec-sgml/reuters.sgm", "trec-sgml", "none", [SQLITE[2]],
                   "Release news in the layout of Reuters-21578, some sent twice.")

    # -- Apache: languages and charsets

    def build_apache(self):
        old, new = APACHE
        rows = []
        for package in APACHE:
            for language in "de en es fr ja ko pt-br ru tr zh-cn".split():
                for name in ("bind", "invoking", "stopping", "mpm", "getting-started"):
                    path = f"{language}/{name}.html"
                    body = self.manuals[package].get(path)
                    if body is None or len(body) < 2000 or len(body) > 40_000:
                        continue
                    lines = paragraphs(oracle.decode(body, None, True))
                    version = package.version.split("-")[0]
                    docno = f"{version}/{language}/{name}"
                    rows.append({"id": docno, "url": f"http://docs.example/{docno}",
                                 "language": language, "title": lines[0], "text": "\n".join(lines)})
                    self.origin("jsonl/text.jsonl.zst", docno, path, package, path)
        rows.sort(key=lambda row: hashlib.sha256(row["id"].encode()).digest())
        self.write("jsonl/text.jsonl.zst", zstd_frame(json_lines(rows)))
        self.entry("jsonl/text.jsonl.zst", "jsonl", "zstd", APACHE,
                   "Pages of two versions in ten languages, decoded to text in `text`.")

        # The same page in several charsets is an exact duplicate, if each is decoded rightly.
        plan = [
            ("de/bind", ["utf-8", "iso-8859-1"]),
            ("en/bind", ["utf-8", "utf-8-bom", "utf-16le-bom", "utf-16be-bom"]),
            ("es/stopping", ["utf-8", "iso-8859-15"]),
            ("fr/bind", ["utf-8", "iso-8859-1", "windows-1252"]),
            ("ja/bind", ["utf-8", "shift_jis", "euc-jp", "iso-2022-jp"]),
            ("ko/bind", ["euc-kr", "utf-8"]),
            ("ru/getting-started", ["utf-8", "windows-1251", "koi8-r", "iso-8859-5"]),
            ("tr/bind", ["utf-8", "iso-8859-9"]),
            ("zh-cn/mpm", ["utf-8", "gb2312"]),
        ]
        for page, labels in plan:
            for label in labels:
                name = f"{page}.{label}.html"
                body = recoded(self.manuals[new][f"{page}.html"], label)
                self.write(f"files/charsets/{name}", body)
                self.origin("files/charsets", name, page, new, f"{page}.html")
            if page[:2] in ("de", "fr", "ja", "ko", "tr"):
                name = f"{page}.older.html"
                self.write(f"files/charsets/{name}", self.manuals[old][f"{page}.html"])
                self.origin("files/charsets", name, page, old, f"{page}.html")
        text = "\n".join(self.lines(new, "fr/stopping.html")) + "\n"
        for label, codec, bom in (("utf-8", "utf-8", b""),
                                  ("utf-16be-bom", "utf-16-be", b"\xfe\xff")):
            name = f"fr/stopping.{label}.txt"
            self.write(f"files/charsets/{name}", bom + text.encode(codec))
            self.origin("files/charsets", name, "fr/stopping", new, "fr/stopping.html")
        self.entry("files/charsets", "files", "none", APACHE,
                   "The same pages in several charsets (exact duplicates), some in an older "
                   "version too.")

        return rows

    # -- mail: the same pages, sent to each other

    def build_mail(self, rows):
        """Every page as a message, coded in ever other ways; some sent again, coded in another."""
        corpus, sent = "mail/a.mbox.gz", []
        for number, row in enumerate(rows):
            kinds = [MESSAGES[number % len(MESSAGES)]]
            if number % 4 == 1:  # the same text under another name, by another way
                kinds.append(MESSAGES[(number + 3) % len(MESSAGES)])
            for copy, kind in enumerate(kinds):
                name = f"{row['id'].replace('/', '.')}.{copy}@lists.example"
                sent.append((row, kind, name, len(sent)))
        messages = [message(*one) for one in sent]
        box = b"".join(b"From sender@lists.example Wed Jan  1 %02d:%02d:00 2025\n" %
                       (number // 60, number % 60) + re.sub(rb"(?m)^(>*From )", rb">\1", data) + b"\n"
                       for number, data in enumerate(messages))
        self.write(corpus, gzip_member(box))
        packages = {package.version.split("-")[0]: package for package in APACHE}
        for row, _, name, _ in sent:
            version, _, page = row["id"].partition("/")
            self.origin(corpus, name, f"{page}.html", packages[version], f"{page}.html")

        def left_out(sent):
            attached = [kind for _, kind, *_ in sent if kind == "attachments"]
            return {"part of a message left out": len(attached)}

        self.entry(corpus, "mbox", "gzip", APACHE,
                   "The pages of jsonl/text.jsonl.zst as messages, in eight ways to write one; every "
                   "fourth sent again in another of them.", notices=left_out(sent))
        for number, data in enumerate(messages[:12]):
            row, _, name, _ = sent[number]
            self.write(f"mail/eml/{number:02}.eml", data.replace(b"\n", b"\r\n"))
            version, _, page = row["id"].partition("/")
            self.origin("mail/eml", name, f"{page}.html", packages[version], f"{page}.html")
        self.entry("mail/eml", "files", "none", APACHE,
                   "The first twelve messages of mail/a.mbox.gz, a file each.",
                   notices=left_out(sent[:12]))
        return messages

    def build_odd_files(self):
        new = SQLITE[2]
        name = "fts5.html"
        texts = [wrapped(self.lines(package, name)) + "\n" for package in SQLITE[1:]]
        small = wrapped(self.lines(new, "about.html")) + "\n"
        files = {
            "empty.txt": b"",
            "nuls.txt": bytes(64),
            "pixel.png": PNG,
            "only-punctuation.txt": "... --- !!! \u2026 ***\n".encode(),
            "one-word.txt": b"SQLite\n",
            "one-word-again.txt": b"  sqlite.\n",
            "nine-words.txt": b"one two three four five six seven eight nine\n",
            "ten-words.txt": b"one two three four five six seven eight nine ten",
            "eleven-words.txt": b"one two three four five six seven eight nine ten eleven\n",
            "repeated.txt": b"again and " * 400,
            "long.txt": texts[1].encode(),
            "long-older.txt.gz": gzip_member(texts[0].encode()),
            "deep/er/and/deeper/about.txt": small.encode(),
            "name with spaces.txt": small.replace("\n", "\r\n").encode(),
            "no-extension": small.encode(),
            "gr\u00f6\u00dfe.txt": "Die Gr\u00f6\u00dfe ist klein, der Name nicht in ASCII.\n".encode(),
        }
        for path, data in files.items():
            self.write(f"files/odd/{path}", data)
        for path, package in (("long.txt", SQLITE[2]), ("long-older.txt.gz", SQLITE[1])):
            self.origin("files/odd", path, name, package, name)
        for path in ("deep/er/and/deeper/about.txt", "name with spaces.txt", "no-extension"):
            self.origin("files/odd", path, "about.html", new, "about.html")
        self.entry("files/odd", "files", "none", SQLITE[1:],
                   "Very long, very short, empty, binary, repeated, oddly named.",
                   rejects={"empty file": 1, "binary file": 2})

    # -- damage

    def break_things(self, pages, messages):
        """One file for each kind of damage, and what is to be expected of it."""
        docs = [trec_web(page, 0) for page in pages[:6]]
        names = [page.docno for page in pages[:6]]
        four = b"".join(docs[:4])

        def case(name, data, damage, documents, docnos, reasons):
            self.write(f"broken/{name}", data)
            self.broken.append((f"broken/{name}", damage, documents, docnos, reasons))

        whole = gzip_member(four + noise_document())
        case("gzip-cut.gz", whole[:len(whole) - 6000],
             "The gzip stream ends in the middle of the fifth document.",
             4, names[:4], {"compressed stream cut off": 1, "record cut off": 1})
        bad_block = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff\x07" + bytes(40)
        case("gzip-damaged.gz", gzip_member(b"".join(docs[:3])) + bad_block,
             "The second gzip member begins with a deflate block of a type that does not exist.",
             3, names[:3], {"compressed stream damaged": 1})
        case("gzip-empty.gz", gzip_member(b""), "A gzip file of nothing.", 0, [], {"empty file": 1})
        tiny = b"<DOC>\n<DOCNO>TINY-1</DOCNO>\n<TEXT>\na tiny document\n</TEXT>\n</DOC>\n"
        case("gzip-bomb.trec.gz", gzip_member(tiny + b"<DOC>\n" + b" " * (20 << 20)),
             "After one document, 20 MiB of blanks in 20 KiB.",
             1, ["TINY-1"], {"decompression ratio above --max-ratio": 1, "record cut off": 1})

        case("no-docno.trec", docs[0] + re.sub(rb"<DOCNO>.*</DOCNO>\n", b"", docs[1]) + docs[2],
             "The second of three documents has no DOCNO.",
             3, [names[0], "no-docno.trec:2", names[2]], {})
        case("not-closed.trec", docs[0] + docs[1].replace(b"</DOC>\n", b"") + docs[2],
             "The second of three documents has no </DOC>.",
             2, [names[0], names[2]], {"DOC not closed": 1})
        case("cut.trec", docs[0] + docs[1] + docs[2][:2000],
             "The file ends in the middle of the third document.",
             2, names[:2], {"record cut off": 1})
        stray = b"These bytes stand between two documents and belong to neither.\n"
        case("stray-bytes.trec", docs[0] + stray + docs[1], "Text between two documents.",
             2, names[:2], {"bytes between records": 1})

        records = [
            warc_record("1.0", warc_fields("response", page, n, "application/http", True),
                        http_response(page, "plain"))
            for n, page in enumerate(pages[:3])
        ]

        def with_length(record, change):
            head, blank, block = record.partition(b"\r\n\r\n")
            head, field, length = head.rpartition(b"Content-Length: ")
            return head + field + b"%d" % (int(length) + change) + blank + block

        for name, change in (("short", -500), ("long", 700)):
            case(f"length-{name}.warc", records[0] + with_length(records[1], change) + records[2],
                 f"The second of three records states {change:+} bytes.",
                 3, names[:3], {"wrong length stated": 1})
        case("cut.warc", records[0] + records[1] + records[2][:2000],
             "The file ends in the middle of the third record.",
             2, names[:2], {"record cut off": 1})
        fields = warc_fields("response", pages[0], 0, "application/http", True)
        block = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
                 + pages[0].body)
        case("not-chunked.warc", warc_record("1.0", fields, block),
             "The HTTP header says chunked, the body is not.",
             1, names[:1], {"chunked encoding broken": 1})
        fields = warc_fields("response", pages[1], 0, "application/http", True)
        block = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
                 + pages[1].body)
        case("not-gzipped.warc", warc_record("1.0", fields, block),
             "The HTTP header says gzip, the body is not.",
             1, names[1:2], {"content encoding broken": 1})

        good = [b'{"id": "J%d", "text": "line %d of a file of lines"}\n' % (n, n) for n in range(4)]
        case("bad-line.jsonl", good[0] + good[1][:-9] + b"\n" + good[2] + good[3],
             "The second of four lines is cut off.", 3, ["J0", "J2", "J3"], {"not valid JSON": 1})
        case("no-text.jsonl", good[0] + b'{"id": "J1", "note": "nothing here"}\n' + good[2],
             "The second of three objects has no text.", 2, ["J0", "J2"], {"no text field": 1})
        case("no-id.jsonl", good[0] + b'{"text": "who am I"}\n' + good[2],
             "The second of three objects has no docno.", 3, ["J0", "no-id.jsonl:2", "J2"], {})
        case("same-docno.jsonl", good[0] + good[1].replace(b"J1", b"J0") + good[2],
             "Two of three objects have the same docno.",
             3, ["J0", "J0", "J2"], {"docno not unique": 1})
        case("invalid-utf8.jsonl", good[0] + good[1].replace(b"file", b"f\xffle"),
             "A byte that is not UTF-8 in the second of two lines.",
             2, ["J0", "J1"], {"wrong charset declared": 1})

        ids = [re.search(rb"Message-ID: <(.*)>", data).group(1).decode() for data in messages]
        line = b"From sender@lists.example Wed Jan  1 00:00:00 2025\n"
        two = [line + re.sub(rb"(?m)^(>*From )", rb">\1", data) + b"\n" for data in messages[:2]]
        unescaped = two[0].replace(b"\n\n", b"\n\nFrom here on it is text that nobody escaped.\n", 1)
        case("from-in-text.mbox", unescaped + two[1],
             "A line of a text that begins with From and is not escaped.", 2, ids[:2], {})
        head, _, body = messages[0].partition(b"\n\n")
        case("no-empty-line.eml", head + b"\n" + body, "The text begins right below the header.",
             1, ids[:1], {"header line passed over": 1})
        coded_at = next(n for n, data in enumerate(messages) if b"base64\n\n" in data[:1200]
                        and b"multipart" not in data)
        head, _, body = messages[coded_at].partition(b"\n\n")
        whole, size = binascii.a2b_base64(body), 900
        while whole[size] & 0xC0 == 0x80:  # not within a character: that would be another damage
            size -= 1
        cut = binascii.b2a_base64(whole[:size], newline=False).rstrip(b"=")
        case("base64-cut.eml", head + b"\n\n" + cut + b"--\nUnsubscribe by mail.\n",
             "A body in base64 that is cut off, and a footer that is not in base64.",
             1, [ids[coded_at]], {"content encoding broken": 1})
        parted = next(n for n, data in enumerate(messages) if b"multipart/mixed" in data)
        case("no-boundary.eml", messages[parted].replace(b';\n\tboundary="', b';\n\tx-boundary="'),
             "A message in several parts that does not say what parts them.",
             1, [ids[parted]], {"header line passed over": 1})

        page = spelled_out(self.manuals[APACHE[1]]["fr/bind.html"])
        latin = page.decode("utf-8").encode("cp1252", "xmlcharrefreplace")
        case("wrong-charset.html", latin, "Says UTF-8 and is windows-1252.",
             1, ["wrong-charset.html"], {"wrong charset declared": 1})
        case("unknown-charset.html", relabelled(page, "x-klingon"),
             "Declares a charset that does not exist; is UTF-8.",
             1, ["unknown-charset.html"], {"wrong charset declared": 1})
        cut = recoded(self.manuals[APACHE[1]]["ja/bind.html"], "shift_jis")
        at = cut.index(b"</h1>")
        case("invalid-bytes.html", cut[:at] + b"\x81\xff" + cut[at:],
             "Shift_JIS with a byte pair in it that Shift_JIS does not have.",
             1, ["invalid-bytes.html"], {"invalid bytes replaced": 1})

    # -- the tables

    def licences(self):
        """The licence texts, as the manuals themselves give them."""
        for licence, package, page in (
            ("PostgreSQL", POSTGRESQL[2], "legalnotice.html"),
            ("SQLite", SQLITE[2], "copyright.html"),
            ("Apache-2.0", APACHE[1], "en/license.html"),
        ):
            text = wrapped(self.lines(package, page)) + "\n"
            self.write(f"licences/{licence}.txt", text.encode())

    def tables(self):
        """provenance.tsv, known-pairs.tsv, exact-duplicates.tsv and index.toml."""
        lines = ["\t".join(row) for row in self.provenance]
        head = "# corpus\tdocno\tpage\tpackage\tversion\tpath"
        self.write("provenance.tsv", "\n".join([head] + lines + [""]).encode())
        corpora = [entry[0] for entry in self.entries]
        pages = os.path.join(self.out, "provenance.tsv")

        def ask(*options):
            script = os.path.join(HERE, "oracle.py")
            command = [sys.executable, script, "--root", self.out, *options]
            log(" ".join(command[1:]))
            return subprocess.run(command + corpora, stdout=subprocess.PIPE, check=True).stdout

        lists = {
            "pairs": ask("--pages", pages),
            "exact_duplicates": ask("--list", "exact"),
            "documents": ask("--list", "documents"),
        }
        self.write("known-pairs.tsv", lists["pairs"])
        self.write("exact-duplicates.tsv", lists["exact_duplicates"])
        count = {  # of lines, by corpus
            name: collections.Counter(line.split("\t")[0] for line in lines.decode().splitlines())
            for name, lines in lists.items()
        }
        self.write("index.toml", self.index(count).encode())

    def index(self, count):
        out = [
            "# What is in this directory. Made by scripts/build-sample-corpora.py; not to be edited.",
            "#",
            "# documents         to be read; records that are none, such as requests, are `skipped`",
            "# rejects, notices  lines of rejects.jsonl, by reason: of records refused, of records used",
            "# exact_duplicates  documents with a representative before them, in exact-duplicates.tsv",
            "# pairs             of representatives, at threshold 0.5 and 10 words a shingle, in",
            "#                   known-pairs.tsv",
            "# sha256            of a directory: of the lines `sha256  path` of its files, by path",
            "",
            "[same-documents]",
            "# The same documents in four formats: the same pairs. docnos in files/a end in `.html`.",
            'trec-web = "trec-web/a.gz"',
            'warc = "warc/a.warc.gz"',
            'jsonl = "jsonl/a.jsonl.zst"',
            'files = "files/a"',
        ]
        for package in PACKAGES:
            out += ["", "[[package]]", *(f"{field} = {quoted(value)}"
                                         for field, value in package._asdict().items())]
        for path, form, compression, packages, about, facts in self.entries:
            licence = sorted({package.licence for package in packages})
            out += ["", "[[corpus]]", f"path = {quoted(path)}", f"about = {quoted(about)}",
                    f"format = {quoted(form)}", f"compression = {quoted(compression)}",
                    f"origin = {quoted([f'{p.name} {p.version}' for p in packages])}",
                    f"licence = {quoted(', '.join(licence))}",
                    f"sha256 = {quoted(self.digest(path))}",
                    f"documents = {count['documents'][path]}",
                    f"skipped = {facts.get('skipped', 0)}",
                    f"rejects = {table(facts.get('rejects', {}))}",
                    f"notices = {table(facts.get('notices', {}))}",
                    f"exact_duplicates = {count['exact_duplicates'][path]}",
                    f"pairs = {count['pairs'][path]}"]
        out += ["", "# One file for each kind of damage. `reasons` are the lines of rejects.jsonl, by reason."]
        for path, damage, documents, docnos, reasons in self.broken:
            out += ["", "[[broken]]", f"path = {quoted(path)}", f"damage = {quoted(damage)}",
                    f"sha256 = {quoted(self.digest(path))}",
                    f"documents = {documents}", f"docnos = {quoted(docnos)}",
                    f"reasons = {table(reasons)}"]
        return "\n".join(out) + "\n"

    def digest(self, path):
        whole = os.path.join(self.out, path)
        if os.path.isfile(whole):
            with open(whole, "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
        lines = []
        for name in files_below(whole):
            with open(os.path.join(whole, name), "rb") as file:
                lines.append(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\n")
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def skipped(records):
    return sum(kind in ("warcinfo", "request", "metadata", "revisit") for kind, _ in records)


def json_lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def reuters(number, date, topics, text):
    has_topics = "YES" if topics else "NO"
    return (f'<REUTERS TOPICS="{has_topics}" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" '
            f'OLDID="{number + 5000}" NEWID="{number}">\n<DATE>{date}</DATE>\n'
            f"<TOPICS>{topics}</TOPICS>\n<PLACES></PLACES>\n<PEOPLE></PEOPLE>\n<ORGS></ORGS>\n"
            "<EXCHANGES></EXCHANGES>\n<COMPANIES></COMPANIES>\n"
            f"<UNKNOWN>\n&#5;&#5;&#5;\n</UNKNOWN>\n{text}\n</REUTERS>\n")


def relabelled(body, label):
    """The page with another charset in its XML declaration and meta tag."""
    head, rest = body[:1024], body[1024:]
    head = re.sub(rb"(encoding=\"|charset=)[\w-]+", rb"\g<1>" + label.encode(), head)
    if label.encode() not in head:
        fail("a page has no charset to be changed in its first 1024 bytes; choose another page")
    return head + rest


CODECS = {"shift_jis": "cp932", "windows-1251": "cp1251", "windows-1252": "cp1252"}


def spelled_out(body):
    """The page in UTF-8 with `&eacute;` and the like as characters: else there is nothing to
    encode. Those in ASCII, `&lt;` above all, stay."""

    def character(entity):
        char = html.unescape(entity.group())
        return entity.group() if char.isascii() else char

    return re.sub(r"&#?\w+;", character, oracle.decode(body, None, True)).encode("utf-8")


def recoded(body, label):
    """The page in another charset, its label changed to match."""
    text = spelled_out(body)
    if label.endswith("-bom"):  # the byte order mark decides; the label is left to differ
        codec = {"utf-8": "utf-8", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}[label[:-4]]
        return ("\ufeff" + text.decode("utf-8")).encode(codec)
    text = relabelled(text, label).decode("utf-8")
    return text.encode(CODECS.get(label, label), "xmlcharrefreplace")


def noise_document():
    """A document that hardly compresses, so that a cut near the end of the stream falls in it."""
    digests = (hashlib.sha256(b"%d" % n).hexdigest() for n in range(400))
    text = "\n".join(digests)
    return f"<DOC>\n<DOCNO>NOISE-1</DOCNO>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n".encode()


def quoted(value):
    """A TOML string or list of strings; JSON's escapes are TOML's too."""
    return json.dumps(value, ensure_ascii=False)


def table(reasons):
    inner = ", ".join(f"{quoted(reason)} = {number}" for reason, number in sorted(reasons.items()))
    return f"{{ {inner} }}" if inner else "{}"


def files_below(root):
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names)


# ----------------------------------------------------------------------------------- the whole

MADE = ["broken", "files", "jsonl", "licences", "mail", "trec-sgml", "trec-web", "warc",
        "exact-duplicates.tsv", "index.toml", "known-pairs.tsv", "provenance.tsv"]
BY_HAND = {"README.md", ".gitattributes"}


def build(out, manuals):
    for name in MADE:
        path = os.path.join(out, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
    builder = Builder(out, manuals)
    pages = builder.build_postgresql()
    builder.build_sqlite()
    builder.build_reuters()
    messages = builder.build_mail(builder.build_apache())
    builder.build_odd_files()
    builder.break_things(pages, messages)
    builder.licences()
    builder.tables()
    log(f"{out}: {sum(os.path.getsize(os.path.join(out, n)) for n in files_below(out))} bytes "
        f"in {len(files_below(out))} files")


def check(fresh, out):
    """Compares two builds: bytes, and where these differ what the compressed files hold."""
    differ = []
    names = sorted((set(files_below(fresh)) | set(files_below(out))) - BY_HAND)
    for name in names:
        a, b = os.path.join(fresh, name), os.path.join(out, name)
        if not os.path.exists(a) or not os.path.exists(b):
            differ.append(f"{name}: only in {fresh if os.path.exists(a) else out}")
        elif not filecmp.cmp(a, b, shallow=False):
            if content(a, name) == content(b, name):
                log(f"{name}: the same content, compressed to other bytes")
            else:
                differ.append(f"{name}: differs")
    if differ:
        fail("the build is not what is there:\n  " + "\n  ".join(differ)
             + "\nbuild anew without --check, and commit what changed")
    log(f"{len(names)} files as they should be")


def content(path, name):
    """What a file says, whichever way it was compressed."""
    if name.startswith("broken/"):
        with open(path, "rb") as file:
            return file.read()
    data = oracle.open_bytes(path)
    if name == "index.toml":  # of compressed files
        data = re.sub(rb"(?m)^sha256 = .*$", b"", data)
    return data


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default=os.path.join(os.path.dirname(HERE), "sample-corpora"),
                        help="the directory to write [sample-corpora beside scripts]")
    parser.add_argument("--work", help="packages are kept here [target/sample-work]",
                        default=os.path.join(os.path.dirname(HERE), "target", "sample-work"))
    parser.add_argument("--check", action="store_true",
                        help="write nothing there; build below --work and compare")
    args = parser.parse_args()
    for program in ("apt-get", "dpkg-deb", "zstd"):
        if not shutil.which(program):
            fail(f"there is no `{program}` command; this script needs a Debian system with it")
    work = os.path.abspath(args.work)
    os.makedirs(work, exist_ok=True)
    manuals = {package: unpack(path) for package, path in fetch(work).items()}
    if args.check:
        fresh = os.path.join(work, "fresh")
        os.makedirs(fresh, exist_ok=True)
        build(fresh, manuals)
        check(fresh, args.out)
    else:
        os.makedirs(args.out, exist_ok=True)
        build(args.out, manuals)


if __name__ == "__main__":
    main()
