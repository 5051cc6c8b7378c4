import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import { CURATOR_RELEASES, curatorClassPath } from '../interop/support/builds.js';
import { defaultDriver } from '../support/zookeeper-driver.js';

/** A recipe as all sides know it; `semaphore:3` has three permits, the multi-lock is one of five mutexes. */
export type Recipe =
  'mutex' | 'readLock' | 'writeLock' | `semaphore:${number}` | 'semaphoreMutex' | 'multiLock';

/** Those who compete in a run, by name: `ours`, and the peers that are there. */
export type Contestants = Readonly<Record<string, Contestant>>;

/** A library at work. It does one thing at a time, and keeps its sessions and lock objects. */
export interface Contestant {
  /**
   * Acquire + release, `count` times in all, by `lanes` contenders of one client that each have a lock object of their own.
   * Resolves with the time that it took, in ms.
   */
  cycles(recipe: Recipe, path: string, lanes: number, count: number): Promise<number>;
  /** Takes the mutex, and has others begin to queue for it, spread over so many sessions. */
  queue(path: string, waiters: number, sessions: number): Promise<void>;
  /** Lets that queue go: each waiter releases at once. Resolves with the times from then to each grant, in ms. */
  serve(): Promise<number[]>;
  close(): Promise<void>;
}

/** This library, in this process, by the driver of `ZOOKEEPER_DRIVER`, else the native one. */
export class OurContestant implements Contestant {
  readonly #clients: ZooKeeperLockClient[] = [];
  readonly #locks = new Map<string, Lock[]>();
  #queued?: { holder: Lease; grantedAt: number[]; released: Promise<unknown> };

  constructor(private readonly connectString: string) {}

  async cycles(recipe: Recipe, path: string, lanes: number, count: number): Promise<number> {
    const [client] = await this.#connected(1);
    const id = `${recipe} ${path}`;
    if (!this.#locks.has(id)) this.#locks.set(id, []);
    const locks = this.#locks.get(id)!;
    while (locks.length < lanes) locks.push(lockOf(client!, recipe, path));

    let left = count;
    const begin = performance.now();
    await Promise.all(
      locks.slice(0, lanes).map(async (lock) => {
        while (left-- > 0) await (await lock.acquire()).release();
      }),
    );
    return performance.now() - begin;
  }

  async queue(path: string, waiters: number, sessions: number): Promise<void> {
    const clients = await this.#connected(sessions);
    const holder = await clients[0]!.mutex(path).acquire();
    const grantedAt: number[] = [];
    const passOn = async (client: ZooKeeperLockClient) => {
      const lease = await client.mutex(path).acquire();
      grantedAt.push(performance.now());
      await lease.release();
    };
    const waits = Array.from({ length: waiters }, (_, i) => passOn(clients[i % sessions]!));
    this.#queued = { holder, grantedAt, released: Promise.all(waits) };
  }

  async serve(): Promise<number[]> {
    const { holder, grantedAt, released } = this.#queued!;
    const begin = performance.now();
    await holder.release();
    await released;
    return grantedAt.map((at) => at - begin);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #connected(count: number): Promise<ZooKeeperLockClient[]> {
    while (this.#clients.length < count) {
      const name = `benchmark-${this.#clients.length}`;
      const client = await createZooKeeperLockClient(name, {
        connect: this.connectString,
        driver: defaultDriver,
        literalPaths: true,
      });
      await client.connect();
      this.#clients.push(client);
    }
    return this.#clients.slice(0, count);
  }
}

/** A new lock object of ours for a recipe on a path. */
export function lockOf(client: ZooKeeperLockClient, recipe: Recipe, path: string): Lock {
  switch (recipe) {
    case 'mutex':
      return client.mutex(path);
    case 'readLock':
      return client.readWriteLock(path).readLock();
    case 'writeLock':
      return client.readWriteLock(path).writeLock();
    case 'semaphoreMutex':
      return client.semaphoreMutex(path);
    case 'multiLock':
      return client.multiLock([0, 1, 2, 3, 4].map((i) => client.mutex(`${path}-${i}`)));
    default:
      return client.semaphore(path, { permits: Number(recipe.slice('semaphore:'.length)) });
  }
}

/** A Java machine that answers each line with numbers, in the order of the questions. */
export class JavaPeer {
  readonly #answers: AsyncIterator<string>;

