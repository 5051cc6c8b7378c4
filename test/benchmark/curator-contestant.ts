import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Contestant, Recipe } from './contestant.js';

/** Curator, in a Java machine of its own. Both have the settings that they have when nobody sets any. */
export class CuratorContestant implements Contestant {
  readonly #answers: AsyncIterator<string>;

  private constructor(private readonly java: ChildProcess) {
    this.#answers = createInterface({ input: java.stdout! })[Symbol.asyncIterator]();
  }

  /** Resolves when it is connected. */
  static async start(connectString: string, classPath: string): Promise<CuratorContestant> {
    const java = spawn(
      'java',
      [
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
        '-cp',
        classPath,
        'benchmark.BenchmarkPeer',
        connectString,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const curator = new CuratorContestant(java);
    await curator.#answer();
    return curator;
  }

  async cycles(recipe: Recipe, path: string, lanes: number, count: number): Promise<number> {
    const [took] = await this.#ask('cycles', recipe, path, lanes, count);
    return took!;
  }

  async queue(path: string, waiters: number, sessions: number): Promise<void> {
    await this.#ask('queue', path, waiters, sessions);
  }

  serve(): Promise<number[]> {
    return this.#ask('serve');
  }

  async close(): Promise<void> {
    const exited = once(this.java, 'exit');
    this.java.stdin!.end();
    await exited;
  }

  async #ask(...command: (string | number)[]): Promise<number[]> {
    this.java.stdin!.write(`${command.join(' ')}\n`);
    return (await this.#answer()).split(' ').map((nanos) => Number(nanos) / 1e6);
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('The Java peer has ended: see above');
    return value;
  }
}
