import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import { useZooKeeperStage } from '../faults/support/zookeeper-stage.js';
import { useClients, useProxy } from '../redis/support/clients.js';
import { useRedis } from '../support/fixtures.js';
import { seededRandom } from '../support/seeded-random.js';
import { byTier } from '../support/tier.js';
import { OpCode } from '../support/zookeeper-proxy.js';
import { type Call, contradictionIn, type Model } from './linearizability.js';
import {
  atomicNumber,
  freePermits,
  latch,
  type LatchAction,
  type NumberAction,
  type NumberAnswer,
  type PermitsAction,
} from './models.js';

const CLIENTS = 5;
/** Calls of all clients together. */
const CALLS = byTier({ quick: 0, standard: 400, long: 2_000 });
/** Requests of which one, about, is carried out without an answer, as its connection is cut. */
const BETWEEN_CUTS = 30;
const PERMITS = 6;
const HISTORIES = byTier({ quick: 0, standard: 1, long: 20 });
const TIME_LIMIT = 60_000 + HISTORIES * CALLS * 20;

/** A number from 0 to `n - 1`, at random. */
type Below = (n: number) => number;

/** A call that a client is about to make. */
interface Intent<Action, Answer> {
  readonly action: Action;
  run(): Promise<Answer>;
}

/** What one client does next. */
type User<Action, Answer> = (below: Below) => Intent<Action, Answer>;

/** Has the users make their calls, each one after the other. */
async function historyOf<Action, Answer>(
  users: readonly User<Action, Answer>[],
  below: Below,
): Promise<Call<Action, Answer>[]> {
  const calls: Call<Action, Answer>[] = [];
  const live = async (user: User<Action, Answer>, client: string) => {
    while (calls.length < CALLS) {
      const { action, run } = user(below);
      const begin = performance.now();
      const answered = await run().then(
        (answer) => ({ at: performance.now(), answer }),
        (error: Error) => {
          if (!isOutage(error)) throw error;
          return undefined;
        },
      );
      calls.push({ client, action, begin, ...(answered && { answered }) });
    }
  };
  await Promise.all(users.map((user, i) => live(user, `client ${i}`)));
  return calls;
}

/** Whether a call may have failed so only because of a cut. */
const isOutage = (error: unknown) =>
  error instanceof LockConnectionError ||
  (error instanceof ZooKeeperError && (error.isConnectionLoss || error.maybeDone));

/** Answers that are lost in the network, while it lasts. */
interface Losses {
  readonly lost: number;
  stop(): void;
}

async function expectLinearizable<State extends bigint | number | string, Action, Answer>(
  model: Model<State, Action, Answer>,
  users: () => Promise<User<Action, Answer>[]>,
  lose: (below: Below) => Losses,
): Promise<void> {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const random = seededRandom(seed);
    const below: Below = (n) => Math.floor(random() * n);
    const making = await users();
    const losses = lose(below);
    const history = await historyOf(making, below);
    losses.stop();
    expect(contradictionIn(history, model)).toBeUndefined();
    expect(losses.lost).toBeGreaterThan(CALLS / BETWEEN_CUTS / 4); // else little is proved
  }
}

describe('The history of what several clients do on Redis, where answers are lost, is linearizable:', () => {
  const server = useRedis();
  const { connected } = useClients(); // first: these close before the proxy stops
  const proxy = useProxy(server);
  const lose = (below: Below) =>
    proxy().loseReply(([name]) => /^evalsha$/i.test(name!) && below(BETWEEN_CUTS) === 0);

  /** Each history has a key of its own. */
  async function usersOf<Action, Answer>(
    user: (client: RedisLockClient, key: string) => User<Action, Answer>,
  ) {
    const connect = `redis://${proxy().host}:${proxy().port}`;
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => connected({ connect })),
    );
    return async () => {
      const key = randomUUID();
      return clients.map((client) => user(client, key));
    };
  }

  it(
    'of a plain semaphore',
    async () => expectLinearizable(freePermits(0), await usersOf(semaphoreUser), lose),
    TIME_LIMIT,
  );

  it(
    'of permits',
    async () => expectLinearizable(freePermits(PERMITS), await usersOf(permitsUser), lose),
    TIME_LIMIT,
  );

  it(
    'of a latch',
    async () => expectLinearizable(latch, await usersOf(latchUser), lose),
    TIME_LIMIT,
  );
});

