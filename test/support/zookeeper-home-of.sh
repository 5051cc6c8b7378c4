#!/usr/bin/env bash
# Prints a folder for ZOOKEEPER_HOME: zookeeper-home-of.sh 3.5|3.6|3.7|3.8|3.9
# Maven takes the server and its libraries once, into node_modules/.cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

case ${1:-} in
  3.5) version=3.5.10 ;;
  3.6) version=3.6.4 ;;
  3.7) version=3.7.2 ;;
  3.8) version=3.8.4 ;;
  3.9) version=3.9.3 ;;
  *) echo "usage: $0 3.5|3.6|3.7|3.8|3.9" >&2 && exit 2 ;;
esac

home=$PWD/node_modules/.cache/zookeeper-servers/$version
if [ ! -e "$home/lib/zookeeper-$version.jar" ]; then
  mkdir -p "$home"
  dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"; }
  # The last two are those that the server expects to find where it runs.
  cat >"$home/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>server</artifactId><version>1</version>
  <dependencies>
    $(dependency org.apache.zookeeper zookeeper "$version")
    $(dependency io.dropwizard.metrics metrics-core 4.1.12.1)
    $(dependency org.xerial.snappy snappy-java 1.1.10.5)
  </dependencies>
</project>
POM
  mvn --quiet --file "$home/pom.xml" dependency:copy-dependencies -DoutputDirectory="$home/lib" >&2
fi
echo "$home"
