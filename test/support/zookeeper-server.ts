import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect, isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { freePorts, startedOnFreePorts, TestServer, WatchedProcess } from './processes.js';
import { eventually } from './time.js';

/** Settings of a test server; the defaults suit tests that lose and expire sessions quickly. */
export interface ZooKeeperServerOptions {
  /** Loopback address to listen on, `127.0.0.1` or `::1`. Default `127.0.0.1`. */
  host?: string;
  /** The server's unit of time in milliseconds: sessions expire with this resolution. Default 500. */
  tickTime?: number;
  /** Shortest session timeout that it grants, in milliseconds. Default 1000. */
  minSessionTimeout?: number;
  /** Longest session timeout that it grants, in milliseconds. Default 60 000. */
  maxSessionTimeout?: number;
  /** How often it looks for containers that have become empty, in milliseconds. Default 1000. */
  containerCheckIntervalMs?: number;
  /** Further lines of `zoo.cfg`. */
  config?: Readonly<Record<string, string | number>>;
  /** Further arguments of the Java machine. */
  jvmArgs?: readonly string[];
  /** Its id in an ensemble, the members of which `config` names. Default: it stands alone. */
  id?: number;
}

/** The text of `zoo.cfg`. */
export function zooKeeperConfig(
  dataDir: string,
  host: string,
  port: number,
  options: ZooKeeperServerOptions,
): string {
  const settings = {
    dataDir,
    clientPort: port,
    clientPortAddress: host,
    tickTime: options.tickTime ?? 500,
    minSessionTimeout: options.minSessionTimeout ?? 1000,
    maxSessionTimeout: options.maxSessionTimeout ?? 60_000,
    maxClientCnxns: 0,
    'admin.enableServer': false,
    '4lw.commands.whitelist': '*',
    extendedTypesEnabled: true,
    ...options.config,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** Classes as Java has them in memory: a start takes it a quarter less. It goes without when they are of other files. */
const CLASS_ARCHIVE = resolve('.compiled/zookeeper.jsa');

/** Makes the archive of classes, if there is none and Java can. */
export async function archiveClasses(): Promise<void> {
  if (existsSync(CLASS_ARCHIVE)) return;
  const made = `${CLASS_ARCHIVE}-${process.pid}`;
  const jvmArgs = ['-XX:+IgnoreUnrecognizedVMOptions', `-XX:ArchiveClassesAtExit=${made}`];
  const server = await ZooKeeperServer.start({ jvmArgs });
  await server.kill('SIGTERM');
  await server.stop();
  if (existsSync(made)) renameSync(made, CLASS_ARCHIVE);
}

/** Arguments of the Java machine. */
export function zooKeeperJvmArgs(options: ZooKeeperServerOptions): string[] {
  return [
    '-Xmx256m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1', // it lives for a minute at most, too short to earn back what C2 compiles
    '-Dzookeeper.forceSync=no',
    ...(existsSync(CLASS_ARCHIVE) ? [`-XX:SharedArchiveFile=${CLASS_ARCHIVE}`] : []),
    `-Dznode.container.checkIntervalMs=${options.containerCheckIntervalMs ?? 1000}`,
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    ...(options.jvmArgs ?? []),
  ];
}

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
  // The jar's manifest names all it needs but a logger, and a part of Netty that TLS takes.
  return ['zookeeper.jar', 'slf4j-simple.jar', 'netty-codec.jar', 'netty-resolver.jar']
    .map((jar) => join(DEBIAN_JARS, jar))
    .join(':');
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

/** A real ZooKeeper server on a loopback port, with its data in a temporary folder. */
export class ZooKeeperServer extends TestServer {
  readonly host: string;

  /** A server that does not run yet; `restart()` starts it. */
  constructor(
    readonly port: number,
    private readonly options: ZooKeeperServerOptions = {},
  ) {
    super('zookeeper');
    this.host = options.host ?? '127.0.0.1';
  }

  /** Starts a standalone server on a free port; resolves when it answers. */
  static start(options: ZooKeeperServerOptions = {}): Promise<ZooKeeperServer> {
    return startedOnFreePorts(
      async () =>
        new ZooKeeperServer((await freePorts(1, options.host ?? '127.0.0.1'))[0]!, options),
      (server) => server.restart(),
    );
  }

  /** `host:port`, as clients want it. */
  get connectString(): string {
    return isIPv6(this.host) ? `[${this.host}]:${this.port}` : `${this.host}:${this.port}`;
  }

  /** Starts it again with the same port and data, after a kill if it still runs; resolves when it serves. */
  async restart(): Promise<void> {
    await this.kill();
    const data = join(this.folder, 'data');
    const config = join(this.folder, 'zoo.cfg');
    mkdirSync(data, { recursive: true });
    writeFileSync(config, zooKeeperConfig(data, this.host, this.port, this.options));
    if (this.options.id !== undefined) writeFileSync(join(data, 'myid'), `${this.options.id}`);

    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    const args = [...zooKeeperJvmArgs(this.options), '-cp', zooKeeperClassPath(), main, config];
    const process = (this.process = new WatchedProcess('java', args, this.folder));
    const served = await eventually(
      `ZooKeeper serves on ${this.connectString}`,
      async () => !process.running || ((await this.role()) !== undefined && 'served'),
      { within: 30_000 },
    );
    if (served !== 'served') {
      throw new Error(
        `ZooKeeper on ${this.connectString} did not start: ${process.log}\n` +
          'If Java is missing, run `bash test/support/install.sh`.',
      );
    }
  }

  /** Its answer to `srvr`, `cons`, `wchs`, …; empty when it gives none. */
  fourLetterWord(word: string): Promise<string> {
    return fourLetterWord(word, this.port, this.host);
  }

  /** Whether it keeps a session, by its id in hexadecimal. Rejects when it does not answer. */
  async hasSession(id: string): Promise<boolean> {
    const dump = await this.fourLetterWord('dump');
    // Only this part: its list of connections may name one of an ended session for ten seconds after it is closed.
    const sessions = /^SessionTracker dump:$(.*)^ephemeral nodes dump:$/ms.exec(dump)?.[1];
    if (sessions === undefined)
      throw new Error(
        `ZooKeeper on ${this.connectString} reported no sessions: ${dump || 'no answer'}`,
      );
    return sessions.includes(`0x${id}`);
  }

  /** Its part in the ensemble now; undefined while it does not serve. */
  async role(): Promise<'standalone' | 'leader' | 'follower' | undefined> {
    const mode = /^Mode: (standalone|leader|follower)$/m.exec(await this.fourLetterWord('srvr'));
    return mode?.[1] as 'standalone' | 'leader' | 'follower' | undefined;
  }
}

/**
 * Asks a ZooKeeper server one of its four-letter questions (`srvr`, `cons`, `wchs`, `mntr`, …).
 *
 * @returns the answer; empty when there is no listener or the answer does not come within `timeout` milliseconds
 */
export function fourLetterWord(
  word: string,
  port: number,
  host: string,
  timeout = 1000,
): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    // Written without ending our side: the server may see the end first and drop the question.
    const socket = connect(port, host, () => socket.write(word));
    socket.setEncoding('utf8');
    socket.setTimeout(timeout, () => {
      answer = '';
      socket.destroy();
    });
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => resolve(answer));
  });
}
