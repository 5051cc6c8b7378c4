import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Cycles, CyclesTaken, RedisContestant } from './redis-contestant.js';

/** Redisson, in a Java machine of its own. */
export class RedissonContestant {
  readonly #answers: AsyncIterator<string>;

  private constructor(private readonly java: ChildProcess) {
    this.#answers = createInterface({ input: java.stdout! })[Symbol.asyncIterator]();
  }

  /** Resolves when it is connected. */
  static async start(urls: readonly string[], classPath: string): Promise<RedissonContestant> {
    const java = spawn(
      'java',
      [
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
        '-cp',
        classPath,
        'benchmark.RedissonBenchmarkPeer',
        ...urls,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const redisson = new RedissonContestant(java);
    await redisson.#answer();
    return redisson;
  }

  /** Its work with one recipe. */
  of(recipe: 'lock' | 'semaphore' | 'oneSlot' | 'manySlots' | 'redLock'): RedisContestant {
    return { cycles: (cycles) => this.#cycles(recipe, cycles) };
  }

  async #cycles(recipe: string, { keys, lanes, count }: Cycles): Promise<CyclesTaken> {
    this.java.stdin!.write(`${recipe} ${keys} ${lanes} ${count}\n`);
    const [took, ...times] = (await this.#answer()).split(' ').map(Number);
    return { took: took! / 1e6, times: times.map((nanos) => nanos / 1e3) };
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
