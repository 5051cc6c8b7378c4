import type { PlantedBug } from '../world/planted.js';
import type { RedisFault } from './redis-faults.js';
import type { RedisScenarioName, RedisSize } from './redis-scenarios.js';
import type { RedisTask } from './redis-tasks.js';

/** What is explored in full. */
export interface RedisExplored {
  readonly task: RedisTask;
  /** How many runs are explored, few of which come to the same as another. */
  readonly runs: number;
  /** In how many ways they end. */
  readonly outcomes: number;
  /** Whether it takes more than some seconds. */
  readonly isLong: boolean;
}

/** A bug that is planted, and found. */
interface RedisFound {
  readonly bug: PlantedBug;
  readonly task: RedisTask;
  readonly accusation: RegExp;
  /** The most steps that are left of a run. Default: 12. */
  readonly most?: number;
}

const row = (
  redis: RedisScenarioName,
  world: RedisSize,
  runs: number,
  outcomes: number,
  size?: 'long',
): RedisExplored => ({ task: { redis, ...world }, runs, outcomes, isLong: size === 'long' });

const TWO: RedisSize = { clients: 2, faults: 0 };
const CUT: RedisSize = { clients: 1, faults: 1, kinds: ['cut'] };

const ONE: RedisSize = { clients: 1, faults: 1 };
const MIGRATE: RedisSize = { ...ONE, kinds: ['migrate'] };
/** Faults in which no time passes: those that do not end the client, some of them, and some with its death. */
const AT_ONCE: readonly RedisFault[] = ['cut', 'lose', 'fill', 'fail over', 'demote'];
const SOME: readonly RedisFault[] = ['cut', 'lose', 'demote'];
const WITH_KILL: readonly RedisFault[] = ['cut', 'lose', 'kill', 'fill', 'demote'];

