import type { Lease } from '../../../lib/core/lease.js';
import type { Lock } from '../../../lib/core/lock.js';
import { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import { RedisLock } from '../../../lib/redis/locks/redis-lock.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisCountDownLatch } from '../../../lib/redis/semaphores/redis-count-down-latch.js';
import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import {
  type CommandedActor,
  type Commands,
  HeldLeases,
  isGranted,
  waitOf,
} from '../node/listen.js';
import { optionsIn } from '../node/mutex-options.js';
import { Worker, type WorkerHold } from '../node/worker.js';

/** How long a member of the fleet waits at a latch before it checks whether it is time to rest, in ms. */
const PATIENCE = 2_000;

/** How many actors of this process wait. */
let waiting = 0;

/** Counts one more until that promise settles. */
async function counted<T>(wait: () => Promise<T>): Promise<T> {
  waiting += 1;
  try {
    return await wait();
  } finally {
    waiting -= 1;
  }
}

/**
 * An owner of locks, and a user of what has no owner, by specification: `semaphore:a`, `permits:a`, `latch:a`, `rounds#8:a`;
 * else a lock.
 */
export function redisActor(client: RedisLockClient): CommandedActor {
  const held = new HeldLeases();
  const objects = new Map<string, Commands | undefined>();
  const make = (specification: string): Commands | undefined => {
    const [, kind, size, name = ''] = /^(\w+)(?:#(\d+))?:(.+)$/.exec(specification) ?? [];
    switch (kind) {
      case 'semaphore':
        return semaphoreCommands(client.plainSemaphore(name));
      case 'permits':
        return permitCommands(client.semaphore(name));
      case 'latch':
        return latchCommands(client.countDownLatch(name));
      case 'rounds':
        return roundCommands(client, name, Number(size));
      default:
        return undefined;
    }
  };
  return (specification) => {
    const object = objects.get(specification) ?? make(specification);
    objects.set(specification, object);
    return {
      sleepers: () => waiting,
      rest: () => Worker.rest(),
      ...(object ?? lockCommands(specification, client, held)),
    };
  };
}

/** An owner of locks on several servers that know nothing of each other. */
export function redLockActor(client: RedLockClient): CommandedActor {
  const held = new HeldLeases();
  return (name) => ({
    acquire: (wait) => held.acquire(name, () => client.mutex(name).acquire({ wait: waitOf(wait) })),
    tryAcquire: () => held.acquire(name, () => client.mutex(name).tryAcquire()),
    release: () => held.release(name),
  });
}

function lockCommands(lock: string, client: RedisLockClient, held: HeldLeases): Commands {
  const acquire = (how: (lock: Lock) => Promise<Lease | undefined>) =>
    counted(() => held.acquire(lock, () => how(lockOf(lock, client))));
  const plain = () => {
    const made = lockOf(lock, client);
    if (made instanceof RedisLock) return made;
    throw new Error(`Not to be asked of ${lock}`);
  };
  return {
    acquire: (wait, lease) =>
      acquire((it) => it.acquire({ wait: waitOf(wait), ...leaseOption(lease) })),
    tryAcquire: () => acquire((it) => it.tryAcquire()),
    release: () => held.release(lock),
    forceUnlock: () => plain().forceUnlock(),
    isLocked: () => plain().isLocked(),
    remaining: () => plain().remainTimeToLive(),
    isHeld: () => held.of(lock).isHeld,
    holder: () => (held.of(lock) as RedisLease).holder,
    token: () => held.of(lock).fencingToken(),
    work: (port, name) =>
      Worker.work<Lease>(lockOf(lock, client), Number(port), name, async (lease) =>
        lock.startsWith('fenced:') ? Number(await lease.fencingToken()) : grantOf(lease),
      ),
  };
}

/** Number of the grant by the server, which stays when the lock is handed on. Only fenced locks are numbered in their order. */
function grantOf(lease: Lease): number {
  return lease instanceof RedisLease ? Number(lease.holder.split(':')[1]) : -1;
}

/**
 * The lock with that specification: `lock:a` (see `withOptions`), `fair:a`, `fenced:a`, `read:a`, `write:a`, `spin:a`, and
 * `lock:a+lock:b` for a multi-lock.
 */
function lockOf(specification: string, client: RedisLockClient): Lock {
  const parts = specification.split('+');
  if (parts.length > 1) return client.multiLock(parts.map((part) => lockOf(part, client)));
  const [, kind, options, name = ''] = /^(\w+)(?:#([^:]+))?:(.+)$/.exec(specification) ?? [];
  switch (kind) {
    case 'lock':
      return client.mutex(name, optionsIn(options));
    case 'fair':
      return client.mutex(name, { fair: true });
    case 'fenced':
      return client.mutex(name, { fenced: true });
    case 'read':
      return client.readWriteLock(name).readLock();
    case 'write':
      return client.readWriteLock(name).writeLock();
    case 'spin':
      return client.spinLock(name);
    default:
      throw new Error(`No such lock: ${specification}`);
  }
}

/** The lease given by a command: in ms, below 0 none. */
function leaseOption(word: string | undefined): { lease?: number } {
  const lease = Number(word);
  return lease < 0 ? {} : { lease };
}

function semaphoreCommands(semaphore: RedisSemaphore): Commands {
  const permit = async (): Promise<WorkerHold> => {
    await semaphore.acquire();
    return { isHeld: true, release: () => semaphore.release() };
  };
  return {
    acquire: async (permits, wait) => {
      const options = { permits: Number(permits), wait: waitOf(wait) };
      const granted = await counted(() => isGranted(semaphore.acquire(options)));
      return granted ? 'granted' : 'timeout';
    },
    release: (permits) => semaphore.release(Number(permits)),
    releaseIfExists: (permits) => semaphore.releaseIfExists(Number(permits)),
    available: () => semaphore.availablePermits(),
    trySetPermits: (permits) => semaphore.trySetPermits(Number(permits)),
    addPermits: (permits) => semaphore.addPermits(Number(permits)),
    drain: () => semaphore.drainPermits(),
    work: (port, name) => Worker.work({ acquire: permit }, Number(port), name, () => -1),
  };
}

/** The permits have ids and leases. */
function permitCommands(semaphore: RedisPermitExpirableSemaphore): Commands {
  /** The last one is released first. */
  const held: RedisLease[] = [];
  return {
    acquire: async (permits, wait, lease) => {
      const options = { permits: Number(permits), wait: waitOf(wait), ...leaseOption(lease) };
      const attempt = semaphore.acquire(options);
      if (!(await counted(() => isGranted(attempt)))) return 'timeout';
      const granted = await attempt;
      held.push(granted);
      return `granted ${granted.permitIds.join(' ')}`;
    },
    release: () => held.pop()!.release(),
    releaseIds: (...ids) => semaphore.tryRelease(ids),
    isHeld: () => held.at(-1)!.isHeld,
    available: () => semaphore.availablePermits(),
    acquired: () => semaphore.acquiredPermits(),
    permits: () => semaphore.getPermits(),
    trySetPermits: (permits) => semaphore.trySetPermits(Number(permits)),
    setPermits: (permits) => semaphore.setPermits(Number(permits)),
    addPermits: (permits) => semaphore.addPermits(Number(permits)),
    leaseTime: (id) => semaphore.getLeaseTime(id),
    updateLeaseTime: (id, lease) => semaphore.updateLeaseTime(id, Number(lease)),
    work: (port, name) => Worker.work(semaphore, Number(port), name, () => -1),
  };
}

function latchCommands(latch: RedisCountDownLatch): Commands {
  return {
    trySetCount: (count) => latch.trySetCount(Number(count)),
    countDown: () => latch.countDown(),
    count: () => latch.getCount(),
    await: async (wait) => {
      const isOpen = await counted(() => isGranted(latch.await({ wait: waitOf(wait) })));
      return isOpen ? 'open' : 'timeout';
    },
    delete: () => latch.delete(),
  };
}

/**
 * A member of a fleet of that size, which meets all others at a latch, round after round. There are two latches: a member that
 * is late to leave one still finds it open when others have closed the next.
 */
function roundCommands(client: RedisLockClient, name: string, size: number): Commands {
  const latches = ['even', 'odd'].map((which) => client.countDownLatch(`${name}:${which}`));
  let round = 0;
  let hasArrived = false;
  const meet = async (): Promise<WorkerHold | undefined> => {
    const latch = latches[round % 2]!;
    if (!hasArrived) {
      await latch.trySetCount(size);
      await latch.countDown();
      hasArrived = true;
    }
    if (!(await isGranted(latch.await({ wait: PATIENCE })))) return undefined;
    hasArrived = false;
    round += 1;
    return { isHeld: true, release: async () => {} }; // it is open for all
  };
  return {
    work: (port, worker) => Worker.work({ acquire: meet }, Number(port), worker, () => -1),
  };
}
