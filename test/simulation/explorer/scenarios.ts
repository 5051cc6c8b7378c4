import { multiLock, mutex, readWriteLock, semaphore, semaphoreMutex } from '../locks.js';
import type { Fault } from './faults.js';
import type { World } from '../world.js';
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
  /** Starts a user of that client. */
  user(client: number, life: (user: User) => Promise<void>): void;
}

type Begin = (stage: Stage, clients: number) => void;

/** Of so many clients, with so many faults in a run, of those kinds. */
type Make = (clients: number, faults: number, kinds?: readonly Fault[]) => Scenario;

const scenario =
  (begin: Begin, more: Partial<Pick<Scenario, 'ids' | 'there'>> = {}): Make =>
  (clients, faults, kinds) => ({
    there: ['/locks', '/locks/a'],
    ...more,
    clients,
    faults,
    kinds,
    begin: (stage) => begin(stage, clients),
  });

const SEMAPHORE = { there: ['/locks', '/locks/a', '/locks/a/leases', '/locks/a/locks'] };

const readerInWriter: Begin = ({ world, user }, clients) => {
  const { read, write } = readWriteLock(world, 'a');
  user(0, (it) => it.visit(write, { inside: (outer) => it.visit(read, { outer }) }));
  for (let client = 1; client < clients; client++)
    user(client, (it) => it.visit(client % 2 === 0 ? write : read));
};

/** The small worlds to explore. */
export const SCENARIOS = {
  /** Each client asks once. */
  mutex: scenario(({ world, user }, clients) => {
    const lock = mutex(world, 'a');
    for (let client = 0; client < clients; client++) user(client, (it) => it.visit(lock));
  }),
  /** The same, in a directory that is not there yet. */
  'first mutex': scenario(
    ({ world, user }, clients) => {
      const lock = mutex(world, 'a');
      for (let client = 0; client < clients; client++) user(client, (it) => it.visit(lock));
    },
    { there: ['/locks'] },
  ),
  /** All but the first may give up. */
  'mutex of the impatient': scenario(({ world, user }, clients) => {
    const lock = mutex(world, 'a');
    user(0, (it) => it.visit(lock));
    for (let client = 1; client < clients; client++)
      user(client, (it) => it.visit(lock, { how: 'may give up' }));
  }),
  /** All but the first only try. */
  'mutex of those who try': scenario(({ world, user }, clients) => {
    const lock = mutex(world, 'a');
    user(0, (it) => it.visit(lock));
    for (let client = 1; client < clients; client++)
      user(client, (it) => it.visit(lock, { how: 'tries' }));
  }),
  /** The first client asks again inside, and has a second user. */
  'mutex that is re-entered': scenario(({ world, user }, clients) => {
    const lock = mutex(world, 'a');
    user(0, (it) => it.visit(lock, { inside: (outer) => it.visit(lock, { outer }) }));
    for (let client = 0; client < clients; client++) user(client, (it) => it.visit(lock));
  }),
  /** Writers and readers take turns. */
  'read/write lock': scenario(({ world, user }, clients) => {
    const { read, write } = readWriteLock(world, 'a');
    for (let client = 0; client < clients; client++)
      user(client, (it) => it.visit(client % 2 === 0 ? write : read));
  }),
  /** The first client reads inside of its write lock; its nodes are in the order of their creation, or not. */
  'reader inside of a writer': scenario(readerInWriter, { ids: 'rising' }),
  'reader inside of a writer, ahead of it': scenario(readerInWriter, { ids: 'falling' }),
  /** All in one client: a reader inside of its writer, a writer that may give up, and a reader behind that. */
  'readers of one client': scenario(({ world, user }) => {
    const { read, write } = readWriteLock(world, 'a');
    user(0, (it) => it.visit(write, { inside: (outer) => it.visit(read, { outer }) }));
    user(0, (it) => it.visit(write, { how: 'may give up' }));
    user(0, (it) => it.visit(read));
  }),
  /** Of two permits; the first client asks for both. */
  semaphore: scenario(({ world, user }, clients) => {
    const lock = semaphore(world, 'a', 2);
    for (let client = 0; client < clients; client++)
      user(client, (it) => it.visit(lock, { permits: client === 0 ? 2 : 1 }));
  }, SEMAPHORE),
  'semaphore mutex': scenario(({ world, user }, clients) => {
    const lock = semaphoreMutex(world, 'a');
    for (let client = 0; client < clients; client++) user(client, (it) => it.visit(lock));
  }, SEMAPHORE),
  /** Of two mutexes, of which the others want one each. */
  'multi-lock': scenario(
    ({ world, user }, clients) => {
      const parts = [mutex(world, 'a'), mutex(world, 'b')];
      const whole = multiLock(world, parts);
      user(0, (it) => it.visit(whole));
      for (let client = 1; client < clients; client++)
        user(client, (it) => it.visit(parts[client % 2]!));
    },
    { there: ['/locks', '/locks/a', '/locks/b'] },
  ),
} satisfies Record<string, Make>;

export type ScenarioName = keyof typeof SCENARIOS;
