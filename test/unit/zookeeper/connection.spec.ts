import type { LookupAddress } from 'node:dns';
import type { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import {
  BoundedExponentialBackoffRetry,
  ExponentialBackoffRetry,
  RetryForever,
  RetryNTimes,
  type RetryPolicy,
  RetryUntilElapsed,
} from '../../../lib/zookeeper/connection/retry-policies.js';
import { IdleWatches } from '../../../lib/zookeeper/connection/idle-watches.js';
import { ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import { reconnectDelay } from '../../../lib/zookeeper/connection/connection-attempts.js';
import { WatchRegistry } from '../../../lib/zookeeper/connection/watch-registry.js';
import type { WatchEvent } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualClock } from '../../support/time.js';

const SERVERS = [1, 2, 3, 4].map((i) => ({ host: `10.0.0.${i}`, port: 2181 }));

describe('A list of servers', () => {
  it('goes through all of them in every round', async () => {
    const list = new ServerList(SERVERS, seededRandom(7), new VirtualClock());
    for (let round = 0; round < 3; round++) {
      const tried = await Promise.all(SERVERS.map(() => list.next()));
      expect(new Set(tried)).toEqual(new Set(SERVERS));
    }
  });

  it('tries all others before it comes back to the one tried last', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const list = new ServerList(SERVERS.slice(0, 2), seededRandom(seed), new VirtualClock());
      const tried = await Promise.all(Array.from({ length: 20 }, () => list.next()));
      expect(tried.filter((server, n) => server === tried[n - 1])).toEqual([]);
    }
  });

  it('spreads clients over all servers', async () => {
    const random = seededRandom(7);
    const first = await Promise.all(
      Array.from({ length: 100 }, () => new ServerList(SERVERS, random, new VirtualClock()).next()),
    );
    for (const server of SERVERS)
      expect(first.filter((each) => each === server).length).toBeGreaterThan(10);
  });

  it('asks a name service that hangs once only, however often it is tried', async () => {
    let asked = 0;
    let tell!: (addresses: LookupAddress[]) => void;
    const answer = new Promise<LookupAddress[]>((resolve) => (tell = resolve));
    const hanging = (() => {
      asked += 1;
      return answer;
    }) as unknown as typeof lookup;
    const list = new ServerList(
      [{ host: 'zk', port: 2181 }],
      Math.random,
      new VirtualClock(),
      hanging,
    );
    const tries = [list.next(), list.next(), list.next()];
    expect(asked).toBe(1);
    tell([{ address: '10.0.0.1', family: 4 }]);
    expect((await Promise.all(tries)).map(({ host }) => host)).toEqual(Array(3).fill('10.0.0.1'));
    await list.next();
    expect(asked).toBe(2);
  });

  it('resolves names to addresses', async () => {
    const list = new ServerList(
      [{ host: 'localhost', port: 2182 }],
      Math.random,
      new VirtualClock(),
    );
    const { host, port } = await list.next();
    expect([isIP(host) > 0, port]).toEqual([true, 2182]);
  });
});

describe('The delay before a reconnect', () => {
  it('is nothing in the first round, then grows up to a second, half of it random', () => {
    expect([-3, -2, -1].map((failures) => reconnectDelay(failures, () => 0.5))).toEqual([0, 0, 0]);
    expect([0, 1, 2, 5, 6, 60].map((failures) => reconnectDelay(failures, () => 0))).toEqual([
      10, 20, 40, 320, 500, 500,
    ]);
    const longest = reconnectDelay(60, () => 1 - Number.EPSILON);
    expect(longest).toBeGreaterThan(999);
    expect(longest).toBeLessThanOrEqual(1_000);
  });
});

const LOWEST = () => 0;
const HIGHEST = () => 1 - Number.EPSILON;

/** The delays of that many retries, one after the other. */
const delays = (policy: RetryPolicy, retries: number) =>
  Array.from({ length: retries }, (_, n) => policy.nextDelay(n, 0));

