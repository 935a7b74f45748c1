#!/usr/bin/env python3
"""Check the links of a built site: each leads to a file of it and to an anchor that the file has, and no page loads
anything from elsewhere. Needs nothing but Python.

    scripts/check-site.py target/docs-site
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img", "source", "iframe"):
            self.loads += [attributes[name] for name in ("src", "href", "srcset") if attributes.get(name)]


def main():
    site = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    wrong, checked = [], 0
    for path, page in pages.items():
        # The page for a missing address may be shown anywhere, and the page to print repeats all others.
        if path.name in ("404.html", "print.html"):
            continue
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    wrong.append(f"{path.relative_to(site)} loads {link}")
                continue
            checked += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            fragment = unquote(parts.fragment)
            if not target.is_file():
                wrong.append(f"{path.relative_to(site)}: {link}")
            elif fragment and target in pages and fragment not in pages[target].anchors:
                wrong.append(f"{path.relative_to(site)}: {link} has no such anchor")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {checked} links, {len(wrong)} broken; open {sys.argv[1]}/index.html")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
