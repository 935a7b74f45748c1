#!/usr/bin/env bash
# Builds the Python module, checks its types and runs its tests, in a virtual environment below the target directory.
#
#     scripts/test-python.sh
#
# Needs cargo, and python3 with venv; Java 17 for the tests on Spark. The module needs Python 3.10 or later, the libraries
# of its tests 3.11. They come from PyPI, in the versions of python/requirements-*.txt, when these have changed.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; then
    echo "THE PYTHON MODULE WAS NOT TESTED: python3 3.11 or later with venv is needed" >&2
    exit 1
fi

mkdir -p "${CARGO_TARGET_DIR:-target}"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
export VIRTUAL_ENV=$target/python-venv CARGO_TARGET_DIR=$target/python CARGO_INCREMENTAL=0
export PATH=$VIRTUAL_ENV/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1

cd python
# A virtual environment with the packages of a list.
environment() {
    local directory=$1 list=$2
    if ! cmp -s "$list" "$directory/$list"; then
        python3 -m venv --clear "$directory"
        "$directory/bin/python" -m pip install --quiet -r "$list"
        cp "$list" "$directory/$list"
    fi
}
environment "$VIRTUAL_ENV" requirements-test.txt
spark=$target/python-venv-spark sail=$target/python-venv-sail
# Unpacking takes as long as compiling, and both have waits.
environment "$spark" requirements-spark.txt &
installing_spark=$!
environment "$sail" requirements-sail.txt &
installing_sail=$!
cargo fmt -- --check
maturin develop --locked --quiet

export PYTHONPATH=$PWD
tests_on_spark=
wait "$installing_spark"
mypy --python-executable "$spark/bin/python" lookalike
python -m mypy.stubtest lookalike._native --allowlist <(echo lookalike._native.__all__)
if java -version >/dev/null 2>&1; then
    PATH=$spark/bin:$PATH "$spark/bin/python" -m pytest -q --timeout 600 -o addopts= tests/test_spark.py >"$target/spark.log" 2>&1 &
    tests_on_spark=$!
else
    echo "THE TESTS ON SPARK WERE NOT RUN: Java 17 is needed" >&2
fi
python -m pytest -q --timeout 300

# A second engine with the interface of Spark: where it differs, the tasks rely on more than they may.
if wait "$installing_sail"; then
    "$sail/bin/python" tests/on_sail.py
else
    echo "LEFT OUT: SAIL CANNOT BE INSTALLED HERE" >&2
fi

if [ -n "$tests_on_spark" ]; then
    wait "$tests_on_spark" || { cat "$target/spark.log" >&2; exit 1; }
    tail -n 1 "$target/spark.log"
fi