describe('ExponentialBackoffRetry', () => {
  it('sleeps the base times a random number below 2^(n+1), but at least the base', () => {
    const least = new ExponentialBackoffRetry(100, 4, undefined, LOWEST);
    expect(delays(least, 5)).toEqual([100, 100, 100, 100, undefined]);
    const most = new ExponentialBackoffRetry(100, 4, undefined, HIGHEST);
    expect(delays(most, 5)).toEqual([100, 300, 700, 1_500, undefined]);
  });

  it('sleeps no longer than its bound', () => {
    const policy = new ExponentialBackoffRetry(100, 4, 500, HIGHEST);
    expect(delays(policy, 4)).toEqual([100, 300, 500, 500]);
  });

  it('retries 29 times at most, without leaving the integers', () => {
    const policy = new ExponentialBackoffRetry(1_000, 1_000, undefined, HIGHEST);
    expect(policy.nextDelay(28)).toBe(1_000 * (2 ** 29 - 1));
    expect(policy.nextDelay(29)).toBeUndefined();
  });

  it('spreads the sleeps of many clients', () => {
    const policy = new ExponentialBackoffRetry(10, 29);
    const drawn = new Set(Array.from({ length: 100 }, () => policy.nextDelay(20)));
    expect(drawn.size).toBeGreaterThan(50);
  });
});

describe('BoundedExponentialBackoffRetry', () => {
  it('takes its arguments in the order of Curator', () => {
    const policy = new BoundedExponentialBackoffRetry(100, 500, 4, HIGHEST);
    expect(delays(policy, 5)).toEqual([100, 300, 500, 500, undefined]);
  });
});

describe('RetryNTimes', () => {
  it('sleeps the same each time, then gives up', () => {
    expect(delays(new RetryNTimes(2, 70), 3)).toEqual([70, 70, undefined]);
    expect(delays(new RetryNTimes(0, 70), 1)).toEqual([undefined]);
  });
});

describe('RetryUntilElapsed', () => {
  it('looks at the time before the sleep, so that the last try may come after it', () => {
    const policy = new RetryUntilElapsed(1_000, 300);
    expect(policy.nextDelay(0, 0)).toBe(300);
    expect(policy.nextDelay(50, 999)).toBe(300);
    expect(policy.nextDelay(0, 1_000)).toBeUndefined();
  });
});

describe('RetryForever', () => {
  it('never gives up', () => {
    expect(new RetryForever(50).nextDelay()).toBe(50);
  });
});

it.each<[string, () => RetryPolicy]>([
  ['baseSleepMs', () => new ExponentialBackoffRetry(-1, 3)],
  ['baseSleepMs', () => new ExponentialBackoffRetry(NaN, 3)],
  ['maxRetries', () => new ExponentialBackoffRetry(10, -1)],
  ['maxSleepMs', () => new ExponentialBackoffRetry(10, 3, Infinity)],
  ['maxSleepMs', () => new BoundedExponentialBackoffRetry(10, -5, 3)],
  ['n', () => new RetryNTimes(NaN, 10)],
  ['sleepMs', () => new RetryNTimes(3, -10)],
  ['maxElapsedMs', () => new RetryUntilElapsed(-1, 10)],
  ['sleepMs', () => new RetryUntilElapsed(10, Infinity)],
  ['sleepMs', () => new RetryForever(0)],
])('a policy with a bad %s is refused: %s', (option, make) => {
  expect(make).toThrow(LockOptionsError);
  expect(make).toThrow(expect.objectContaining({ option, code: 'LOCK_OPTIONS' }));
});

