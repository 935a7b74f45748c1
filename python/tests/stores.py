"""Servers for the tests of object stores: S3 as moto has it, faults in front of it, a hub, a web server."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from xml.sax.saxutils import unescape

SECRET = "never-show-this-secret"
KEY = "NEVERSHOWTHISKEY"
# moto looks at who it is, and not at the signature.
SIGNED = f"AWS4-HMAC-SHA256 Credential={KEY}/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


CHANGES = ("PUT", "POST", "DELETE")


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that is gone is part of the tests."""


def serve(handler, **attributes):
    server = Quiet(("127.0.0.1", 0), handler)
    for name, value in attributes.items():
        setattr(server, name, value)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


class S3:
    """moto's server in a process of its own."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        self.request("PUT", "/crawl")

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, body, {"authorization": SIGNED})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert answer.status < 300, (method, path, answer.status, content)
        return content

    def put(self, key, content):
        self.request("PUT", f"/crawl/{quote(key)}", content)

    def etags(self, prefix):
        """The objects below a prefix, by name: digests of their parts."""
        listed = self.request("GET", f"/crawl?list-type=2&prefix={quote(prefix)}/").decode()
        assert "<IsTruncated>false" in listed
        found = re.findall("<Key>(.*?)</Key>.*?<ETag>(.*?)</ETag>", listed, re.S)
        return {unescape(key).removeprefix(f"{prefix}/"): etag for key, etag in found}

    def below(self, prefix):
        """The objects below a prefix, by name."""
        return {name: self.request("GET", f"/crawl/{quote(f'{prefix}/{name}')}") for name in self.etags(prefix)}

    def uploads(self):
        """The unfinished uploads: their ids and keys."""
        listed = self.request("GET", "/crawl?uploads").decode()
        return re.findall("<UploadId>(.*?)</UploadId>.*?<Key>(.*?)</Key>", listed, re.S)

    def put_all(self, directory, prefix):
        for path in sorted(Path(directory).rglob("*")):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(directory)}", path.read_bytes())

    def stop(self):
        self.process.kill()
        self.process.wait()


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on to `server.port`, and spoils some. `server.fault` says how:

    - `cut`: of every second range, only the first half comes, and the connection ends;
    - `500`, `503`: every second request fails;
    - `500 of changes`, `503 of changes`: every second one that changes something does;
    - `short`: every second range has fewer bytes than it states;
    - `whole`: the server ignores ranges;
    - `reversed`: objects are listed in reverse order;
    - `slow`: a range takes ten seconds;
    - `broken`: every range fails;
    - `lost`: of four requests that change something, one does not arrive, and the answer to another is lost;
    - a function: is called with the path of the first range, before it is passed on.

    `server.watch` is called with the number of each request, its method and its path with the query. If it returns
    true, the request is not passed on.
    """

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        server = self.server
        path, ranged = urlsplit(self.path).path, "range" in self.headers
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with server.lock:
            server.seen.append((self.command, path, self.headers.get("range")))
            server.authorized.append(self.headers.get("authorization") or "")
            number, server.changes = len(server.seen), server.changes + (self.command in CHANGES)
            fourth = server.changes % 4 if server.fault == "lost" and self.command in CHANGES else None
            second_change = self.command in CHANGES and server.changes % 2 == 0
            server.count += ranged
            second = len(server.seen) % 2 == 0
            second_range = ranged and server.count % 2 == 0
            fault = server.fault
            if callable(fault) and ranged:
                server.fault = None
                fault(path)
        if server.watch and server.watch(number, self.command, self.path) or fourth == 1:
            return self.hang_up()
        if fault == "slow" and (ranged or body):
            time.sleep(10)
        fails = fault in ("500", "503") and second or fault == "broken" and ranged
        if fails or fault in ("500 of changes", "503 of changes") and second_change:
            text = "<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
            status = 503 if "503" in fault else 500
            return self.send(status, {"content-type": "application/xml"}, text.encode())
        upstream = http.client.HTTPConnection("127.0.0.1", server.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        if fault == "whole":
            headers = {name: value for name, value in headers.items() if name.lower() != "range"}
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        if fourth == 3:
            return self.hang_up()
        headers = {
            name.lower(): value
            for name, value in answer.getheaders()
            if name.lower() not in ("connection", "date", "server", "transfer-encoding")
        }
        if fault == "reversed" and b"<Contents>" in content:
            objects = re.findall(rb"<Contents>.*?</Contents>", content, re.S)
            content = content.replace(b"".join(objects), b"".join(objects[::-1]))
            assert len(objects) < 2 or objects[0] not in content.split(b"</Contents>")[0]
        if fault == "short" and second_range and answer.status == 206:
            content = content[:-1]
            headers["content-length"] = str(len(content))
        cut = fault == "cut" and second_range and answer.status == 206
        self.send(answer.status, headers, content, cut)

    def send(self, status, headers, content, cut=False):
        if self.command != "HEAD":
            headers["content-length"] = str(len(content))
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.hang_up()

    def hang_up(self):
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer


def proxy(port):
    given = {"fault": None, "watch": None, "seen": [], "authorized": [], "count": 0, "changes": 0}
    return serve(Proxy, port=port, lock=threading.Lock(), **given)


class Files(BaseHTTPRequestHandler):
    """The files of `server.root`: as the hub has those of a dataset, and as a web server."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        server, path = self.server, unquote(urlsplit(self.path).path)
        server.seen.append((self.command, path, self.headers.get("authorization")))
        tree = re.fullmatch(r"/api/datasets/own/set/tree/(main|v1)(/.*)?", path)
        if tree:
            folder = server.root / (tree[2] or "").strip("/")
            entries = [
                {
                    "type": "directory" if entry.is_dir() else "file",
                    "path": str(entry.relative_to(server.root)),
                    "size": entry.stat().st_size,
                    "oid": "1",
                }
                for entry in sorted(folder.iterdir(), reverse=True)
            ]
            return self.send(200, {}, json.dumps(entries * server.repeat).encode())
        if path == "/endless":
            begin, end = re.findall(r"\d+", self.headers.get("range") or "0-0")
            headers = {"content-range": f"bytes {begin}-{end}/{10**15}"}
            if self.command == "HEAD":
                headers["content-length"] = 10**15
            return self.send(206 if "range" in self.headers else 200, headers, b"A" * (int(end) + 1 - int(begin)))
        inside = re.fullmatch(r"/(?:datasets/own/set/resolve/(?:main|v1)|plain)/(.*)", path)
        file = server.root / inside[1] if inside else server.root / "none"
        if not file.is_file():
            return self.send(404, {}, b"no")
        content = file.read_bytes()
        headers = {"last-modified": "Fri, 27 Nov 2026 00:00:00 GMT"}
        if server.etags:
            headers["etag"] = f'"{hashlib.md5(content).hexdigest()}"'
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range") or "")
        if not wanted or not server.ranges:
            return self.send(200, headers, content)
        begin, end = int(wanted[1]), min(int(wanted[2]) + 1, len(content))
        headers["content-range"] = f"bytes {begin}-{end - 1}/{len(content)}"
        return self.send(206, headers, content[begin:end])

    do_HEAD = do_GET

    def send(self, status, headers, content):
        self.send_response_only(status)
        for name, value in {"content-length": len(content), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def files(root, **attributes):
    given = {"repeat": 1, "etags": True, "ranges": True, **attributes}
    return serve(Files, root=Path(root), seen=[], **given)


class Lying(BaseHTTPRequestHandler):
    """A server that does not do what it says, as `server.lie` tells. It counts the bytes that it could send.

    - `long`: a range has no end;
    - `short`: a range is one byte, whatever its header says;
    - `size`: an object has more bytes than there are on the Earth;
    - `listing`, `hub`: the bucket, or the folder of the dataset, has no end;
    - `itself`: a folder of the hub has itself as an entry;
    - `again`: the bucket has no end and two pages, which name each other;
    - `empty`: its pages have no objects;
    - `token`, `key`, `deep`, `outside`: the name of its next page or of an object is too long, has too many folders, or
      is not below the prefix;
    - `range`: the answer to a range ends with the last number;
    - `error`: the text of an error has no end;
    - an address: every request is sent there.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        server, path = self.server, unquote(urlsplit(self.path).path)
        server.seen.append((self.command, path, self.headers.get("authorization")))
        lie, number = server.lie, len(server.seen)
        if lie.startswith("http"):
            return self.send(302, {"location": f"{lie}{self.path}"}, b"")
        if lie == "error":
            return self.without_end(403, {})
        if "list-type" in self.path:
            keys = {
                "empty": [],
                "key": ["a/" + "k" * (20 << 20)],
                "deep": ["a/" + "d/" * 3000 + "x.txt"],
                "outside": ["b/x.txt"],
            }.get(lie, [f"a/{number}-{at}" for at in range(1000)])
            token = {"again": number % 2, "token": "T" * (20 << 20)}.get(lie, number)
            entry = "<Contents><Key>{}</Key><LastModified>2026-11-27T00:00:00.000Z</LastModified><ETag>1</ETag><Size>5</Size></Contents>"
            page = "".join(entry.format(key) for key in keys)
            more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
            text = f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{more}{page}</ListBucketResult>'
            return self.send(200, {"content-type": "application/xml"}, text.encode())
        if path.startswith("/api/"):
            folder = path.split("/tree/main")[1].strip("/")
            inside = folder if lie == "itself" else f"{folder}/{'d' * 50}".strip("/")
            return self.send(200, {}, json.dumps([{"type": "directory", "path": inside}]).encode())
        if lie not in ("long", "short", "size", "range"):
            return self.send(404, {}, b"")
        size = 2**60 if lie == "size" else 1000
        headers = {"etag": '"1"', "last-modified": "Fri, 27 Nov 2026 00:00:00 GMT", "content-length": size}
        if self.command == "HEAD":
            return self.send(200, headers, b"")
        if lie == "short":
            at = int(self.headers["range"].split("=")[1].split("-")[0])
            headers |= {"content-length": 1, "content-range": f"bytes {at}-{size - 1}/{size}"}
            return self.send(206, headers, b"A")
        last = 2**64 - 1 if lie == "range" else size - 1
        return self.without_end(206, {"content-range": f"bytes 0-{last}/{size}", "etag": '"1"'})

    do_HEAD = do_GET

    def send(self, status, headers, content):
        self.send_response_only(status)
        for name, value in {"content-length": len(content), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def without_end(self, status, headers):
        self.send_response_only(status)
        # Or else the next request on this connection would read what is left of the answer.
        for name, value in {**headers, "transfer-encoding": "chunked", "connection": "close"}.items():
            self.send_header(name, str(value))
        self.end_headers()
        block = b"10000\r\n" + b"A" * 65536 + b"\r\n"
        # An honest reader never comes near a GiB.
        for _ in range(1 << 14):
            self.wfile.write(block)
            self.server.sent += 65536


def lying(lie):
    return serve(Lying, lie=lie, sent=0, seen=[])