export const REDIS_EXPLORED: readonly RedisExplored[] = [
  row('mutex', TWO, 26, 1),
  row('fair mutex', TWO, 13, 1),
  row('spin lock', TWO, 2, 1),
  row('mutex of those who try', TWO, 28, 3),
  row('mutex that is re-entered', TWO, 71, 2),
  row('multi-lock', TWO, 52, 2),
  row('mutex', ONE, 119, 2),
  row('fair mutex', ONE, 119, 2),
  row('semaphore', ONE, 122, 2),
  row('plain semaphore', ONE, 89, 1),
  row('mutex in a cluster', TWO, 26, 1),
  row('plain mutex in a cluster', MIGRATE, 178, 1),
  row('plain mutex', TWO, 26, 1, 'long'),
  row('mutex of the impatient', TWO, 140, 3, 'long'),
  row('fair mutex of the impatient', TWO, 79, 3, 'long'),
  row('mutex that is handed on', TWO, 71, 1, 'long'),
  row('read/write lock', TWO, 199, 2, 'long'),
  row('read/write lock that prefers writers', TWO, 199, 2, 'long'),
  row('semaphore', TWO, 26, 1, 'long'),
  row('fair semaphore', TWO, 20, 1, 'long'),
  row('plain semaphore', TWO, 52, 2, 'long'),
  row('plain mutex', ONE, 119, 2, 'long'),
  row('spin lock', ONE, 119, 2, 'long'),
  row('mutex that is re-entered', ONE, 239, 4, 'long'),
  row('fair semaphore', ONE, 122, 2, 'long'),
  row('read/write lock', ONE, 291, 2, 'long'),
  row('multi-lock', ONE, 135, 2, 'long'),
  row('extended mutex', ONE, 689, 2, 'long'),
  row('mutex with guarded writes', ONE, 1_117, 2, 'long'),
  row('mutex that is handed on', { ...ONE, requests: 2 }, 1_468, 3, 'long'),
  row('mutex in a cluster', MIGRATE, 288, 1, 'long'),
  row('two mutexes of one slot', MIGRATE, 3_430, 1, 'long'),
  row('mutex in a cluster', ONE, 717, 2, 'long'),
  row('mutex', { ...TWO, faults: 1, kinds: ['kill'] }, 381, 4, 'long'),
  row('mutex', { ...TWO, faults: 1, kinds: ['fill'] }, 641, 1, 'long'),
  row('mutex', { ...TWO, faults: 1, kinds: ['demote'] }, 1_046, 1, 'long'),
  row('mutex', { ...TWO, faults: 1, kinds: ['freeze'] }, 2_575, 4, 'long'),
  row('mutex', { ...TWO, faults: 1, kinds: ['lose'] }, 1_732, 1, 'long'),
  row('mutex', { ...ONE, faults: 2 }, 33_260, 2, 'long'),
  row('fair mutex', { ...TWO, faults: 1, kinds: ['fill'] }, 282, 1, 'long'),
  row('fair mutex', { ...TWO, faults: 1, kinds: ['demote'] }, 652, 1, 'long'),
  row('fair mutex', { ...TWO, faults: 1, kinds: ['freeze', 'kill'] }, 1_714, 7, 'long'),
  row('fair mutex', { ...TWO, faults: 1, kinds: ['lose'] }, 578, 1, 'long'),
  row('fair mutex', { ...TWO, faults: 1, kinds: ['cut'] }, 1_489, 1, 'long'),
  row('mutex', { ...TWO, faults: 1, kinds: ['cut'] }, 4_649, 1, 'long'),
  row('semaphore', { ...TWO, faults: 1, kinds: ['freeze', 'kill', 'fill'] }, 4_934, 7, 'long'),
  row('read/write lock', { ...TWO, faults: 1, kinds: ['kill', 'fill'] }, 8_282, 8, 'long'),
  row('fair semaphore', { ...ONE, faults: 2 }, 34_441, 2, 'long'),
  row('fair mutex', { ...ONE, faults: 2 }, 33_270, 2, 'long'),
  row('fair mutex', { clients: 3, faults: 0 }, 2_847, 1, 'long'),
  row('spin lock', { ...ONE, faults: 2 }, 33_260, 2, 'long'),
  row('semaphore', { ...ONE, faults: 2 }, 34_441, 2, 'long'),
  row('plain semaphore', { ...ONE, faults: 2 }, 6_501, 1, 'long'),
  row('plain mutex', { ...ONE, faults: 2 }, 33_260, 2, 'long'),
  row('extended mutex', { ...ONE, faults: 2, kinds: AT_ONCE }, 21_947, 1, 'long'),
  row('multi-lock', { ...ONE, faults: 2 }, 148_895, 2, 'long'),
  row('mutex that is re-entered', { ...ONE, faults: 2, kinds: AT_ONCE }, 3_315, 1, 'long'),
  row('read/write lock', { ...ONE, faults: 2, kinds: AT_ONCE }, 5_994, 1, 'long'),
  row(
    'mutex that is handed on',
    { ...ONE, requests: 2, faults: 2, kinds: AT_ONCE },
    27_778,
    1,
    'long',
  ),
  row('mutex with guarded writes', { ...ONE, faults: 2, kinds: AT_ONCE }, 47_975, 1, 'long'),
  row(
    'mutex of those who try',
    { ...TWO, faults: 1, kinds: ['cut', 'lose', 'kill', 'demote'] },
    7_589,
    9,
    'long',
  ),
  row('spin lock', { ...TWO, faults: 1, kinds: ['cut', 'lose', 'kill', 'demote'] }, 496, 4, 'long'),
  row('mutex of the impatient', { ...TWO, faults: 1, kinds: WITH_KILL }, 20_987, 9, 'long'),
  row('fair mutex of the impatient', { ...TWO, faults: 1, kinds: WITH_KILL }, 10_767, 9, 'long'),
  row('fair semaphore', { ...TWO, faults: 1, kinds: WITH_KILL }, 7_317, 4, 'long'),
  row(
    'mutex that is handed on',
    { ...TWO, faults: 1, kinds: ['kill', 'fill', 'demote'] },
    7_236,
    4,
    'long',
  ),
  row('semaphore', { ...TWO, faults: 1, kinds: SOME }, 7_375, 1, 'long'),
  row('read/write lock', { ...TWO, faults: 1, kinds: ['lose'] }, 10_026, 2, 'long'),
  row('read/write lock', { ...TWO, faults: 1, kinds: ['demote'] }, 8_716, 2, 'long'),
  row('read/write lock', { ...TWO, faults: 1, kinds: ['cut'] }, 27_389, 2, 'long'),
  row('multi-lock', { ...TWO, faults: 1, kinds: ['demote'] }, 1_884, 2, 'long'),
  row('multi-lock', { ...TWO, faults: 1, kinds: ['kill', 'lose'] }, 4_096, 8, 'long'),
  row('mutex', { ...ONE, faults: 3, kinds: AT_ONCE }, 82_049, 1, 'long'),
  row('fair mutex', { ...ONE, faults: 3, kinds: AT_ONCE }, 82_140, 1, 'long'),
  row('semaphore', { ...ONE, faults: 3, kinds: AT_ONCE }, 83_007, 1, 'long'),
  row('fair semaphore', { ...ONE, faults: 3, kinds: AT_ONCE }, 83_007, 1, 'long'),
  row('mutex', { ...TWO, faults: 2, kinds: ['kill', 'demote'] }, 35_848, 4, 'long'),
  row('fair mutex', { ...TWO, faults: 2, kinds: ['fill', 'demote'] }, 33_559, 1, 'long'),
  row('fair semaphore', { ...TWO, faults: 2, kinds: ['kill', 'demote'] }, 50_310, 4, 'long'),
];

