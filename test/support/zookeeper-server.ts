import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { fourLetterWord } from './four-letter-word.js';
import { freePorts } from './free-ports.js';
import { WatchedProcess } from './watched-process.js';
import { zooKeeperClassPath } from './zookeeper-class-path.js';
import {
  zooKeeperConfig,
  zooKeeperJvmArgs,
  type ZooKeeperServerOptions,
} from './zookeeper-config.js';

const START_ATTEMPTS = 5;

/** A real ZooKeeper server on a loopback port, with its data in a temporary folder. */
export class ZooKeeperServer {
  readonly host: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'zookeeper-'));
  private process: WatchedProcess | undefined;

  /** A server that does not run yet; `restart()` starts it. */
  constructor(
    readonly port: number,
    private readonly options: ZooKeeperServerOptions = {},
  ) {
    this.host = options.host ?? '127.0.0.1';
  }

  /** Starts a standalone server on a free port; resolves when it answers. */
  static async start(options: ZooKeeperServerOptions = {}): Promise<ZooKeeperServer> {
    for (let attempt = 1; ; attempt++) {
      const [port] = await freePorts(1, options.host ?? '127.0.0.1');
      const server = new ZooKeeperServer(port!, options);
      try {
        await server.restart();
        return server;
      } catch (error) {
        await server.stop();
        if (attempt === START_ATTEMPTS) throw error; // else another process may have won the port
      }
    }
  }

  /** `host:port`, as clients want it. */
  get connectString(): string {
    return isIPv6(this.host) ? `[${this.host}]:${this.port}` : `${this.host}:${this.port}`;
  }

  /** Whether its process exists, frozen or not. */
  get running(): boolean {
    return this.process?.running ?? false;
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

  /** SIGKILL. The data stays, for `restart()`. */
  async kill(): Promise<void> {
    await this.process?.kill();
  }

  /** SIGSTOP: it keeps its connections and answers nothing. */
  freeze(): void {
    this.process?.freeze();
  }

  /** SIGCONT: it goes on where it was. */
  thaw(): void {
    this.process?.thaw();
  }

  /** Ends it for good and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
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
