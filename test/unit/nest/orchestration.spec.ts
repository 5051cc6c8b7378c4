import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { VirtualClock } from '../../support/time.js';
import { connectionLogger, endangeredLogger } from '../../../lib/clients/client-logging.js';
import { Hold } from '../../../lib/core/internal/hold.js';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { LockLostError, type OnLost } from '../../../lib/index.js';
import { runUnderLease } from '../../../lib/calls/run-under-lease.js';

const logger = new Logger();

/** A lease that does not report its loss: it shows only when the clock is asked. */
function silentLease() {
  const clock = { isOver: false };
  const hold = new Hold(
    { scope: clock, recipe: 'mutex', name: 'import' },
    { key: 'import' },
    {
      isExclusive: () => !clock.isOver,
      fencingToken: () => Promise.resolve(1n),
      lost() {},
      free: () => Promise.resolve(),
    },
  );
  return { lease: new LeaseHandle(hold), clock };
}

/** What becomes of a call to a method that blocks the event loop for longer than the lease, and ends with `end`. */
async function blocked(onLost: OnLost | undefined, end: () => string): Promise<unknown> {
  const { lease, clock } = silentLease();
  const plan = {
    decorator: 'WithMutex',
    method: 'Import.load',
    lock: { key: 'import' },
    options: { onLost },
  };
  try {
    const proceed = () => {
      clock.isOver = true;
      return end();
    };
    return await runUnderLease(
      lease,
      plan,
      { self: undefined, args: ['sales.csv'], proceed },
      { logger },
    );
  } finally {
    expect(lease.isHeld).toBe(false);
  }
}

const done = () => 'done';
const failing = () => {
  throw new RangeError('no such file');
};

describe('A loss that only the clock knows of, as the event loop was blocked', () => {
  it.each([undefined, 'throw', 'abort'] as const)('rejects the call (%s)', async (onLost) => {
    await expect(blocked(onLost, done)).rejects.toBeInstanceOf(LockLostError);
  });

  it.each([undefined, 'throw', 'abort', 'ignore'] as const)(
    'does not hide the error of the method (%s)',
    async (onLost) => {
      await expect(blocked(onLost, failing)).rejects.toEqual(new RangeError('no such file'));
    },
  );

  it('is ignored with the policy `ignore`', async () => {
    expect(await blocked('ignore', done)).toBe('done');
  });

  it.each([done, failing])('is passed to a function, with the arguments (%p)', async (end) => {
    const told: unknown[] = [];
    const onLost: OnLost = (...all: unknown[]) => void told.push(...all);
    const call = blocked(onLost, end).catch((error: Error) => error.message);
    expect(['done', 'no such file']).toContain(await call);
    expect(told).toEqual([expect.any(LockLostError), 'sales.csv']);
  });

  it('is not looked for where the lease was released by hand before', async () => {
    const { lease, clock } = silentLease();
    const plan = { decorator: 'WithMutex', method: 'a.b', lock: { key: 'import' }, options: {} };
    const proceed = async () => {
      await lease.release();
      clock.isOver = true;
      return 'done';
    };
    const call = runUnderLease(lease, plan, { self: undefined, args: [], proceed }, { logger });
    expect(await call).toBe('done');
  });
});

describe('The log of locks in danger', () => {
  it('is one line for those of one moment, and one that counts the others', async () => {
    const clock = new VirtualClock();
    const lines: string[] = [];
    const warn = (line: string) => void lines.push(line);
    const listen = endangeredLogger({ warn }, 'orders', clock);
    const event = {
      ...{ key: 'a', recipe: 'mutex' as const },
      confirmedAgoMs: 15_200,
      safeForMs: 14_480,
    };
    listen(event);
    for (const key of ['b', 'c', 'd']) listen({ ...event, key });
    await clock.advance(1_000);
    const stall = { ms: 15_000, agoMs: 0, asleepMs: 14_000 };
    listen({ ...event, method: 'Orders.pay', stall });
    await clock.advance(10_000);
    expect(lines).toEqual([
      'Lock client "orders": the servers have not confirmed lock "a" for 15.2 s; it is lost in 14.5 s',
      'Lock client "orders": the same is true of 3 more of its locks',
      'Lock client "orders": the servers have not confirmed lock "a" of Orders.pay for 15.2 s (this machine slept for 15.0 s, until 0.0 s before); it is lost in 14.5 s',
    ]);
    expect(clock.isIdle).toBe(true);
  });
});