/** With these it is tested whether more is left out than orders of independent steps: something that a client can see. */
export const REDIS_COMPARED: Readonly<Record<'short' | 'long', readonly RedisTask[]>> = {
  short: [
    { redis: 'mutex', ...TWO },
    { redis: 'mutex of those who try', ...TWO },
    { redis: 'mutex', ...ONE },
    { redis: 'fair semaphore', ...ONE },
    { redis: 'plain mutex in a cluster', ...MIGRATE },
  ],
  long: [
    { redis: 'mutex of the impatient', ...TWO },
    { redis: 'read/write lock', ...TWO },
    { redis: 'mutex', ...TWO, faults: 1, kinds: ['demote'] },
    { redis: 'fair mutex', ...TWO, faults: 1, kinds: ['fill'] },
  ],
};

const FORGOTTEN = /is free since .* and its waiters are forgotten/;
const ABANDONED = /is on the server since .*, and nobody has it/;
const BACK = /is back after its release/;
const SHORTENED = /believes that it is held for longer than the server keeps it/;
const PASSED_BY = /is served before .*, which came first/;

export const REDIS_FOUND: readonly RedisFound[] = [
  {
    bug: 'wakes none of the registered waiters',
    task: { redis: 'mutex', clients: 3, faults: 0 },
    accusation: FORGOTTEN,
    most: 26, // two have to subscribe before
  },
  {
    bug: 'takes the last reader out without a word',
    task: { redis: 'read/write lock', ...TWO },
    accusation: FORGOTTEN,
    most: 13,
  },
  {
    bug: 'releases what another one holds',
    task: { redis: 'plain mutex', ...TWO, faults: 1, kinds: ['silence'], seed: 1, runs: 100 },
    accusation: SHORTENED,
  },
  {
    bug: 'shortens leases by copies',
    task: { redis: 'extended mutex', ...CUT },
    accusation: SHORTENED,
  },
  {
    bug: 'grants to holders that have gone',
    task: { redis: 'mutex', ...CUT },
    accusation: BACK,
  },
  { bug: 'leaves no tombstones', task: { redis: 'fair mutex', ...CUT }, accusation: BACK },
  { bug: 'leaves no tombstones', task: { redis: 'semaphore', ...CUT }, accusation: BACK },
  {
    bug: 'counts the copies of a request',
    task: { redis: 'mutex with guarded writes', ...CUT },
    accusation: /guarded writes under a have counted/,
  },
  {
    bug: 'counts the copies of a request',
    task: { redis: 'plain semaphore', ...CUT },
    accusation: /plain permits of a are lost/,
  },
  {
    bug: 'serves the first to ask when the lock is free',
    task: { redis: 'fair mutex', clients: 3, faults: 0, seed: 1, runs: 100 },
    accusation: PASSED_BY,
  },
  {
    bug: 'serves the last of the queue first',
    task: { redis: 'fair mutex', clients: 3, faults: 0 },
    accusation: PASSED_BY,
  },
  {
    bug: 'names the channel as a key',
    task: { redis: 'plain mutex in a cluster', ...MIGRATE },
    accusation: ABANDONED,
  },
  {
    bug: 'renews what the server refuses only together',
    task: { redis: 'two mutexes of one slot', ...MIGRATE, seed: 1, runs: 300 },
    accusation: /is lost, although its client could renew it/,
  },
  {
    bug: 'removes the dead from a queue one by one',
    task: {
      redis: 'fair mutex behind a crowd',
      clients: 2,
      faults: 1,
      kinds: ['kill'],
      seed: 1,
      runs: 30,
    },
    accusation: /a script calls \d+ commands for \d+ elements/,
  },
  {
    bug: 'gives a token twice',
    task: { redis: 'mutex', ...TWO },
    accusation: /has the token 0 after 0/,
  },
  {
    bug: 'releases the first of several locks',
    task: { redis: 'multi-lock', ...TWO },
    accusation: ABANDONED,
  },
  {
    bug: 'keeps a lock that others wait for',
    task: { redis: 'mutex that is kept', ...TWO },
    accusation: ABANDONED,
    most: 23,
  },
  {
    bug: 'overlooks who waited before a lock was kept',
    task: { redis: 'mutex that is kept', ...TWO },
    accusation: ABANDONED,
    most: 21,
  },
];