function semaphoreUser(
  client: RedisLockClient,
  key: string,
): User<PermitsAction, boolean | number | 'released'> {
  const semaphore = client.plainSemaphore(key);
  return (below) => {
    const permits = 1 + below(3);
    switch (below(8)) {
      case 0:
        return { action: { does: 'drain' }, run: () => semaphore.drainPermits() };
      case 1:
      case 2:
        return { action: { does: 'available' }, run: () => semaphore.availablePermits() };
      case 3:
      case 4:
        return {
          action: { does: 'release', permits },
          run: () => semaphore.release(permits).then(() => 'released'),
        };
      default:
        return {
          action: { does: 'tryAcquire', permits },
          run: () => semaphore.tryAcquire({ permits }),
        };
    }
  };
}

/** Holds several permits at a time, and releases those that it has held longest. */
function permitsUser(
  client: RedisLockClient,
  key: string,
): User<PermitsAction, boolean | number | 'released'> {
  const semaphore = client.semaphore(key, { permits: PERMITS });
  const held: RedisLease[] = [];
  return (below) => {
    const permits = 1 + below(2);
    const [lease] = held;
    if (lease !== undefined && below(2) === 0)
      return {
        action: { does: 'release', permits: lease.permitIds.length },
        run: async () => {
          held.shift();
          await lease.release();
          return 'released';
        },
      };
    if (below(4) === 0)
      return { action: { does: 'available' }, run: () => semaphore.availablePermits() };
    return {
      action: { does: 'tryAcquire', permits },
      run: async () => {
        const acquired = await semaphore.tryAcquire({ permits });
        if (acquired) held.push(acquired);
        return acquired !== undefined;
      },
    };
  };
}

function latchUser(client: RedisLockClient, key: string): User<LatchAction, boolean | number> {
  const countDownLatch = client.countDownLatch(key);
  return (below) => {
    switch (below(5)) {
      case 0:
        return { action: { does: 'getCount' }, run: () => countDownLatch.getCount() };
      case 1: {
        const count = 2 + below(6);
        return {
          action: { does: 'trySetCount', count },
          run: () => countDownLatch.trySetCount(count),
        };
      }
      default:
        return { action: { does: 'countDown' }, run: () => countDownLatch.countDown() };
    }
  };
}

describe('The history of what several clients do on ZooKeeper, where answers are lost, is linearizable:', () => {
  const stage = useZooKeeperStage();

  function lose(below: Below): Losses {
    const losses = { lost: 0, isOver: false, stop: () => void (losses.isOver = true) };
    const isMeant = ({ opcode }: { opcode: number }) =>
      !losses.isOver && opcode === OpCode.setData && below(BETWEEN_CUTS) === 0;
    const next = async () => {
      while (!losses.isOver) {
        await stage.proxy.cutAfter(isMeant);
        losses.lost += 1;
      }
    };
    void next();
    return losses;
  }

  it(
    'of an atomic number',
    async () => {
      const clients = await Promise.all(Array.from({ length: CLIENTS }, () => stage.far()));
      const users = async () => {
        const key = `/numbers/${randomUUID()}`;
        await stage.other.locks.atomicInteger(key).initialize(0);
        return clients.map(({ locks }) => numberUser(locks, key));
      };
      await expectLinearizable(atomicNumber, users, lose);
    },
    TIME_LIMIT,
  );
});

function numberUser(locks: ZooKeeperLockClient, key: string): User<NumberAction, NumberAnswer> {
  const number = locks.atomicInteger(key);
  let seen = 0;
  const outcome = async (
    change: Promise<{ succeeded: boolean; preValue: number; postValue: number }>,
  ): Promise<NumberAnswer> => {
    const { succeeded, preValue: before, postValue: now } = await change;
    if (!succeeded) return 'unchanged';
    seen = now;
    return { before, now };
  };
  return (below) => {
    const value = below(1_000);
    switch (below(6)) {
      case 0:
        return {
          action: { does: 'get' },
          run: () => number.get().then((now) => ({ before: (seen = now), now })),
        };
      case 1:
        return {
          action: { does: 'set', value },
          run: () => outcome(number.trySet(value)),
        };
      case 2:
      case 3: {
        const expected = seen;
        return {
          action: { does: 'compareAndSet', expected, value },
          run: () => outcome(number.compareAndSet(expected, value)),
        };
      }
      default: {
        const delta = 1 + value;
        return { action: { does: 'add', delta }, run: () => outcome(number.add(delta)) };
      }
    }
  };
}