  private constructor(private readonly java: ChildProcess) {
    this.#answers = createInterface({ input: java.stdout! })[Symbol.asyncIterator]();
  }

  /** Resolves when it is connected. */
  static async start(classPath: string, program: string, ...args: string[]): Promise<JavaPeer> {
    const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
    const java = spawn('java', [quiet, '-cp', classPath, `benchmark.${program}`, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const peer = new JavaPeer(java);
    await peer.#answer();
    return peer;
  }

  async ask(...words: (string | number)[]): Promise<number[]> {
    this.java.stdin!.write(`${words.join(' ')}\n`);
    return (await this.#answer()).split(' ').map(Number);
  }

  async close(): Promise<void> {
    const exited = once(this.java, 'exit');
    this.java.stdin!.end();
    await exited;
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('The Java peer has ended: see above');
    return value;
  }
}

/** Curator, in a Java machine of its own. Both have the settings that they have when nobody sets any. */
export class CuratorContestant implements Contestant {
  private constructor(private readonly peer: JavaPeer) {}

  static async start(connectString: string, classPath: string): Promise<CuratorContestant> {
    return new CuratorContestant(await JavaPeer.start(classPath, 'BenchmarkPeer', connectString));
  }

  async cycles(recipe: Recipe, path: string, lanes: number, count: number): Promise<number> {
    const [took] = await this.peer.ask('cycles', recipe, path, lanes, count);
    return took! / 1e6;
  }

  async queue(path: string, waiters: number, sessions: number): Promise<void> {
    await this.peer.ask('queue', path, waiters, sessions);
  }

  async serve(): Promise<number[]> {
    return (await this.peer.ask('serve')).map((nanos) => nanos / 1e6);
  }

  close(): Promise<void> {
    return this.peer.close();
  }
}

const PROJECT = resolve('test/interop/java');
const DEBIAN_JARS = [
  'curator-recipes',
  'curator-framework',
  'curator-client',
  'zookeeper',
  'slf4j-simple',
].map((name) => `/usr/share/java/${name}.jar`);

/** The Java peer, ready to run, or why there is none. */
export type CuratorBuild =
  { readonly classPath: string; readonly release: string } | { readonly missing: string };

/** Builds it with Maven against the newest Curator, else against that of Debian's packages. */
export function buildCuratorPeer(): CuratorBuild {
  if (!runs('javac', '-version')) return { missing: 'no JDK' };
  return (
    withMaven() ??
    withDebian() ?? {
      missing: "neither Maven, with what it downloads, nor Debian's libcurator-recipes-java",
    }
  );
}

function withMaven(): CuratorBuild | undefined {
  const [release] = CURATOR_RELEASES;
  if (!runs('mvn', '-q', '-B', '-f', PROJECT, `-Dcurator.version=${release}`, 'compile'))
    return undefined;
  return { classPath: curatorClassPath(release)!, release };
}

function withDebian(): CuratorBuild | undefined {
  if (!DEBIAN_JARS.every((jar) => existsSync(jar))) return undefined;
  const classes = join(PROJECT, 'target/debian');
  const sources = join(PROJECT, 'src/main/java/benchmark');
  const files = readdirSync(sources).map((file) => join(sources, file));
  const jars = DEBIAN_JARS.join(':');
  if (!runs('javac', '-d', classes, '-cp', jars, ...files)) return undefined;
  return { classPath: `${classes}:${jars}`, release: 'of Debian' };
}

/** Whether that succeeds. */
export function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}
