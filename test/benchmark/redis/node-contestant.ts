import type { Acquire, LockMaker } from './lock-maker.js';
import type { Cycles, CyclesTaken, RedisContestant } from './redis-contestant.js';

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
