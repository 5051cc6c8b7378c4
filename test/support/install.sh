#!/usr/bin/env bash
# Installs what the tests need and is missing: compiler, Java, ZooKeeper, Redis, then the npm packages.
# With --servers: only what the test servers need. As root on a Debian by apt, else it says what is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=()
need() { # need COMMAND-OR-FILE PACKAGE
  command -v "$1" >/dev/null || [ -e "$1" ] || packages+=("$2")
}

need java default-jre-headless
[ -n "${ZOOKEEPER_HOME:-}" ] || need /usr/share/java/zookeeper.jar libzookeeper-java
[ -n "${ZOOKEEPER_HOME:-}" ] || need /usr/share/java/slf4j-simple.jar libslf4j-java
[ -n "${REDIS_SERVER:-}" ] || need redis-server redis-server
if [ "${1:-}" != --servers ]; then
  need python3 python3
  need make make
  need g++ g++
  # Wanted, not needed: test/interop, test/databases and the test of the inspector's page say so where they are missing.
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    need /usr/lib/python3/dist-packages/kazoo python3-kazoo
    need /usr/lib/postgresql postgresql
    [ -n "${CHROMIUM_PATH:-}" ] || need chromium chromium
  fi
fi

if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "Missing: ${packages[*]} (names of Debian packages). Install them, or run this script as root on a Debian." >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  mkdir -p /usr/share/man/man1 # slim images lack it, and Java's packages link their manual pages there
  policy=/usr/sbin/policy-rc.d # keeps packages from starting their services: tests start servers of their own
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
  fi
  apt-get update </dev/null
  apt-get install -y --no-install-recommends "${packages[@]}" </dev/null
fi

[ "${1:-}" != --servers ] || exit 0

# The native driver is compiled against the headers of this Node, where they came with it.
prefix=$(node -p 'path.resolve(fs.realpathSync(process.execPath), "../..")')
if [ -z "${npm_config_nodedir:-}" ] && [ -e "$prefix/include/node/node.h" ]; then
  export npm_config_nodedir=$prefix
fi
npm ci </dev/null
