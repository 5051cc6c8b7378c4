import { expect, it } from '@jest/globals';
import { LockAbortedError, LockDeadlockError } from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { byTier } from '../support/tier.js';
import { Deferred, toldAt } from '../support/time.js';
import { type LockStage, nextEvent, useWarnings } from './backends/stage.js';

/** In ms. Three seconds are promised, and kept in virtual time; beside other tests a machine may be slower. */
const NAMED_WITHIN = byTier({ quick: 10_000, standard: 10_000, long: 3_000 });

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

/** What becomes of acquires of several clients that wait for each other, as those of several processes do. */
export function peerDeadlockSuite(stage: () => LockStage): void {
  const warnings = useWarnings();

  it('with acquires of two other clients is named, and broken where that is asked', async () => {
    const warn = warnings();
    const { key } = stage();
    const keys = ['a', 'b', 'c'].map((name) => `{${key}}-${name}`);
    const asked = { onDeadlock: 'reject' } as const;
    const clients = await Promise.all(keys.map(() => stage().client(asked)));
    const errors: LockDeadlockError[] = [];
    const named = toldAt((notify) => {
      for (const { locks } of clients)
        locks.on('deadlock', ({ error }) => {
          errors.push(error);
          notify();
        });
    });
    const inside = clients.map(() => new Deferred());
    const contended = clients.map(({ locks }) => nextEvent(locks, 'contended'));
    const calls = clients.map(({ locks }, i) =>
      locks.mutex(keys[i]!).using(
        async () => {
          inside[i]!.resolve();
          await Promise.all(inside.map(({ promise }) => promise));
          await locks.mutex(keys[(i + 1) % 3]!).using(() => {}, { method: `m${i}` });
        },
        { method: `m${i}` },
      ),
    );
    const ended = Promise.allSettled(calls);
    await Promise.all(contended);
    const closed = Date.now();
    expect((await named) - closed).toBeLessThan(NAMED_WITHIN);
    const outcomes = await ended;
    expect(errors).toHaveLength(1);
    const [{ circle, message, key: waitedFor }] = errors as [LockDeadlockError];
    const youngest = outcomes.findIndex(({ status }) => status === 'rejected');
    expect(outcomes[youngest]).toMatchObject({ reason: expect.any(LockDeadlockError) });
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(waitedFor).toBe(keys[(youngest + 1) % 3]);
    const client = clients[0]!.locks.name;
    const inCircle = [0, 1, 2].map((i) => (youngest + i) % 3);
    expect(circle).toEqual(
      inCircle.map((i) => ({
        ...{ client, method: `m${i}`, holder: `m${i}` },
        ...{ holds: keys[i], waitsFor: keys[(i + 1) % 3] },
      })),
    );
    expect(warn).toHaveBeenCalledWith(`Deadlock: ${message}`, { code: 'LOCK_DEADLOCK' });
  });
}
