import type { HandOff } from '../../lib/core/lock.js';
import { scheduleOfCounter } from './counters.js';
import { scheduleOfCrowds } from './crowds.js';
import { scheduleOfDeadlocks } from './deadlocks.js';
import { LatchUser, scheduleOfElection, SelectorUser } from './elections.js';
import { scheduleOfLocks } from './guests.js';
import {
  countedSemaphore,
  multiLock,
  mutex,
  mutexes,
  readWriteLock,
  semaphore,
  semaphoreMutex,
} from './locks.js';
import type { Schedule } from './run-schedule.js';

/** The longest that a mutex is kept, in ms. */
const LONGEST_KEEP = 3_000;

/** The random schedules of each kind of lock, election and number. */
export const SCHEDULES = {
  mutex: scheduleOfLocks((world, dice) =>
    dice.pick([['a'], ['a'], ['a', 'b']]).map((key) => mutex(world, key)),
  ),
  'read-write-lock': scheduleOfLocks((world, dice) => {
    const { read, write } = readWriteLock(world, 'a');
    return dice.pick([
      [read, write],
      [read, read, read, write],
    ]);
  }),
  semaphore: scheduleOfLocks((world, dice) => [
    semaphore(world, 'a', dice.pick([1, 2, 3, 4, 18])), // 18: so many that they are counted
  ]),
  'semaphore-mutex': scheduleOfLocks((world, dice) =>
    dice.pick([['a'], ['a'], ['a', 'b']]).map((key) => semaphoreMutex(world, key)),
  ),
  'counted-semaphore': scheduleOfLocks((world, dice) => [
    countedSemaphore(world, 'a', dice.integer(2, 4)),
  ]),
  'multi-lock': scheduleOfLocks((world, dice) => {
    const { read, write } = readWriteLock(world, 'c');
    const a = mutex(world, 'a');
    const b = mutex(world, 'b');
    const c = dice.pick([read, write]);
    const d = semaphore(world, 'd', 2);
    const wholes = dice.pick([
      [[a, b]],
      [[a, b, c, d]],
      [
        [a, b],
        [b, c],
      ],
      [
        [a, c],
        [b, c, d],
      ],
    ]);
    const some = dice.pick([[a], [b, c], [a, b, d]]);
    return [...wholes.map((parts) => multiLock(world, parts)), ...some];
  }),
  'guarded-write': scheduleOfLocks(
    (world, dice) => {
      const a = mutex(world, 'a');
      const { read, write } = readWriteLock(world, 'c');
      return dice.pick([
        [a],
        [a],
        [read, write],
        [semaphore(world, 'd', 2)],
        [a, multiLock(world, [a, write])],
      ]);
    },
    { doWrite: true },
  ),
  'handed-on': scheduleOfLocks(
    (world, dice) => {
      const bounds = () => ({ atMost: dice.integer(1, 4), for: dice.pick([50, 500, 5_000]) });
      const keeping = dice.fork('keep');
      const handOff = (): HandOff => {
        const briefly = bounds();
        const keep = keeping.pick([undefined, 500, LONGEST_KEEP]);
        if (keep === undefined) return briefly;
        return { atMost: keeping.integer(1, 20), for: keeping.pick([500, 5_000, 20_000]), keep };
      };
      const a = mutexes(world, 'a', handOff());
      if (dice.chance(0.7)) return dice.pick([[a.handedOn], [a.handedOn, a.released]]);
      const b = mutexes(world, 'b', handOff());
      return [a.handedOn, b.handedOn, multiLock(world, [a.handedOn, b.handedOn])];
    },
    {
      doWrite: 'few',
      clients: [2, 3],
      guests: [1, 4],
      mayFlee: true,
      mayBeQuiet: true,
      longestKeep: LONGEST_KEEP,
    },
  ),
  'shared-reads': scheduleOfLocks(
    (world, dice) => {
      const sharing = { atMost: dice.integer(1, 6), for: dice.pick([50, 500, 20_000]) };
      const { read, alone, write } = readWriteLock(world, 'b', sharing);
      const both = multiLock(world, [mutex(world, 'a'), read]);
      return dice.pick([
        [read, read, read, write],
        [read, read, write],
        [read, alone, write],
        [read, write, both],
      ]);
    },
    { doWrite: 'few', clients: [2, 3], guests: [1, 4], mayFlee: true },
  ),
  'kept-session': scheduleOfLocks(
    (world, dice) => {
      if (dice.chance(0.6)) return [mutex(world, 'a')];
      const { read, write } = readWriteLock(world, 'a');
      return [read, write];
    },
    { hasWorkers: true },
  ),
  crowd: scheduleOfCrowds((world, dice) => {
    const { read, write } = readWriteLock(world, 'a');
    const b = mutex(world, 'b');
    return dice.pick([
      [read, write],
      [read, write],
      [read, write, b, multiLock(world, [write, b]), multiLock(world, [read, b])],
    ]);
  }),
  deadlock: scheduleOfDeadlocks((world, dice) => {
    const [a, b] = [mutex(world, 'a'), mutex(world, 'b')];
    const { read, write } = readWriteLock(world, 'c');
    return dice.pick([
      [a, b],
      [a, b, mutex(world, 'd')],
      [a, read, write],
    ]);
  }),
  'leader-latch': scheduleOfElection(LatchUser),
  'leader-selector': scheduleOfElection(SelectorUser),
  'atomic-long': scheduleOfCounter(64),
  'shared-count': scheduleOfCounter(32),
} satisfies Record<string, Schedule>;

export type Kind = keyof typeof SCHEDULES;
