import {
  multiLock,
  mutex,
  mutexes,
  readWriteLock,
  semaphore,
  semaphoreMutex,
  type SimulatedLock,
} from '../../locks.js';
import type { Fault } from './faults.js';
import type { World } from '../../world.js';
import { WrittenData } from '../../writes.js';
import { SteppedBarrier, SteppedDoubleBarrier } from './stepped-barriers.js';
import { SteppedCounter } from './stepped-counter.js';
import { SteppedElection } from './stepped-election.js';
import type { User } from './users.js';

/** A small world, in which every order of steps is explored. */
export interface Scenario {
  readonly clients: number;
  /** How many faults a run may have. */
  readonly faults: number;
  /** Of which kinds. Default: all. */
  readonly kinds?: readonly Fault[] | undefined;
  /** Directories that are there already. */
  readonly there: readonly string[];
  /** The order of nodes with one number. Default: that of their creation. */
  readonly ids?: 'rising' | 'falling';
  /** Creates the locks, and starts the users. */
  begin(stage: Stage): void;
}

/** Where the users of a scenario appear. */
interface Stage {
  readonly world: World;
  readonly clients: number;
  /**
   * Starts the user with that number: the clients have one after the other.
   *
   * @param kind users of one kind do the same
   */
  user(number: number, kind: string, life: (user: User) => Promise<void>): void;
}

/** How large a world is. */
export interface Size extends Pick<Scenario, 'clients' | 'faults' | 'kinds'> {
  /** How many users there are, of the clients in turn. Default: one of each. */
  readonly requests?: number;
}

/** @param requests how many users there are */
type Begin = (stage: Stage, requests: number) => void;

type Make = (size: Size) => Scenario;

const scenario =
  (begin: Begin, more: Partial<Pick<Scenario, 'ids' | 'there'>> = {}): Make =>
  ({ clients, requests = clients, faults, kinds }) => ({
    there: ['/locks', '/locks/a'],
    ...more,
    clients,
    faults,
    kinds,
    begin: (stage) => begin(stage, requests),
  });

const SEMAPHORE = { there: ['/locks', '/locks/a', '/locks/a/leases', '/locks/a/locks'] };

const readerInWriter: Begin = ({ world, user }, requests) => {
  const { read, write } = readWriteLock(world, 'a');
  user(0, 'nests', (it) => it.visit(write, { inside: (outer) => it.visit(read, { outer }) }));
  for (let i = 1; i < requests; i++) user(i, ...turn(i, read, write));
};

const doubleBarrier: Begin = ({ world, user }, requests) => {
  const barrier = new SteppedDoubleBarrier(world, requests);
  for (let i = 0; i < requests; i++) user(i, 'passes', (it) => barrier.pass(it));
};

/** Writers and readers take turns. */
function turn(
  i: number,
  read: SimulatedLock,
  write: SimulatedLock,
): [kind: string, life: (user: User) => Promise<void>] {
  return i % 2 === 0 ? ['writes', (it) => it.visit(write)] : ['reads', (it) => it.visit(read)];
}

const mutexOfAll: Begin = ({ world, user }, requests) => {
  const lock = mutex(world, 'a');
  for (let i = 0; i < requests; i++) user(i, 'waits', (it) => it.visit(lock));
};

/** The first waits for the mutex; the others come in that way. */
const mutexOfOneAnd =
  (how: 'tries' | 'may give up'): Begin =>
  ({ world, user }, requests) => {
    const lock = mutex(world, 'a');
    user(0, 'waits', (it) => it.visit(lock));
    for (let i = 1; i < requests; i++) user(i, how, (it) => it.visit(lock, { how }));
  };

