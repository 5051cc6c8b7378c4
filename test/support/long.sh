#!/usr/bin/env bash
# npm run test:long: the specs in full, the specifications, the exploration, then the storms and the fleets one by one. The last line
# is the total.
cd "$(dirname "$0")/../.." || exit
source test/support/steps.sh

step peers node test/support/run.mjs test/interop/build.ts
step specs npm run test:long:specs
step specification npm run test:specification
step explore npm run explore
step storm npm run test:storm
step storm-wire env ZOOKEEPER_DRIVER=wire npm run test:storm
step storm-redis npm run test:storm:redis
step fleet npm run test:fleet
finish
