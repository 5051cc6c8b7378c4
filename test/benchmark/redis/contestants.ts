import { resolve } from 'node:path';
import { redissonClassPath } from '../../interop/support/builds.js';
import { JavaPeer, runs } from '../contestants.js';

/** Takes a lock however long that lasts; resolves to what gives it back. */
export type Acquire = () => Promise<() => Promise<unknown>>;

/** A library: makes a lock object of its own for a contender, on the one connection that it has. */
export type LockMaker = (key: string) => Acquire;

/** Acquire + release, `count` times in all, by `lanes` contenders with a lock object each, on so many `keys`. */
export interface Cycles {
  readonly keys: number;
  readonly lanes: number;
  readonly count: number;
}

export interface CyclesTaken {
  /** All of it, in ms. */
  readonly took: number;
  /** Each cycle, in µs. */
  readonly times: readonly number[];
}

/** A library at work. It does one thing at a time, and keeps its connection and lock objects. */
export interface RedisContestant {
  cycles(cycles: Cycles): Promise<CyclesTaken>;
}

/** Those who compete in a run, by name: `ours`, the peers that are there, and the `floor`. */
export type RedisContestants = Readonly<Record<string, RedisContestant>>;

/** A library in this process. */
export class NodeContestant implements RedisContestant {
  readonly #locks = new Map<string, Acquire[]>();

  constructor(private readonly lockOn: LockMaker) {}

  async cycles({ keys, lanes, count }: Cycles): Promise<CyclesTaken> {
    const id = `${keys} ${lanes}`;
    const locks =
      this.#locks.get(id) ??
      Array.from({ length: lanes }, (_, lane) => this.lockOn(`${id} ${lane % keys}`));
    this.#locks.set(id, locks);

    const times: number[] = [];
    let left = count;
    const begin = performance.now();
    await Promise.all(
      locks.map(async (acquire) => {
        while (left-- > 0) {
          const start = performance.now();
          const release = await acquire();
          await release();
          times.push((performance.now() - start) * 1_000);
        }
      }),
    );
    return { took: performance.now() - begin, times };
  }
}

/** Redisson, in a Java machine of its own. */
export class RedissonContestant {
  private constructor(private readonly peer: JavaPeer) {}

  static async start(urls: readonly string[], classPath: string): Promise<RedissonContestant> {
    return new RedissonContestant(
      await JavaPeer.start(classPath, 'RedissonBenchmarkPeer', ...urls),
    );
  }

  /** Its work with one recipe. */
  of(recipe: 'lock' | 'semaphore' | 'oneSlot' | 'manySlots' | 'redLock'): RedisContestant {
    return {
      cycles: async ({ keys, lanes, count }) => {
        const [took, ...times] = await this.peer.ask(recipe, keys, lanes, count);
        return { took: took! / 1e6, times: times.map((nanos) => nanos / 1e3) };
      },
    };
  }

  close(): Promise<void> {
    return this.peer.close();
  }
}

const INTEROP = resolve('test/interop/redisson-java');
const SOURCE = resolve('test/benchmark/redis/java/benchmark/RedissonBenchmarkPeer.java');
const CLASSES = resolve('test/benchmark/redis/java/dist');

/** The Java peer on Redisson, ready to run, or why there is none. */
export type RedissonBuild = { readonly classPath: string } | { readonly missing: string };

/** Compiles it against the Redisson that the interop tests have from Maven. */
export function buildRedissonPeer(): RedissonBuild {
  if (!runs('javac', '-version')) return { missing: 'no JDK' };
  if (redissonClassPath() === undefined) runs('mvn', '-q', '-B', '-f', INTEROP, 'compile');
  const libraries = redissonClassPath();
  if (libraries === undefined) return { missing: 'no Maven, or it cannot download what it needs' };
  if (!runs('javac', '-d', CLASSES, '-cp', libraries, SOURCE))
    return { missing: 'it does not compile' };
  return { classPath: `${CLASSES}:${libraries}` };
}
