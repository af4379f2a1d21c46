#!/bin/sh
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Installs the program of this archive.
#
#   ./install.sh [--prefix FOLDER]      default /usr/local for root, ~/.local for others
#   ./install.sh --uninstall [--prefix FOLDER]
#
# Nothing else is needed, and nothing outside FOLDER is changed: FOLDER/bin/bayloom, its manual page and
# FOLDER/share/doc/bayloom with all licences.
set -eu

prefix=
uninstall=false
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -gt 1 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 2; }
      prefix=$2
      shift 2
      ;;
    --prefix=*) prefix=${1#--prefix=}; shift ;;
    --uninstall) uninstall=true; shift ;;
    -h | --help) sed -n '5,11p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "install.sh: unknown option '$1'; --help lists what there is" >&2; exit 2 ;;
  esac
done
if [ -z "$prefix" ]; then
  if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi
here=$(cd "$(dirname "$0")" && pwd)
program=$prefix/bin/bayloom
manual=$prefix/share/man/man1/bayloom.1.gz
documents=$prefix/share/doc/bayloom

if $uninstall; then
  [ -e "$program" ] || { echo "install.sh: there is no $program" >&2; exit 1; }
  rm -f "$program" "$manual"
  rm -rf "$documents"
  echo "removed $program; what it has recorded is left"
  exit 0
fi

"$here/bin/bayloom" --version >/dev/null || {
  echo "install.sh: the program does not run here: it is for Linux on $(basename "$here" | sed 's/.*-//')" \
    "with the GNU C library 2.28 or later" >&2
  exit 1
}
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$documents"
# By another name first, so that a running program is replaced as a whole.
cp "$here/bin/bayloom" "$program.new"
mv -f "$program.new" "$program"
cp "$here/share/man/man1/bayloom.1.gz" "$manual"
cp -R "$here/LICENSE" "$here/licenses" "$documents"
echo "installed $program"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "$prefix/bin is not on the PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