describe('The registry of watches', () => {
  let registry: WatchRegistry;
  let heard: string[];

  beforeEach(() => {
    registry = new WatchRegistry(new IdleWatches(new VirtualClock(), () => {}));
    heard = [];
  });

  const listener = (name: string) => (event: WatchEvent) =>
    void heard.push(`${name}: ${event.type} ${event.path}`);

  it('notifies all watchers of a path, once', () => {
    registry.add('data', '/a', listener('first'));
    registry.add('data', '/a', listener('second'));
    registry.add('data', '/b', listener('other'));
    registry.fire('changed', '/a');
    registry.fire('changed', '/a');
    expect(heard).toEqual(['first: changed /a', 'second: changed /a']);
  });

  it('notifies only the watchers of the children of a change of those', () => {
    registry.add('data', '/a', listener('data'));
    registry.add('child', '/a', listener('child'));
    registry.fire('child', '/a');
    expect(heard).toEqual(['child: child /a']);
    registry.fire('created', '/a');
    expect(heard).toEqual(['child: child /a', 'data: created /a']);
  });

  it('notifies all watchers of a deletion', () => {
    registry.add('child', '/a', listener('child'));
    registry.add('data', '/a', listener('data'));
    registry.fire('deleted', '/a');
    expect(heard.sort()).toEqual(['child: deleted /a', 'data: deleted /a']);
  });

  it('notifies all watchers of the end of the connection, once', () => {
    registry.add('data', '/a', listener('a'));
    registry.add('child', '/b', listener('b'));
    registry.disconnect();
    registry.disconnect();
    registry.fire('deleted', '/a');
    expect(heard).toEqual(['a: disconnected /a', 'b: disconnected /b']);
  });

  it('takes a watcher off whose request has failed, of one kind, and keeps the others', () => {
    const both = listener('both');
    const failed = registry.add('data', '/a', both);
    registry.add('child', '/a', both);
    registry.add('data', '/a', listener('other'));
    failed();
    registry.fire('changed', '/a');
    registry.fire('child', '/a');
    expect(heard).toEqual(['other: changed /a', 'both: child /a']);
  });

  it('takes a watcher off when all of its requests have failed', () => {
    const twice = listener('twice');
    for (const fail of [0, 1].map(() => registry.add('data', '/a', twice))) fail();
    registry.fire('changed', '/a');
    expect(heard).toEqual([]);
  });

  it.each<[string, () => void]>([
    ['another one succeeds', () => {}],
    ['it was notified since', () => registry.fire('changed', '/a')],
    ['the connection was lost since', () => registry.disconnect()],
    ['it was taken off since', () => registry.unwatch('/a', watcher)],
  ])('keeps a watcher when a request fails, and %s', (_, happens) => {
    const failed = registry.add('data', '/a', watcher);
    happens();
    heard = [];
    registry.add('data', '/a', watcher);
    failed();
    registry.fire('changed', '/a');
    expect(heard).toEqual(['it: changed /a']);
  });
  const watcher = (event: WatchEvent) => listener('it')(event);

  it('keeps a watcher that is added again while it is notified', () => {
    const again = (event: WatchEvent) => {
      heard.push(event.type);
      if (heard.length < 3) registry.add('data', '/a', again);
    };
    registry.add('data', '/a', again);
    registry.fire('changed', '/a');
    expect(heard).toEqual(['changed']);
    registry.fire('changed', '/a');
    registry.disconnect();
    expect(heard).toEqual(['changed', 'changed', 'disconnected']);
  });
});

it('an answer of the servers is distinguished from a missing one', () => {
  const lost = ['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'SESSIONEXPIRED', 'CLOSING', 'SESSIONMOVED'];
  for (const [name, rc] of Object.entries(ReturnCode).filter(([, code]) => code <= -100)) {
    const error = new ZooKeeperError(rc, 'create', '/a');
    expect(error.code).toBe(name);
    expect([name, error.isConnectionLoss]).toEqual([name, lost.includes(name)]);
  }
});

it('its message says what was asked, what came, and whether it may have been done', () => {
  const refused = new ZooKeeperError(ReturnCode.NONODE, 'getData', '/a/b');
  expect(refused.message).toBe('getData /a/b: NONODE');
  expect(ZooKeeperError.is(refused, ReturnCode.NONODE)).toBe(true);
  expect(ZooKeeperError.is(refused, ReturnCode.NODEEXISTS)).toBe(false);
  expect(ZooKeeperError.is(new Error('NONODE'), ReturnCode.NONODE)).toBe(false);
  const lost = new ZooKeeperError(ReturnCode.CONNECTIONLOSS, 'create', '/a', true);
  expect(lost).toMatchObject({ name: 'ZooKeeperError', maybeDone: true, isConnectionLoss: true });
  expect(lost.message).toBe('create /a: CONNECTIONLOSS (it may have been carried out)');
  expect(new ZooKeeperError(-999, 'sync', '/').code).toBe('code -999');
});
