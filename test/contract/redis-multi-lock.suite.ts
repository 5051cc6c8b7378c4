import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Mutex } from '../../lib/core/lock.js';
import { lockAcquire } from '../../lib/redis/scripts/index.js';
import { CriticalSection } from '../faults/support/leases.js';
import { eventually } from '../support/time.js';
import { seededRandom } from '../support/seeded-random.js';
import { eventsOf, expectLost } from './backends/leases.js';
import {
  type RedisBackend,
  redisRecipes,
  RedisStage,
  type RedisStageClient,
} from './backends/redis.js';
import { type Deployment, onStage } from './backends/stage.js';
import { lockerSuite } from './lock-internals.suite.js';
import {
  kindsOfEvery,
  multiLockKindsSuite,
  multiLockPartsSuite,
  multiLockWaitSuite,
} from './multi-lock.suite.js';
import { everyMutexSuite } from './mutex.suite.js';

const NAMES = {
  multiLock: 'of two mutexes',
  slotMultiLock: 'of two mutexes of one slot',
  fencedMultiLock: 'of two fenced mutexes',
  handedOnMultiLock: 'of two mutexes that are handed on',
};

/**
 * What every mutex promises, of two on Redis held as one; what there is to it when its parts differ; and what locks of
 * every kind have in common.
 *
 * @param two which mutexes: plain ones are taken by one script, of a cluster only in one slot; fenced ones one after the other
 */
export function redisMultiLockSuite(
  on: Deployment<RedisBackend>,
  two: keyof typeof NAMES = 'multiLock',
): void {
  describe(`A multi-lock ${NAMES[two]} on ${on.name}`, () => {
    const stage = onStage(() => RedisStage.build(on.backend(), redisRecipes[two]));
    everyMutexSuite(on, stage, {
      isFair: false,
      isMulti: true,
      isVariant: true,
      shown: 'itself',
    });
    if (two !== 'multiLock') return;
    on.part('and its parts', 'server', () => {
      describe.each(WAYS)('%s', (_, partOf) => {
        multiLockPartsSuite(stage, partOf);
        redisMultiLockLossSuite(stage, partOf);
      });
      multiLockKindsSuite(stage, kindsOfRedis);
    });
    on.part('waiting for parts', 'deployment', () => {
      describe.each(WAYS)('%s', (_, partOf) => {
        multiLockWaitSuite(stage, partOf);
        redisMultiLockWaitSuite(stage, partOf);
      });
    });
    on.part('its parts by one script', 'deployment', () => redisMultiLockScriptSuite(stage));
    on.part('and other locks with await using', 'client', () => lockerSuite(stage));
  });
}

type PartOf = (client: RedisStageClient, key: string) => Mutex;

/** How a multi-lock on Redis takes its parts, which depends on what these are; and such a part. */
const WAYS: [string, PartOf][] = [
  ['taken by one script', ({ locks }, key) => locks.mutex(key)],
  ['taken one after the other', ({ locks }, key) => locks.mutex(key, { fenced: true })],
];

const kindsOfRedis = (client: RedisStageClient, key: string) => ({
  ...kindsOfEvery(client, key),
  fair: client.locks.mutex(`${key}-fair`, { fair: true }),
  fenced: client.locks.mutex(`${key}-fenced`, { fenced: true }),
  spin: client.locks.spinLock(`${key}-spin`),
  fairPermit: client.locks.semaphore(`${key}-fair-semaphore`, { permits: 1, fair: true }),
});

/** What the loss of a part means for the others. */
function redisMultiLockLossSuite(stage: () => RedisStage, partOf: PartOf): void {
  it('make the whole lost when one of them is; the others stay held until it is released', async () => {
    const { mine, theirs, key } = stage();
    const keys = ['a', 'b', 'c'].map((part) => `{${key}}-${part}`);
    const multiOf = (client: RedisStageClient) =>
      client.locks.multiLock(keys.map((part) => partOf(client, part)));
    const lease = await multiOf(mine).acquire();
    const { signal } = lease;
    await theirs.locks.mutex(keys[1]!).forceUnlock();
    stage().makeSure(mine);
    await eventually('the signal of the holder aborts', () => signal.aborted);
    expect((signal.reason as Error).message).toContain(`its part "${keys[1]}"`);
    expectLost(lease);
    for (const part of [keys[0]!, keys[2]!])
      expect(await partOf(theirs, part).tryAcquire()).toBeUndefined();
    await lease.release();
    await using next = await multiOf(theirs).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });
}

