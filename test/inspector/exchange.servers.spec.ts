import { describe, expect, it, jest } from '@jest/globals';
import { createLockClient } from '../../lib/clients/lock-client.factory.js';
import type { LockClient, LockModuleOptions } from '../../lib/index.js';
import { ClientInspector } from '../../lib/inspector/client-inspector.js';
import { inspectorSettings } from '../../lib/inspector/lock-inspector-options.interface.js';
import type {
  InspectedClient,
  InspectedLock,
} from '../../lib/inspector/lock-inspector-snapshot.interface.js';
import { useCleanup, useRedis, useZooKeeper } from '../support/fixtures.js';
import { eventually } from '../support/time.js';

const cleanup = useCleanup();

/** For one that has to see an answer in its first look, on a machine that stalls. */
const PATIENT = { answerWithin: 3_000 };

/** A client of an app of its own, and what its inspector shows. */
async function member(options: LockModuleOptions, settings = {}) {
  const client = await createLockClient('default', options);
  await client.connect();
  cleanup(client, (each) => each.close(500));
  const inspector = new ClientInspector(client, inspectorSettings(settings));
  cleanup(inspector, (each) => each.close());
  return { client, inspector };
}

/** Waits until the inspector shows what is wanted. */
const shows = (
  inspector: ClientInspector,
  what: string,
  isRight: (seen: InspectedClient) => boolean,
) =>
  eventually(
    what,
    async () => {
      const seen = await inspector.inspect();
      return isRight(seen) && seen;
    },
    { within: 20_000 },
  );

/** How often the client has lost its connection so far. */
function interruptions(client: LockClient): () => number {
  let count = 0;
  client.on('connection', ({ state }) => void (count += state === 'SUSPENDED' ? 1 : 0));
  return () => count;
}

/** Has the client hold many locks with long keys, and lead. */
async function busy(client: LockClient, count: number, key: (i: number) => string) {
  const keys = Array.from({ length: count }, (_, i) => key(i));
  await Promise.all(keys.map((each) => client.mutex(each).acquire({ method: 'Orders.pay' })));
  const latch = client.leaderLatch('boss');
  const terms = { lost: 0 };
  latch.onLeadershipLost(() => void (terms.lost += 1));
  latch.start();
  await latch.awaitLeadership();
  return terms;
}

describe('The reports that processes exchange on ZooKeeper', () => {
  const zookeeper = useZooKeeper({ containerCheckIntervalMs: 3_600_000 }); // to collect them would be a write, too
  /** Number of the last write of any client. */
  const lastWrite = async () => /Zxid: (\S+)/.exec(await zookeeper().fourLetterWord('srvr'))?.[1];

  it.each([
    ['300 characters', (i: number) => `tenant/${i}/`.padEnd(300, 'k')],
    ['512 bytes, each encoded as three', (i: number) => `${i}`.padStart(4, '0') + 'é'.repeat(254)],
  ])(
    'harm nobody who has many locks with keys of %s',
    async (_, key) => {
      const options = { backend: 'zookeeper', connect: zookeeper().connectString } as const;
      const [worker, viewer] = await Promise.all([member(options), member(options, PATIENT)]);
      const count = interruptions(worker.client);
      const terms = await busy(worker.client, 1_000, key);
      for (let looks = 0; looks < 5; looks++) {
        const seen = await viewer.inspector.inspect();
        const [, other] = seen.processes;
        expect(other).toMatchObject({ held: 1_001 });
        expect(other!.omitted).toBeGreaterThan(0);
        expect(seen.problems.join()).toContain(`no room for ${other!.omitted} acquires`);
      }
      expect([count(), terms.lost]).toEqual([0, 0]);
      expect(worker.client.status()).toMatchObject({ state: 'CONNECTED', held: 1_001 });
      await Promise.all([worker.client.close(), viewer.client.close()]);
    },
    60_000,
  );

  it('are written for a question only, and left behind by nobody', async () => {
    const options = { backend: 'zookeeper', connect: zookeeper().connectString } as const;
    const [one, two] = await Promise.all([member(options, PATIENT), member(options)]);
    const before = await lastWrite();
    for (const { client } of [one, two]) await client.ping();
    await eventually('both watch', async () => {
      const watches = /^(\d+) connections watching/m.exec(await zookeeper().fourLetterWord('wchs'));
      return Number(watches?.[1]) === 2;
    });
    expect(await lastWrite()).toBe(before);

    const { processes } = await one.inspector.inspect(); // the first look finds them all
    expect(processes).toHaveLength(2);
    await two.inspector.close();
    await shows(one.inspector, 'it is alone', (seen) => seen.processes.length === 1);
  }, 60_000);
});

