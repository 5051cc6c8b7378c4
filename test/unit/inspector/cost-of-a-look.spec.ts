import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import type { LockClient } from '../../../lib/core/index.js';
import { acquireStatus, urgentActivity } from '../../../lib/core/internal/client-activity.js';
import { Hold, type ClientHold } from '../../../lib/core/internal/hold.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import {
  LOCK_INSPECTION,
  type LockInspection,
  readEach,
} from '../../../lib/core/lock-inspection.js';
import { ClientInspector } from '../../../lib/inspector/client-inspector.js';
import { inspectorSettings } from '../../../lib/inspector/lock-inspector-options.interface.js';
import { busiestTurn } from '../../support/turns.js';

/** The acquires of a client, which counts how often its holds are examined, and how many are reported. */
class Acquires {
  readonly clock = systemClock;
  readonly holds = new OrderedSet<ClientHold>();
  readonly waits = new OrderedSet<WaitScope>();
  examined = 0;
  reported = 0;

  constructor(held: number) {
    for (let i = 0; i < held; i++) this.hold(`order:${i}`);
  }

  hold(key: string, safeForMs?: number): ClientHold {
    const holders = [`uuid:${key}`];
    holders.slice = () => ((this.reported += 1), [`uuid:${key}`]);
    const backend = {
      safeForMs,
      holders,
      isExclusive: () => ((this.examined += 1), true),
      fencingToken: () => Promise.resolve(1n),
      lost: () => {},
      free: () => Promise.resolve(),
    };
    const identity = { recipe: 'mutex', name: `/locks/${key}` } as ClientHold['identity'];
    const events = { isHeard: () => false } as never;
    const client = { clock: this.clock, holds: this.holds, events };
    return new Hold(identity, { key, client: 'c' }, backend, 'Orders.pay', client);
  }

  wait(key: string | undefined): WaitScope {
    const recipe = key === undefined ? undefined : ('mutex' as const);
    return new WaitScope({ key, recipe, client: 'c', clock: this.clock, open: this.waits }, {});
  }

  /** An inspector of that client. */
  get inspector(): ClientInspector {
    const inspection: LockInspection = {
      nameOf: (key) => `/locks/${key}`,
      keyOf: (name) => name.slice('/locks/'.length),
      activity: (most) => urgentActivity(this, most),
      locks: ({ names, limit }) => {
        const locks = [...names].slice(0, limit).map((name) => {
          const ids = [`uuid:${name.slice('/locks/'.length)}`];
          return { name, kind: 'mutex' as const, parties: [{ ids, state: 'held' as const }] };
        });
        return Promise.resolve({ locks, omitted: names.size - locks.length, refusals: [] });
      },
      health: () => ({ health: 'up', state: 'CONNECTED' }),
      release: () => Promise.resolve(false),
      exchange: () => undefined,
    };
    const client = {
      name: 'c',
      on: () => () => {},
      [LOCK_INSPECTION]: inspection,
    } as unknown as LockClient;
    return new ClientInspector(client, inspectorSettings({}));
  }
}

describe('A look of the inspector', () => {
  it('examines no more of 100,000 locks than of 10,000, and counts them all', async () => {
    for (const held of [10_000, 100_000]) {
      const acquires = new Acquires(held);
      const { locks, processes } = await acquires.inspector.inspect();
      expect(acquires.examined).toBe(5_000);
      expect(locks).toHaveLength(500);
      expect(processes).toMatchObject([{ held, waiting: 0, omitted: held - 1_000 }]);
    }
  });

  it('examines the locks in one turn of the event loop, and reports them in another', async () => {
    const acquires = new Acquires(1_000);
    const count = () => acquires.examined + acquires.reported;
    expect(await busiestTurn(count, () => acquires.inspector.inspect())).toBe(1_000);
    expect(count()).toBe(2_000);
  });

  it('shows waiters and the locks that they wait for, however many others are older', async () => {
    const acquires = new Acquires(4_000);
    acquires.wait('order:3999');
    const { locks, processes } = await acquires.inspector.inspect();
    const awaited = locks.find(({ key }) => key === 'order:3999');
    expect(awaited).toMatchObject({ holders: [{ method: 'Orders.pay' }], queue: [{}] });
    expect(processes).toMatchObject([{ held: 4_000, waiting: 1, omitted: 3_001 }]);
  });
});