describe('The log of a connection', () => {
  const logOf = (...events: [state: string, reason: string, server?: number][]): string[] => {
    const lines: string[] = [];
    const at = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
    const logger = { log: at('log'), warn: at('warn'), error: at('error') };
    const listen = connectionLogger(logger, 'orders');
    for (const [state, reason, server] of events) listen({ state, reason, server });
    return lines;
  };

  it('is quiet about what is well, warns of what may pass, and shouts about lost locks', () => {
    expect(
      logOf(
        ['CONNECTING', 'zk1:2181: refused'],
        ['CONNECTED', 'session 0x1'],
        ['SUSPENDED', 'zk1:2181: no answer'],
        ['SUSPENDED', 'zk2:2181: refused'],
        ['RECONNECTED', 'session 0x1'],
        ['SUSPENDED', 'zk2:2181: no answer'],
        ['LOST', 'no answer for 30000 ms'],
        ['LOST', 'zk1:2181: refused'],
        ['RECONNECTED', 'session 0x2'],
        ['CLOSED', 'closed by its owner'],
      ),
    ).toEqual([
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": CONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk1:2181: no answer)',
      'warn: Lock client "orders" cannot connect: zk2:2181: refused; it goes on trying',
      'log: Lock client "orders": RECONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk2:2181: no answer)',
      'error: Lock client "orders": LOST (no answer for 30000 ms); all its locks are lost',
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": RECONNECTED (session 0x2)',
    ]);
  });

  it('reports only the first of many failed attempts, and again after a change', () => {
    expect(
      logOf(
        ['CONNECTING', 'zk1:2181: refused'],
        ['CONNECTING', 'zk2:2181: refused'],
        ['CONNECTING', 'zk1:2181: refused'],
        ['CONNECTED', 'session 0x1'],
        ['SUSPENDED', 'zk1:2181: no answer'],
        ['SUSPENDED', 'zk1:2181: refused'],
        ['SUSPENDED', 'zk2:2181: refused'],
        ['RECONNECTED', 'session 0x1'],
      ),
    ).toEqual([
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": CONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk1:2181: no answer)',
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": RECONNECTED (session 0x1)',
    ]);
  });

  it('reports the change of each of several servers', () => {
    const closed = (server: number) =>
      ['SUSPENDED', `server ${server} of 3: connection closed`, server] as const;
    expect(
      logOf([...closed(1)], [...closed(2)], [...closed(3)], [...closed(1)], [...closed(1)]),
    ).toEqual([
      'warn: Lock client "orders": SUSPENDED (server 1 of 3: connection closed)',
      'warn: Lock client "orders": SUSPENDED (server 2 of 3: connection closed)',
      'warn: Lock client "orders": SUSPENDED (server 3 of 3: connection closed)',
      'warn: Lock client "orders" cannot connect: server 1 of 3: connection closed; it goes on trying',
    ]);
  });

  it('reports once that a server refuses, and once that it no longer does', () => {
    expect(
      logOf(['CONNECTED', 'the servers answer'], ['REFUSED', 'OOM'], ['CONNECTED', 'it is over']),
    ).toEqual([
      'log: Lock client "orders": CONNECTED (the servers answer)',
      'warn: Lock client "orders": REFUSED (OOM)',
      'log: Lock client "orders": CONNECTED (it is over)',
    ]);
  });
});