/** The small worlds to explore. */
export const SCENARIOS = {
  mutex: scenario(mutexOfAll),
  /** The same, but each client has only one user, which asks again. */
  'mutex, again': scenario(({ world, user, clients }, requests) => {
    const lock = mutex(world, 'a');
    for (let i = 0; i < clients; i++) {
      const times = Math.ceil((requests - i) / clients);
      user(i, `asks ${times} times`, async (it) => {
        for (let left = times; left > 0; left--) await it.visit(lock);
      });
    }
  }),
  /** The same, in a directory that is not there yet. */
  'first mutex': scenario(mutexOfAll, { there: ['/locks'] }),
  'mutex of the impatient': scenario(mutexOfOneAnd('may give up')),
  'mutex of those who try': scenario(mutexOfOneAnd('tries')),
  /** To one more caller of a client. */
  'mutex that is handed on': scenario(({ world, user }, requests) => {
    const { handedOn } = mutexes(world, 'a', { atMost: 1, for: 60_000 });
    for (let i = 0; i < requests; i++) user(i, 'waits', (it) => it.visit(handedOn));
  }),
  /** The same, with callers that may give up, but for the first of each client. */
  'mutex that is handed on, of the impatient': scenario(({ world, user, clients }, requests) => {
    const { handedOn } = mutexes(world, 'a', { atMost: 1, for: 60_000 });
    for (let i = 0; i < requests; i++)
      if (i < clients) user(i, 'waits', (it) => it.visit(handedOn));
      else user(i, 'may give up', (it) => it.visit(handedOn, { how: 'may give up' }));
  }),
  /** By each client for its next caller, if none waits. */
  'mutex that is kept': scenario(({ world, user }, requests) => {
    const { handedOn } = mutexes(world, 'a', { atMost: 1, for: 60_000, keep: 1_000 });
    for (let i = 0; i < requests; i++) user(i, 'waits', (it) => it.visit(handedOn));
  }),
  /** Each holder changes data by a guarded write. */
  'mutex with guarded writes': scenario(({ world, user }, requests) => {
    const lock = mutex(world, 'a');
    const data = new WrittenData(world);
    world.observers.push(data);
    for (let i = 0; i < requests; i++)
      user(i, 'writes', (it) => it.visit(lock, { inside: (visit) => it.write(data, visit) }));
  }),
  /** The first client asks again inside, beside the requests of all. */
  'mutex that is re-entered': scenario(({ world, user }, requests) => {
    const lock = mutex(world, 'a');
    user(0, 'nests', (it) => it.visit(lock, { inside: (outer) => it.visit(lock, { outer }) }));
    for (let i = 0; i < requests; i++) user(i, 'waits', (it) => it.visit(lock));
  }),
  'read/write lock': scenario(({ world, user }, requests) => {
    const { read, write } = readWriteLock(world, 'a');
    for (let i = 0; i < requests; i++) user(i, ...turn(i, read, write));
  }),
  /** By the callers of each client that read; the others write. */
  'read lock that is shared': scenario(({ world, user }, requests) => {
    const { read, write } = readWriteLock(world, 'a', { atMost: 1, for: 60_000 });
    for (let i = 0; i < requests; i++) user(i, ...turn(i + 1, read, write));
  }),
  /** The first client reads inside of its write lock; its nodes are in the order of their creation, or not. */
  'reader inside of a writer': scenario(readerInWriter, { ids: 'rising' }),
  'reader inside of a writer, ahead of it': scenario(readerInWriter, { ids: 'falling' }),
  /** All in one client: a reader inside of its writer, a writer that may give up, and a reader behind that. */
  'readers of one client': scenario(({ world, user }) => {
    const { read, write } = readWriteLock(world, 'a');
    user(0, 'nests', (it) => it.visit(write, { inside: (outer) => it.visit(read, { outer }) }));
    user(0, 'may give up', (it) => it.visit(write, { how: 'may give up' }));
    user(0, 'reads', (it) => it.visit(read));
  }),
  /** Of two permits; the first asks for both. */
  semaphore: scenario(({ world, user }, requests) => {
    const lock = semaphore(world, 'a', 2);
    user(0, 'takes both', (it) => it.visit(lock, { permits: 2 }));
    for (let i = 1; i < requests; i++) user(i, 'takes one', (it) => it.visit(lock));
  }, SEMAPHORE),
  'semaphore mutex': scenario(({ world, user }, requests) => {
    const lock = semaphoreMutex(world, 'a');
    for (let i = 0; i < requests; i++) user(i, 'waits', (it) => it.visit(lock));
  }, SEMAPHORE),
  /** Of two mutexes, of which the others want one each. */
  'multi-lock': scenario(
    ({ world, user }, requests) => {
      const parts = [mutex(world, 'a'), mutex(world, 'b')];
      const whole = multiLock(world, parts);
      user(0, 'waits for both', (it) => it.visit(whole));
      for (let i = 1; i < requests; i++) {
        const part = parts[i % 2]!;
        user(i, `waits for ${part.key}`, (it) => it.visit(part));
      }
    },
    { there: ['/locks', '/locks/a', '/locks/b'] },
  ),
  /** Each leads, and closes its latch. */
  'leader latch': scenario(({ world, user }, requests) => {
    const election = new SteppedElection(world);
    for (let i = 0; i < requests; i++) user(i, 'stands', (it) => election.latch(it));
  }),
  /** The same, but all except the first may close their latches before they lead. */
  'leader latch of the impatient': scenario(({ world, user }, requests) => {
    const election = new SteppedElection(world);
    user(0, 'stands', (it) => election.latch(it));
    for (let i = 1; i < requests; i++)
      user(i, 'may give up', (it) => election.latch(it, { mayGiveUp: true }));
  }),
  /** Each works under its leadership. */
  'leader latch with work': scenario(({ world, user }, requests) => {
    const election = new SteppedElection(world);
    for (let i = 0; i < requests; i++)
      user(i, 'works', (it) => election.latch(it, { works: true }));
  }),
  'leader selector': scenario(({ world, user }, requests) => {
    const election = new SteppedElection(world);
    for (let i = 0; i < requests; i++) user(i, 'stands', (it) => election.selector(it));
  }),
  'atomic number': scenario(({ world, user }, requests) => {
    const counter = new SteppedCounter(world, 64);
    for (let i = 0; i < requests; i++)
      user(i, `adds ${i}`, (it) => counter.add(it, i, 'optimistic'));
  }),
  /** A user that is overtaken tries once more, inside of its mutex. */
  'atomic number, promoted': scenario(
    ({ world, user }, requests) => {
      const counter = new SteppedCounter(world, 64);
      for (let i = 0; i < requests; i++)
        user(i, `adds ${i}`, (it) => counter.add(it, i, 'promoted'));
    },
    { there: ['/locks', '/locks/number-lock'] },
  ),
  'shared count': scenario(({ world, user }, requests) => {
    const counter = new SteppedCounter(world, 32);
    for (let i = 0; i < requests; i++) user(i, `sets ${i}`, (it) => counter.set(it, 1 + i));
  }),
  /** That the first sets and removes, while the others wait. */
  barrier: scenario(
    ({ world, user }, requests) => {
      const barrier = new SteppedBarrier(world);
      user(0, 'raises', (it) => barrier.raise(it));
      for (let i = 1; i < requests; i++) user(i, 'waits', (it) => barrier.wait(it));
    },
    { there: ['/locks'] },
  ),
  /** The members come in the order of their names, or not. */
  'double barrier': scenario(doubleBarrier, { ids: 'rising' }),
  'double barrier, the other way round': scenario(doubleBarrier, { ids: 'falling' }),
} satisfies Record<string, Make>;

export type ScenarioName = keyof typeof SCENARIOS;