describe('The reports to a ZooKeeper server that accepts short ones only', () => {
  const zookeeper = useZooKeeper({ jvmArgs: ['-Djute.maxbuffer=65536'] });

  it('cost one connection, and are short from then on', async () => {
    const options = { backend: 'zookeeper', connect: zookeeper().connectString } as const;
    const [worker, viewer] = await Promise.all([member(options), member(options)]);
    const count = interruptions(worker.client);
    await busy(worker.client, 100, (i) => `${i}/`.padEnd(300, 'k'));
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    cleanup(warned, () => warned.mockRestore());
    await shows(viewer.inspector, 'its short report', ({ processes }) => {
      return processes.length === 2 && processes[1]!.omitted > 50;
    });
    for (let looks = 0; looks < 10; looks++) await viewer.inspector.inspect();
    expect(count()).toBe(1);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('reportSize'));
  }, 60_000);
});

describe('The reports that processes exchange on Redis', () => {
  const redis = useRedis();
  const options = () => ({ backend: 'redis', connect: redis().url }) as const;
  const fields = { id: 'evil', host: 'evil', pid: 1, held: 0, waiting: 0, lost: 0, timedOut: 0 };
  const keys = (kind: string) => redis().command('KEYS', `nestjs-interlock:inspector:${kind}*`);

  /** Answers all questions with this text, as anybody can who may write the keys. */
  async function answerAll(id: string, report: string | Buffer): Promise<void> {
    await redis().command('SET', `nestjs-interlock:inspector:report:{}:${id}`, report);
    await redis().command('ZADD', 'nestjs-interlock:inspector:processes:{}', '+inf', id);
  }

  it('are written for a question only, and expire', async () => {
    const [one, two] = await Promise.all([member(options()), member(options())]);
    await one.client.mutex('seat').acquire();
    await eventually('both listen', async () => {
      const [, count] = (await redis().command(
        ...(['PUBSUB', 'NUMSUB', 'nestjs-interlock:inspector:channel:{}'] as const),
      )) as [string, number];
      return count === 2;
    });
    expect(await keys('')).toEqual([]);
    await shows(two.inspector, 'the other one', ({ processes }) => processes.length === 2);
    const left = (await keys('')) as string[];
    expect(left.length).toBeGreaterThan(2);
    for (const key of left) expect(await redis().command('PTTL', key)).toBeGreaterThan(0);
    await one.inspector.close();
    await two.inspector.close();
    expect(await keys('report')).toEqual([]);
  });

  it('of ended processes are not read again, and are forgotten', async () => {
    const { inspector } = await member(options());
    await inspector.inspect();
    for (let i = 0; i < 20; i++) {
      await redis().command(
        'SET',
        `nestjs-interlock:inspector:report:{}:dead${i}`,
        'x'.repeat(99_999),
      );
      await redis().command('ZADD', 'nestjs-interlock:inspector:processes:{}', 1, `dead${i}`);
    }
    const sent = async () =>
      Number(
        /total_net_output_bytes:(\d+)/.exec(String(await redis().command('INFO', 'stats')))![1],
      );
    const before = await sent();
    const { processes, problems } = await inspector.inspect();
    expect([processes.length, problems]).toEqual([1, []]);
    expect((await sent()) - before).toBeLessThan(50_000);
    for (let i = 0; i < 110; i++) await inspector.inspect();
    const known = await redis().command('ZCARD', 'nestjs-interlock:inspector:processes:{}');
    expect(known).toBeLessThanOrEqual(2);
  });

  it('cost their own row only when they make no sense, and are bounded in number', async () => {
    const { client, inspector } = await member(options(), { processes: 4 });
    await redis().command('RPUSH', 'list', 1);
    const lease = await client.mutex('pay').acquire({ method: 'Orders.pay' });
    const acquire = { state: 'waiting', recipe: 'leaderLatch', since: 1, ids: [] };
    const odd = { ...acquire, name: 'odd', key: 'odd', method: 5 };
    const wrong = { ...acquire, name: 'list', key: 'list', recipe: 'mutex' };
    const rest = { locks: {}, activity: [wrong] };
    await answerAll('a', JSON.stringify({ ...fields, locks: {}, activity: [odd] }));
    await answerAll('b', 'x'.repeat(1_000_001));
    await answerAll('c', JSON.stringify({ ...fields, ...rest }));
    const seen = await shows(inspector, 'the good one', ({ processes }) => processes.length === 2);
    expect(seen.locks.map(({ key }) => key)).toEqual(['list', 'pay']);
    expect(seen.locks[1]!.holders).toMatchObject([{ method: 'Orders.pay', pid: process.pid }]);
    expect(seen.problems.join()).toContain('2 reports of other processes could not be read');

    for (let i = 0; i < 7; i++)
      await answerAll(`d${i}`, JSON.stringify({ ...fields, ...rest, id: `d${i}` }));
    const { problems } = await inspector.inspect();
    expect(problems.join()).toMatch(/[567] more processes have answered/);
    await redis().command('FLUSHALL');
    await lease.release();
  });

  it('survive what stands in a lock, and in keys that are none', async () => {
    const { client, inspector } = await member(options());
    const about = JSON.stringify({ host: 5, pid: 'x', method: {}, since: 'never' });
    const id = '0f0e0d0c-0b0a-4908-8706-050403020100:52';
    await redis().command('HSET', 'pay', id, 1, 'nestjs-interlock', about);
    for (const key of ['hash', 'pay'])
      void client
        .mutex(key)
        .acquire({ wait: 5_000 })
        .catch(() => {});
    await redis().command('HSET', 'hash', 'apples', 2);
    const { locks } = await shows(inspector, 'the lock', ({ locks: all }) => {
      return all.find(({ key }) => key === 'pay')?.holders.length === 1;
    });
    const holdersOf = (name: string) => locks.find(({ key }) => key === name)?.holders;
    expect(holdersOf('pay')).toEqual([{ ids: [id] }]);
    expect(holdersOf('hash') ?? []).toEqual([]);
    await redis().command('FLUSHALL');
  });

  it('show each key of a multi-lock, of which one can be released', async () => {
    const [worker, viewer] = await Promise.all([member(options()), member(options())]);
    const { client } = worker;
    const parts = ['a', 'b', 'c'].map((key) => client.mutex(key));
    const lease = await client.multiLock(parts).acquire({ method: 'Orders.pay' });
    const holder = (lock: InspectedLock) => lock.holders[0]?.method === 'Orders.pay';
    for (const { inspector } of [worker, viewer])
      await shows(inspector, 'all three', ({ locks }) => locks.filter(holder).length === 3);
    const { locks } = await viewer.inspector.inspect();
    const { name, holders } = locks.find(({ key }) => key === 'b')!;
    expect(await viewer.inspector.release(name, holders[0]!.ids)).toBe(true);
    const left = await redis().command('EXISTS', 'a', 'b', 'c');
    expect(left).toBe(2);
    expect(await redis().command('EXISTS', 'b')).toBe(0);
    await lease.release();
  });
});
