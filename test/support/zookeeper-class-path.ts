import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN_JARS = '/usr/share/java';

/**
 * Java class path of the ZooKeeper server: from the distribution in `ZOOKEEPER_HOME`, else from Debian's package.
 *
 * @throws when neither is there, with what to install
 */
export function zooKeeperClassPath(): string {
  const home = process.env.ZOOKEEPER_HOME;
  if (home) return distribution(home);
  if (!existsSync(join(DEBIAN_JARS, 'zookeeper.jar'))) {
    throw new Error(
      'No ZooKeeper server found. Run `bash test/support/install.sh`, ' +
        'or unpack a ZooKeeper distribution and set ZOOKEEPER_HOME to its folder.',
    );
  }
  // The jar's manifest names all it needs but a logger.
  return ['zookeeper.jar', 'slf4j-simple.jar'].map((jar) => join(DEBIAN_JARS, jar)).join(':');
}

function distribution(home: string): string {
  const lib = join(home, 'lib');
  const jars = existsSync(lib) ? readdirSync(lib).filter((file) => file.endsWith('.jar')) : [];
  if (!jars.some((jar) => jar.startsWith('zookeeper-'))) {
    throw new Error(
      `ZOOKEEPER_HOME is ${home}, but there is no lib/zookeeper-*.jar. Set it to an unpacked ZooKeeper distribution.`,
    );
  }
  // Without a configuration, logback writes every debug line; without logback nothing is logged.
  return jars
    .filter((jar) => !jar.startsWith('logback-'))
    .map((jar) => join(lib, jar))
    .join(':');
}
