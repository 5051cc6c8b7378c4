import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';
import type { Lease } from '../../../lib/core/lease.js';
import type { WaiterLimits } from '../../../lib/core/internal/waiter-limits.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import type { LockEvents } from '../../../lib/core/lock-events.js';
import type { AcquireOptions, Lock, Mutex, Wait } from '../../../lib/core/lock.js';
import { eventually } from '../../support/time.js';
import { useShared } from '../../support/fixtures.js';
import { tier } from '../../support/tier.js';

export interface StageClientOptions extends WaiterLimits {
  /** Default: `'forever'`. */
  readonly wait?: Wait;
  /** Its keys are kept apart from those of clients in another one. Default: none. */
  readonly namespace?: string;
}

/** A lock client of a test, whatever the backend. */
export interface StageClient {
  readonly locks: LockClient;
  /** What it has asked the servers so far, but for keeping up its connection and its leases. */
  readonly requests: readonly unknown[];
  /** The mutex under test. */
  lock(key: string): Mutex;
  /** One half of a read/write lock. */
  half(which: 'read' | 'write', key: string): Lock;
  readLock(key: string): Lock;
  writeLock(key: string): Lock;
}

/** What the tests of a suite stand on, whatever the backend: two clients, and a key that no test used before. */
export interface LockStage {
  /** The key of this test. */
  readonly key: string;
  readonly mine: StageClient;
  readonly theirs: StageClient;
  /** The mutex under test. */
  readonly recipe: {
    /** Name of the client in its errors; none where its parts may belong to several. */
    readonly client?: string;
  };
  /** Another client, connected. */
  client(options?: StageClientOptions): Promise<StageClient>;
  /** Has the client queue for the mutex of the test; resolves when it does, with the lease to come. */
  queue(client: StageClient, options?: AcquireOptions): Promise<{ lease: Promise<Lease> }>;
  /** The same for any lock of that client. */
  queueFor(
    lock: Lock,
    client: StageClient,
    options?: AcquireOptions,
  ): Promise<{ lease: Promise<Lease> }>;
  /** The holders of the lock of the test and its waiters, as far as the servers know them. */
  contenders(): Promise<readonly unknown[]>;
  /** All that locks have on the servers, but for what is to stay. */
  remains(): Promise<readonly string[]>;
  /** Resolves when the client has dealt with everything that happened on the servers before this call. */
  caughtUp(client: StageClient): Promise<void>;
  /** The servers forget what the client holds and waits for; resolves when it knows, and is connected. */
  expire(client: StageClient): Promise<void>;
  /** Another client takes the lock of the test from its holder, on the servers. */
  evict(): Promise<void>;
  /** The client makes sure of what it holds, as it does from time to time, where no event notifies it. */
  makeSure(client: StageClient): void;
  /** From now on no client may remove the lock of the test that is held. */
  forbidRemoval(): Promise<void>;
  /** Ends `forbidRemoval`, where it would be in the way of the next test, with what it has left. */
  permitRemoval(): Promise<void>;
  /** The servers go away, and remember everything; resolves when all clients know. */
  down(): Promise<void>;
  /** Ends `down`; resolves when all clients are connected again. */
  up(): Promise<void>;
  /** From now on the servers answer nothing, but keep their connections. */
  freeze(): void;
  /** Ends `freeze`: they go on where they were. */
  thaw(): void;
  /** For the next test. */
  reset(): Promise<void>;
  closeClients(): Promise<void>;
  /** Removes what the test was allowed to leave, so that no later test has to look at it. */
  clear(): Promise<void>;
  /** Ends its own connections; the servers go on. */
  stop(): Promise<void>;
}

/** A stage with clients of that kind. */
export type StageOf<C extends StageClient> = LockStage & { readonly mine: C; readonly theirs: C };

/**
 * What decides how the tests of a part of a suite come out: the client alone, as with bad options; a server, as with the
 * names of nodes; the recipe, as with what it does about an accident; or how servers are deployed, as with those that lag,
 * move or crash. Every deployment has the accidents of a mutex.
 */
type DecidedBy = 'client' | 'server' | 'recipe' | 'deployment';

