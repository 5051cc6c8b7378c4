import type { Dice } from '../../dice.js';
import {
  type AskedLock,
  multiLock,
  mutex,
  type ObservedLock,
  readWriteLock,
  semaphore,
} from './observed-locks.js';
import { plainPermits } from './plain-permits.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';
import { latch, LatchVisits } from './latch-visits.js';
import type { Nature } from './lock-visits.js';

/** What one schedule is about. */
export interface Plot {
  readonly nature?: Partial<Nature>;
  /** Whether there are many clients, with one user each. Default: few, with one or two users. */
  readonly isCrowd?: boolean;
  readonly locks: (dice: Dice) => readonly AskedLock[];
  /** The most users of one client; default: 2. */
  readonly usersOfClient?: number;
  /** What is done before the users come. */
  readonly prepare?: (client: RedisProcess) => Promise<unknown>;
  /** Whether it is said what happens when a server forgets what it had answered. Default: it is. */
  readonly mayForget?: boolean;
  /** What users do instead of asking for locks. */
  readonly visits?: (world: RedisWorld) => LatchVisits;
  /** Takes a lock from its holders, as an operator. */
  readonly takeAway?: (client: RedisProcess, lock: ObservedLock) => Promise<unknown>;
}

export const USUAL: Nature = {
  restlessness: 0.3,
  impatience: 0,
  diligence: 0,
  nesting: 0,
  pauses: [0, 20, 200, 2_000],
};
/** Those that give up stay away: they do not take what others should be woken for. */
const IMPATIENT: Partial<Nature> = { impatience: 0.4, pauses: [3_000] };

const some = (dice: Dice) => dice.pick([['a'], ['a'], ['a', 'b']]);
const force = ({ locks }: RedisProcess, { name }: ObservedLock, fair: boolean) =>
  locks.mutex(name.redisKey, { fair, fenced: true }).forceUnlock();

/** The random schedules of each kind of lock. */
export const PLOTS = {
  mutex: {
    locks: (dice) => some(dice).map((key) => mutex(key)),
    takeAway: (client, lock) => force(client, lock, false),
  },
  'fair mutex': {
    locks: (dice) => some(dice).map((key) => mutex(key, 'fair')),
    takeAway: (client, lock) => force(client, lock, true),
  },
  'mutex with guarded writes': {
    locks: () => [mutex('a')],
    nature: { restlessness: 0.1, diligence: 0.7 },
  },
  'mutex that is re-entered': {
    locks: (dice) => some(dice).map((key) => mutex(key)),
    takeAway: (client, lock) => force(client, lock, false),
    nature: { restlessness: 0.1, nesting: 0.6 },
  },
  'multi-lock': {
    locks(dice) {
      const [a, b, c] = ['a', 'b', 'c'].map((key) => mutex(key, 'plain')) as [
        ObservedLock,
        ObservedLock,
        ObservedLock,
      ];
      const [both, all] = [multiLock([a, b]), multiLock([a, b, c])];
      return dice.pick([[both], [both, a, b], [both, multiLock([b, c]), all], [all, a, b, c]]);
    },
    takeAway: (client, { name }) => client.locks.mutex(name.redisKey).forceUnlock(),
    nature: { restlessness: 0.1, nesting: 0.2 },
    usersOfClient: 3,
  },
  'extended mutex': { locks: () => [mutex('a')], nature: { restlessness: 0.9 } },
  'mutex of the impatient': {
    locks: () => [mutex('a')],
    nature: IMPATIENT,
    isCrowd: true,
  },
  'mutex that is handed on': {
    locks: (dice) => some(dice).map((key) => mutex(key, 'handed on')),
    takeAway: (client, { name }) => client.locks.mutex(name.redisKey).forceUnlock(),
    nature: { restlessness: 0.05 },
    usersOfClient: 4,
  },
  'mutex that is kept': {
    locks: (dice) => some(dice).map((key) => mutex(key, 'kept')),
    takeAway: (client, { name }) => client.locks.mutex(name.redisKey).forceUnlock(),
    nature: { restlessness: 0.05 },
  },
  'spin lock': { locks: () => [mutex('a', 'spin')] },
  'read/write lock': {
    locks(dice) {
      const [read, write] = readWriteLock('a', dice.chance(0.5));
      return dice.pick([
        [read, write],
        [read, read, read, write],
      ]);
    },
  },
  'read/write lock that is re-entered': {
    locks: (dice) => readWriteLock('a', dice.chance(0.5)),
    nature: { restlessness: 0.1, nesting: 0.6 },
  },
  'read lock that is shared': {
    locks(dice) {
      const sharing = { atMost: dice.integer(1, 6), for: dice.pick([2_000, 20_000]) };
      const [read, write] = readWriteLock('a', dice.chance(0.5), sharing);
      const [alone] = readWriteLock('a');
      return dice.pick([
        [read, read, write],
        [read, read, alone, write],
      ]);
    },
    takeAway: ({ locks }, { name }) => locks.readWriteLock(name.redisKey).forceUnlock('read'),
    nature: { restlessness: 0.05, nesting: 0.1 },
    usersOfClient: 4,
  },
  semaphore: { locks: (dice) => [semaphore('a', dice.integer(1, 3), false)] },
  'plain semaphore': {
    locks: (dice) =>
      dice.pick([[1], [1, 2], [1, 1, 3]]).map((count) => plainPermits('a', 3, count)),
    prepare: (client) => client.locks.plainSemaphore('a').trySetPermits(3),
    mayForget: false,
    nature: { restlessness: 0, longestWait: 10_000 }, // those of a process that ends are lost
  },
  latch: {
    locks: () => [latch('a')],
    mayForget: false,
    visits: (world) => new LatchVisits(world, 'a'),
  },
  'semaphore of the impatient': {
    locks: (dice) => [semaphore('a', dice.integer(1, 2), dice.chance(0.3))],
    nature: IMPATIENT,
    isCrowd: true,
  },
  'fair semaphore': { locks: (dice) => [semaphore('a', dice.integer(1, 3), true)] },
} satisfies Record<string, Plot>;

export type PlotName = keyof typeof PLOTS;
