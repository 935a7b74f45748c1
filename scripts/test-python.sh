#!/usr/bin/env bash
# Builds the Python module, checks its types and runs its tests, in a virtual environment below the target directory.
#
#     scripts/test-python.sh
#     scripts/test-python.sh --spark   # also the tests on Spark and Sail, which are most of the time
#
# LOOKALIKE_MODULE and LOOKALIKE_LAB are the paths of a module and of the laboratory that are built, if there are.
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
export VIRTUAL_ENV=$target/python-venv CARGO_TARGET_DIR=$target
spark_too=
if [ "${1:-}" = --spark ]; then spark_too=yes; fi
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
environment "$spark" requirements-spark.txt
if [ -n "$spark_too" ]; then environment "$sail" requirements-sail.txt & fi
installing_sail=${!:-}
cargo fmt -- --check
if [ -n "${LOOKALIKE_MODULE:-}" ]; then
    cp "$LOOKALIKE_MODULE" lookalike/_native.abi3.so
else
    maturin develop --locked --quiet
fi

# The program whose metrics are compared with those of trec_eval.
if [ -z "${LOOKALIKE_LAB:-}" ]; then
    cargo build --locked --quiet --manifest-path ../Cargo.toml --package lookalike-lab --bin lookalike-lab
    export LOOKALIKE_LAB=$target/debug/lookalike-lab
fi

export PYTHONPATH=$PWD
mypy --python-executable "$spark/bin/python" lookalike
python -m mypy.stubtest lookalike._native --allowlist <(echo lookalike._native.__all__)
python -m pytest -q --timeout 300
if [ -z "$spark_too" ]; then exit; fi

if java -version >/dev/null 2>&1; then
    PATH=$spark/bin:$PATH "$spark/bin/python" -m pytest -q --timeout 600 -o addopts= tests/test_spark.py
else
    echo "THE TESTS ON SPARK WERE NOT RUN: Java 17 is needed" >&2
fi
# A second engine with the interface of Spark: where it differs, the tasks rely on more than they may.
if wait "$installing_sail"; then
    "$sail/bin/python" tests/on_sail.py
else
    echo "LEFT OUT: SAIL CANNOT BE INSTALLED HERE" >&2
fi
