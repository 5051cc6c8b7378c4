import { expect, it } from '@jest/globals';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { Deferred } from '../support/time.js';
import { type LockStage, nextEvent, useWarnings } from './backends/stage.js';

/** What becomes of acquires that wait for each other. */
export function deadlockSuite(stage: () => LockStage): void {
  const warnings = useWarnings();

  it('with another acquire of the client is reported, with what each holds and waits for', async () => {
    const warn = warnings();
    const { mine, key } = stage();
    const [a, b] = [`{${key}}-a`, `{${key}}-b`];
    const client = mine.locks.name;
    const stop = new AbortController();
    const inside = [new Deferred(), new Deferred()] as const;
    const nest = (outer: Lock, inner: Lock, method: string, i: 0 | 1) =>
      outer.using(
        async () => {
          inside[i].resolve();
          await Promise.all(inside.map(({ promise }) => promise));
          await inner.using(() => {}, { method, signal: stop.signal });
        },
        { method: 'open' },
      );
    const mutex = (name: string) => mine.locks.mutex(name);
    const told = nextEvent(mine.locks, 'deadlock');
    const calls = [nest(mutex(a), mutex(b), 'pay', 0), nest(mutex(b), mutex(a), 'book', 1)];
    const ended = Promise.allSettled(calls);
    const { error, method } = await told;
    expect(new Set(error.circle.map((each) => JSON.stringify(each)))).toEqual(
      new Set([
        JSON.stringify({ client, method: 'pay', holds: a, holder: 'open', waitsFor: b }),
        JSON.stringify({ client, method: 'book', holds: b, holder: 'open', waitsFor: a }),
      ]),
    );
    expect(error.circle[0]!.method).toBe(method);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Deadlock: /), expect.anything());
    stop.abort();
    for (const outcome of await ended)
      expect(outcome).toMatchObject({ reason: expect.any(LockAbortedError) });
  });
}
