import type { PlantedBug } from '../../world/planted.js';
import type { RedLockFault } from './red-lock-faults.js';
import type { RedLockScenarioName, RedLockSize } from './red-lock-scenarios.js';
import type { RedLockTask } from './red-lock-tasks.js';

/** What is explored in full. */
export interface RedLockExplored {
  readonly task: RedLockTask;
  /** How many runs are explored, few of which come to the same as another. */
  readonly runs: number;
  /** In how many ways they end. */
  readonly outcomes: number;
  /** Whether it takes more than some seconds. */
  readonly isLong: boolean;
}

/** A bug that is planted, and found. */
interface RedLockFound {
  readonly bug: PlantedBug;
  readonly task: RedLockTask;
  readonly accusation: RegExp;
  /** The most steps that are left of a run. Default: 12. */
  readonly most?: number;
}

const row = (
  redLock: RedLockScenarioName,
  world: RedLockSize,
  runs: number,
  outcomes: number,
  size?: 'long',
): RedLockExplored => ({ task: { redLock, ...world }, runs, outcomes, isLong: size === 'long' });

const ONE: RedLockSize = { clients: 1, faults: 0 };
const TWO: RedLockSize = { clients: 2, faults: 0 };
/** One client, with one fault of that kind. */
const oneWith = (kind: RedLockFault): RedLockSize => ({ clients: 1, faults: 1, kinds: [kind] });
const twoWith = (kind: RedLockFault): RedLockSize => ({ ...oneWith(kind), clients: 2 });

const TRIES = 'mutex of those who try';
const ONCE = 'mutex of those who try once';
const HELD = 'mutex that is held, of those who try once';

export const RED_LOCK_EXPLORED: readonly RedLockExplored[] = [
  row(TRIES, ONE, 5, 1),
  row(ONCE, TWO, 76, 2),
  row(TRIES, oneWith('cut'), 273, 1, 'long'),
  row('mutex', ONE, 15, 1, 'long'),
  row('mutex with tokens', ONE, 36, 1, 'long'),
  row(HELD, TWO, 15, 2, 'long'),
  row('mutex that is held, of those who try', TWO, 43, 2, 'long'),
  row('mutex with tokens that is held, of those who try once', TWO, 25, 2, 'long'),
  row(TRIES, oneWith('lose'), 125, 1, 'long'),
  row(TRIES, oneWith('silence'), 350, 3, 'long'),
  row(TRIES, oneWith('delay'), 227, 2, 'long'),
  row(TRIES, oneWith('freeze'), 525, 3, 'long'),
  row(TRIES, oneWith('restart'), 543, 1, 'long'),
  row(TRIES, oneWith('forget'), 292, 1, 'long'),
  row(TRIES, oneWith('fill'), 142, 1, 'long'),
  row('mutex with tokens of those who try', oneWith('cut'), 1_567, 1, 'long'),
  row('mutex', oneWith('cut'), 799, 1, 'long'),
  row(ONCE, twoWith('kill'), 1_528, 3, 'long'),
  row(HELD, twoWith('kill'), 1_278, 3, 'long'),
];

/** With these it is tested whether servers that are alike, and answers that are only counted, leave out what a client can see. */
export const RED_LOCK_COMPARED: readonly Pick<RedLockExplored, 'task' | 'isLong'>[] = [
  { task: { redLock: TRIES, ...ONE }, isLong: false },
  { task: { redLock: TRIES, ...oneWith('cut') }, isLong: true },
];

/** What is too large to explore it in full: runs at random, which break no promise. */
export const RED_LOCK_AT_RANDOM: readonly RedLockTask[] = (
  ['mutex', 'mutex of the impatient', 'mutex with tokens'] as const
).map((redLock) => ({ redLock, clients: 2, faults: 2, seed: 1, runs: 100 }));

const NOBODY = /is on a server, and nobody has it/;
const MINORITY = /believes that it is held, and no majority keeps it for so long/;
const BACK = /is back at server \d after its release/;
const LOST = /is lost, although a majority of the servers is well/;

export const RED_LOCK_FOUND: readonly RedLockFound[] = [
  {
    bug: 'takes half of the servers for a majority',
    task: { redLock: ONCE, ...TWO },
    accusation: MINORITY,
    most: 1,
  },
  {
    bug: 'keeps what a minority has granted',
    task: { redLock: ONCE, ...TWO },
    accusation: NOBODY,
    most: 6,
  },
  {
    bug: 'forgets what is granted late',
    task: { redLock: TRIES, ...ONE },
    accusation: NOBODY,
    most: 7,
  },
  {
    bug: 'holds it with any number of servers',
    task: { redLock: TRIES, ...oneWith('silence') },
    accusation: MINORITY,
    most: 6,
  },
  {
    bug: 'needs all of the servers',
    task: { redLock: TRIES, ...oneWith('silence') },
    accusation: LOST,
    most: 4,
  },
  {
    bug: 'takes the token of one server',
    task: { redLock: 'mutex with tokens that is held, of those who try once', ...TWO },
    accusation: /has the token 1 after 1/,
    most: 3,
  },
  {
    bug: 'lets leases end early',
    task: { redLock: ONCE, ...TWO },
    accusation: MINORITY,
    most: 1,
  },
  {
    bug: 'leaves no tombstones',
    task: { redLock: TRIES, ...oneWith('cut') },
    accusation: BACK,
    most: 14,
  },
  {
    bug: 'grants to holders that have gone',
    task: { redLock: TRIES, ...oneWith('cut') },
    accusation: BACK,
    most: 14,
  },
  {
    bug: 'releases what another one holds',
    task: { redLock: HELD, ...twoWith('cut'), seed: 1, runs: 100 },
    accusation: MINORITY,
    most: 15,
  },
];