/** The lines of waiters in a process, and a crowd in them. */
function redisMultiLockWaitSuite(stage: () => RedisStage, lockOf: PartOf): void {
  const partOf = (client: RedisStageClient, part: string) =>
    lockOf(client, `{${stage().key}}-${part}`);
  const multiOf = (client: RedisStageClient, ...parts: string[]) =>
    client.locks.multiLock(parts.map((part) => partOf(client, part)));

  it('has lines in its process, which it leaves when one of them is long', async () => {
    const { mine, theirs } = stage();
    await using _ = await partOf(mine, 'b').acquire();
    const late = multiOf(mine, 'a', 'b').acquire({ wait: 50 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await multiOf(mine, 'a', 'b').tryAcquire()).toBeUndefined();
    await using free = await partOf(theirs, 'a').tryAcquire();
    expect(free?.isHeld).toBe(true);
  });

  it('never waits in a circle with many that want some of five at random, and with others that want a single one', async () => {
    const { mine, theirs } = stage();
    const parts = ['a', 'b', 'c', 'd', 'e'];
    const sections = new Map(parts.map((part) => [part, new CriticalSection()]));
    const random = seededRandom(2_026);
    const some = () => {
      const order = parts.map((part) => ({ part, at: random() })).sort((a, b) => a.at - b.at);
      return order.slice(0, 1 + Math.floor(random() * 4)).map(({ part }) => part);
    };
    const work = async (client: RedisStageClient) => {
      for (let round = 0; round < 25; round++) {
        const wanted = some();
        const [first] = wanted;
        const lock = wanted.length === 1 ? partOf(client, first!) : multiOf(client, ...wanted);
        const inside = wanted.map((part) => sections.get(part)!);
        await lock.using(() => visit(inside), { wait: 20_000 });
      }
    };
    await Promise.all([mine, theirs, mine, theirs, mine, theirs].map(work));
    for (const { most } of sections.values()) expect(most).toBe(1);
  });

  /** Stays for a turn of the servers. */
  async function visit(sections: readonly CriticalSection[]): Promise<void> {
    for (const section of sections) section.enter('somebody');
    await stage().observer.exists(stage().key);
    for (const section of sections) section.leave();
  }
}

/** What is true of plain mutexes of one client that one script can take. */
function redisMultiLockScriptSuite(stage: () => RedisStage): void {
  const keyOf = (part: string) => `{${stage().key}}-${part}`;
  const multiOf = ({ locks }: RedisStageClient, ...parts: string[]) =>
    locks.multiLock(parts.map((part) => locks.mutex(keyOf(part))));
  /** The keys of each script that the client sends meanwhile to take locks. */
  const partOf = ({ locks }: RedisStageClient, part: string) => locks.mutex(keyOf(part));
  const takenBy = async (client: RedisStageClient, work: () => Promise<unknown>) => {
    const before = client.requests.length;
    await work();
    const sent = client.requests.slice(before);
    const taking = sent.filter(([, sha1]) => sha1 === lockAcquire.sha1);
    return taking.map(([, , count, ...args]) => args.slice(0, Number(count)));
  };

  it('are all taken by one script', async () => {
    const { mine } = stage();
    const multi = multiOf(mine, 'c', 'a', 'b');
    await multi.using(async () => {}); // the server has the script now
    const taken = await takenBy(mine, () => multi.using(async () => {}));
    expect(taken).toEqual([['a', 'b', 'c'].map(keyOf)]);
  });

  it('are not held by a waiter: others may take what is free meanwhile', async () => {
    const { mine, theirs } = stage();
    const held = await theirs.locks.mutex(keyOf('b')).acquire();
    const { lease } = await stage().queueFor(multiOf(mine, 'a', 'b', 'c'), mine);
    for (const part of ['a', 'c'])
      await using(theirs, part, async () =>
        expect(await stage().observer.exists(keyOf(part))).toBe(1),
      );
    await held.release();
    await (await lease).release();
  });

  it('are free for others of its own process, too, while it waits for one of them', async () => {
    const { mine, theirs } = stage();
    const [a, b, c] = ['a', 'b', 'c'].map((part) => partOf(mine, part));
    const elsewhere = await partOf(theirs, 'c').acquire();
    const holder = await b!.acquire();
    const waiting = [
      [b!, c!],
      [a!, b!],
    ].map((parts) => mine.locks.multiLock(parts).acquire());
    await eventually('both wait', () => mine.locks.status().waiting === 2);
    await holder.run(async () => await (await a!.acquire({ wait: 20_000 })).release()); // no circle
    expect(await (await a!.tryAcquire())?.release()).toBeUndefined();
    await holder.release();
    await (await waiting[1]!).release(); // though the other one came first, and wants b, too
    await elsewhere.release();
    await (await waiting[0]!).release();
  });

  it('keep out callers of its own process while it holds them, which then have their turn', async () => {
    const { mine } = stage();
    const [a, b] = ['a', 'b'].map((part) => partOf(mine, part));
    const first = await b!.acquire();
    const both = mine.locks.multiLock([a!, b!]).acquire();
    const next = b!.acquire();
    await eventually('both wait', () => mine.locks.status().waiting === 2);
    await first.release();
    const inside: string[] = [];
    const enter = async (name: string, lease: Promise<{ release(): Promise<void> }>) => {
      const entered = await lease;
      inside.push(name);
      await partOf(mine, 'c').using(() => {});
      expect(inside.splice(0)).toEqual([name]);
      await entered.release();
    };
    await Promise.all([enter('both', both), enter('next', next)]);
    await using free = await b!.tryAcquire();
    expect(free?.isHeld).toBe(true);
  });

  it('are not asked for again when the caller holds them', async () => {
    const { mine } = stage();
    await mine.locks.mutex(keyOf('b')).using(async () => {
      const multi = multiOf(mine, 'a', 'b', 'c');
      await multi.using(async () => {}); // the server has the script now
      const taken = await takenBy(mine, () => multi.using(async () => {}));
      expect(taken).toEqual([['a', 'c'].map(keyOf)]);
      expect(await takenBy(mine, () => multiOf(mine, 'b').using(async () => {}))).toEqual([]);
    });
  });

  describe('events', () => {
    it('report each part', async () => {
      const { mine, theirs } = stage();
      const held = await theirs.locks.mutex(keyOf('b')).acquire();
      const heard = eventsOf(mine);
      const { lease } = await stage().queueFor(multiOf(mine, 'b', 'a'), mine);
      await held.release();
      await (await lease).release();
      expect(heard.filter(({ kind }) => kind === 'contended')).toEqual(about('contended'));
      expect(heard.filter(({ kind }) => kind === 'acquired')).toEqual(about('acquired'));
      expect(heard.filter(({ kind }) => kind === 'released')).toHaveLength(2);
      expect(heard).toHaveLength(6);
    });

    it('report the failure of each part', async () => {
      const { mine, theirs } = stage();
      await using _ = await theirs.locks.mutex(keyOf('b')).acquire();
      const heard = eventsOf(mine);
      await expect(multiOf(mine, 'b', 'a').acquire({ wait: 30 })).rejects.toThrow();
      expect(heard).toEqual([...about('contended'), ...about('failed')]);
    });

    it('report that one part is lost, and that the others are released', async () => {
      const { mine, theirs } = stage();
      const lease = await multiOf(mine, 'a', 'b').acquire();
      const heard = eventsOf(mine);
      await theirs.locks.mutex(keyOf('b')).forceUnlock();
      stage().makeSure(mine);
      await eventually('it is lost', () => !lease.isHeld);
      await lease.release();
      expect(heard.map(({ kind, key }) => [kind, key])).toEqual([
        ['lost', keyOf('b')],
        ['released', keyOf('a')],
      ]);
    });

    const about = (kind: string) =>
      ['a', 'b'].map((part) => expect.objectContaining({ kind, key: keyOf(part) }) as unknown);
  });

  it('have to be of one slot in a cluster; else they are taken one after the other', async () => {
    const { mine, key, observer } = stage();
    const apart = ['x', 'y', 'z'].map((part) => `${key}-${part}`); // of different slots
    const multi = mine.locks.multiLock(apart.map((part) => mine.locks.mutex(part)));
    await multi.using(async () => {}); // the servers have the scripts now
    const taken = await takenBy(mine, () => multi.using(async () => {}));
    expect(taken).toEqual(observer.isCluster ? apart.map((part) => [part]) : [apart]);
  });

  function using(client: RedisStageClient, part: string, work: () => Promise<void>): Promise<void> {
    return client.locks.mutex(keyOf(part)).using(work, { wait: 10_000 });
  }
}
