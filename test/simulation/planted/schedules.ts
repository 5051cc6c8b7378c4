import { scheduleOfCounter } from '../counters.js';
import { LatchUser, scheduleOfElection, SelectorUser } from '../elections.js';
import { scheduleOfLocks } from '../guests.js';
import { countedSemaphore, mutex, readWriteLock, semaphore, semaphoreMutex } from '../locks.js';
import type { Schedule } from '../run-schedule.js';
import { SCHEDULES as RANDOM_SCHEDULES } from '../schedules.js';
import type { World } from '../world.js';

const halves = (world: World) => {
  const { read, write } = readWriteLock(world, 'a');
  return [read, write];
};

/** Schedules of what has, or may have, a bug. */
export const SCHEDULES = {
  mutex: scheduleOfLocks((world) => [mutex(world, 'a')]),
  'read/write lock': scheduleOfLocks((world) => halves(world)),
  semaphore: scheduleOfLocks((world) => [semaphore(world, 'a', 2)]),
  'semaphore mutex': scheduleOfLocks((world) => [semaphoreMutex(world, 'a')]),
  'semaphore of three permits': scheduleOfLocks((world) => [
    { ...semaphore(world, 'a', 2), of: ({ locks }) => locks.semaphore('a', { permits: 3 }) },
  ]),
  'semaphore with a shared count': scheduleOfLocks((world) => {
    const permits = { count: 3, onChange: () => () => {} }; // never tells of a change
    const real = countedSemaphore(world, 'a', permits.count);
    return [{ ...real, of: ({ locks }) => locks.semaphore('a', { permits }) }];
  }),
  latch: scheduleOfElection(LatchUser),
  selector: scheduleOfElection(SelectorUser),
  'guarded write under a mutex': scheduleOfLocks((world) => [mutex(world, 'a')], {
    doWrite: true,
  }),
  'guarded write under a read/write lock': scheduleOfLocks((world) => halves(world), {
    doWrite: true,
  }),
  'lock with several callers in a client': RANDOM_SCHEDULES.crowd,
  'mutex that is handed on': RANDOM_SCHEDULES['handed-on'],
  'read lock that is shared': RANDOM_SCHEDULES['shared-reads'],
  'lock inside of another': RANDOM_SCHEDULES.deadlock,
  'kept session': scheduleOfLocks((world) => [mutex(world, 'a')], { hasWorkers: true }),
  'distributed atomic long': scheduleOfCounter(64),
  'distributed atomic integer': scheduleOfCounter(32),
  'shared count': scheduleOfCounter(32),
} satisfies Record<string, Schedule>;

/** What can have a bug. */
export type PlantedIn = keyof typeof SCHEDULES;