describe('The locks of a look', () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `/locks/${i}`);
  const isRefusal = (error: unknown): error is Error => (error as Error).message === 'refused';

  it('are read in groups of 250, in the order of their names', async () => {
    let [reading, most] = [0, 0];
    const { locks } = await readEach(
      names,
      async (name) => {
        most = Math.max(most, (reading += 1));
        await Promise.resolve();
        reading -= 1;
        return { name, kind: 'mutex', parties: [] };
      },
      isRefusal,
    );
    expect(most).toBe(250);
    expect(locks.map(({ name }) => name)).toEqual(names);
  });

  it('are read but for those that are none, and those that the servers refuse', async () => {
    const read = async (name: string) => {
      if (name.endsWith('7')) throw new Error('refused');
      await Promise.resolve();
      return name.endsWith('8') ? undefined : ({ name, kind: 'mutex', parties: [] } as const);
    };
    const { locks, refusals } = await readEach(names, read, isRefusal);
    expect(locks).toHaveLength(800);
    expect(refusals).toEqual(new Array(100).fill('refused'));
  });

  it.each([
    ['all of them are refused', 0, 'refused'],
    ['one cannot be read for another reason', 999, 'no connection'],
  ])('are not read when %s', async (_, from, message) => {
    const read = (name: string) =>
      Number(name.slice('/locks/'.length)) >= from
        ? Promise.reject(new Error(message))
        : Promise.resolve(undefined);
    await expect(readEach(names, read, isRefusal)).rejects.toThrow(message);
  });
});

describe('The most urgent acquires of a client', () => {
  const keysOf = ({ activities }: ReturnType<typeof urgentActivity>) =>
    activities.map(({ key, state }) => `${state} ${key}`);

  it('are those that wait and the locks held, in turn, the awaited lock first', () => {
    const acquires = new Acquires(3);
    acquires.wait('order:2');
    acquires.wait(undefined); // a latch: no lock
    acquires.wait('order:2');
    const all = urgentActivity(acquires, 5);
    expect(keysOf(all)).toEqual([
      ...['waiting order:2', 'held order:2', 'waiting order:2', 'held order:0', 'held order:1'],
    ]);
    expect(all.unlisted).toEqual({ held: 0, waiting: 0 });
    const some = urgentActivity(acquires, 3);
    expect(keysOf(some)).toEqual(['waiting order:2', 'held order:2', 'waiting order:2']);
    expect(some.unlisted).toEqual({ held: 2, waiting: 0 });
  });

  it.each([
    [0, 9, 4, 0, 5],
    [9, 0, 4, 5, 0],
    [9, 9, 4, 7, 7],
    [9, 1, 4, 6, 0],
  ])('of %i held and %i waiting are %i', (held, waiting, most, unlistedHeld, unlistedWaiting) => {
    const acquires = new Acquires(held);
    for (let i = 0; i < waiting; i++) acquires.wait(`other:${i}`);
    const { activities, unlisted } = urgentActivity(acquires, most);
    expect(activities).toHaveLength(most);
    expect(unlisted).toEqual({ held: unlistedHeld, waiting: unlistedWaiting });
  });

  it('come with the number of locks that are endangered, of those that were examined', () => {
    const acquires = new Acquires(2);
    for (const key of ['a', 'b', 'lost']) acquires.hold(key, 5_000);
    [...acquires.holds].at(-1)!.markLost('for the test');
    expect(urgentActivity(acquires, 1).endangered).toBe(2);
    expect(acquireStatus(acquires)).toMatchObject({ held: 4, endangered: 2, waiting: 0 });
  });

  it('are none that are lost', () => {
    const acquires = new Acquires(1);
    const lost = acquires.hold('lost');
    lost.markLost('for the test');
    const { activities, unlisted } = urgentActivity(acquires, 9);
    expect(activities).toMatchObject([{ key: 'order:0' }]);
    expect(unlisted).toEqual({ held: 0, waiting: 0 });
  });
});
