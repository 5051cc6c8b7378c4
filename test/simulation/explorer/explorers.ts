import { availableParallelism } from 'node:os';
import { Program } from '../../faults/support/program.js';
import type { TaskReport } from './exploration.js';
import type { AnyOrder, AnyTask, Retold } from './explorer-program.js';

const PROGRAM = new URL('explorer-program.ts', import.meta.url);

/** As many processes that explore as there are cores. Call `stop` at the end. */
export class Explorers {
  readonly #all = Array.from({ length: availableParallelism() }, () => new Program(PROGRAM));
  readonly #free = [...this.#all];
  readonly #waiting: ((program: Program) => void)[] = [];

  perform(task: AnyTask): Promise<TaskReport> {
    return this.#ask<TaskReport>(task);
  }

  /** Takes those steps once. */
  retell(task: AnyTask, steps: readonly string[]): Promise<Retold> {
    return this.#ask<Retold>({ ...task, steps });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((program) => program.stop()));
  }

  async #ask<T>(order: AnyOrder): Promise<T> {
    const program =
      this.#free.pop() ?? (await new Promise<Program>((resolve) => this.#waiting.push(resolve)));
    program.tell(JSON.stringify(order));
    const report = await program.next<T>();
    const next = this.#waiting.shift();
    if (next) next(program);
    else this.#free.push(program);
    return report;
  }
}