/** Servers that the suites of a file share. */
export interface Deployment<B> {
  /** As in `A mutex on a Redis cluster`. */
  readonly name: string;
  /** The running servers. */
  readonly backend: () => B;
  /** Describes a part of a suite, where its outcome may be another one than on the deployments that other files are about. */
  part(title: string, decidedBy: DecidedBy, tests: () => void): void;
}

/**
 * Starts servers for the suites of a file, or of a `describe`.
 *
 * @param differsIn what may differ on them from what another file tests in full. Default: everything. The long tier has
 * all parts on all servers.
 */
export function useDeployment<B extends { stop(): unknown }>(
  name: string,
  start: () => Promise<B>,
  differsIn: readonly DecidedBy[] = ['client', 'server', 'recipe', 'deployment'],
): Deployment<B> {
  return {
    name,
    backend: useShared(start),
    part(title, decidedBy, tests) {
      if (tier === 'long' || differsIn.includes(decidedBy)) describe(title, tests);
    },
  };
}

let lastKey = 0;

/** A key that no test of the file has had. */
export const nextKey = (): string => `key-${(lastKey += 1)}`;

/**
 * Builds the stage for the tests of the `describe` around it. Each test gets a key of its own and new clients, and has to
 * leave nothing behind on the servers.
 */
export function onStage<S extends LockStage>(build: () => Promise<S>): () => S {
  let stage: S;

  beforeAll(async () => {
    stage = await build();
  }, 60_000);
  afterAll(() => stage.stop());
  beforeEach(() => stage.reset());
  afterEach(async () => {
    await stage.closeClients();
    try {
      await eventually('nothing is left', async () => {
        const remains = await stage.remains();
        if (remains.length > 0) throw new Error(remains.join(', '));
        return true;
      });
    } finally {
      await stage.clear(); // else the next tests would fail of it, too
    }
  });

  return () => stage;
}

/** Resolves when so many hold the lock of the test or wait for it; not counted is a client that keeps it for its next caller. */
export async function contendersBecome(stage: LockStage, count: number): Promise<void> {
  await eventually(`${count} hold it or wait`, async () => {
    const contenders = await stage.contenders();
    if (contenders.length - keptBy(stage) !== count) throw new Error(contenders.join(', '));
    return true;
  });
}

/** Checks that no caller holds the lock of the test or waits for it. */
export async function expectReleased(stage: LockStage): Promise<void> {
  expect(await stage.contenders()).toHaveLength(keptBy(stage));
}

/** `theirs` takes the lock of the test that `mine` has released: in one attempt, but where `mine` keeps it until it is asked. */
export async function takenOver(stage: LockStage): Promise<Lease> {
  const lock = stage.theirs.lock(stage.key);
  const lease = keptBy(stage) > 0 ? await lock.acquire() : await lock.tryAcquire();
  if (lease === undefined) throw new Error(`${stage.key} was not released`);
  return lease;
}

/** How many clients keep the lock of the test for their next caller, as those do that were asked to. */
const keptBy = ({ mine, theirs }: LockStage): number =>
  (mine.locks.status().kept ?? 0) + (theirs.locks.status().kept ?? 0);

/** Does the work while the servers answer nothing. */
export async function whileFrozen(stage: LockStage, work: () => Promise<unknown>): Promise<void> {
  stage.freeze();
  try {
    await work();
  } finally {
    stage.thaw();
  }
}

/** The warnings of the process in a test that asks for them, which are not printed. */
export function useWarnings() {
  const spyOnWarnings = () => jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  let spy: ReturnType<typeof spyOnWarnings> | undefined;
  afterEach(() => {
    spy?.mockRestore();
    spy = undefined;
  });
  return () => (spy ??= spyOnWarnings());
}

/** Has a client queue for a lock of its; resolves when it does, with the lease to come. */
export async function queueFor(
  lock: Lock,
  locks: LockClient,
  options?: AcquireOptions,
): Promise<{ lease: Promise<Lease> }> {
  const contended = nextEvent(locks, 'contended');
  const lease = lock.acquire(options);
  lease.catch(() => {}); // read by the test, later
  await Promise.race([contended, lease]);
  return { lease };
}

/** The next event of that kind. */
export function nextEvent<E extends keyof LockEvents>(
  locks: LockClient,
  event: E,
): Promise<LockEvents[E]> {
  return new Promise((resolve) => {
    const stop = locks.on(event, (value) => {
      stop();
      resolve(value);
    });
  });
}
