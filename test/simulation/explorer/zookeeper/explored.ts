import type { Fault } from './faults.js';
import type { PlantedBug } from './planted.js';
import type { ScenarioName, Size } from './scenarios.js';
import type { Task } from './tasks.js';

/** What is explored in full. */
export interface Explored {
  readonly task: Task;
  /** How many runs are explored, few of which come to the same as another. */
  readonly runs: number;
  /** In how many ways they end. */
  readonly outcomes: number;
  /** Whether it takes more than some seconds. */
  readonly isLong: boolean;
}

/** A bug that is planted, and found. */
export interface Found {
  readonly bug: PlantedBug;
  readonly task: Task;
  readonly accusation: RegExp;
  /** The most steps that are left of a run. Default: 12. */
  readonly most?: number;
  /** Whether it takes more than some seconds. */
  readonly isLong?: boolean;
}

const row = (
  scenario: ScenarioName,
  world: Size,
  runs: number,
  outcomes: number,
  size?: 'long',
): Explored => ({ task: { scenario, ...world }, runs, outcomes, isLong: size === 'long' });

const TWO: Size = { clients: 2, faults: 0 };
const THREE: Size = { clients: 3, faults: 0 };
const DISTURBED: Size = { clients: 2, faults: 1 };
const PARTLY: Size = { ...DISTURBED, kinds: ['cut', 'throttle', 'take'] };
const TWICE: Size = { clients: 2, faults: 2 };
/** One of the clients has two callers. */
const HANDED_ON: Size = { clients: 2, requests: 3, faults: 0 };

export const EXPLORED: readonly Explored[] = [
  row('mutex', TWO, 7, 1),
  row('first mutex', TWO, 208, 1),
  row('mutex of the impatient', TWO, 73, 4),
  row('mutex of those who try', TWO, 17, 3),
  row('read/write lock', TWO, 14, 2),
  row('reader inside of a writer', TWO, 40, 3),
  row('reader inside of a writer, ahead of it', TWO, 40, 3),
  row('semaphore mutex', TWO, 112, 1),
  row('multi-lock', TWO, 42, 4),
  row('mutex with guarded writes', TWO, 28, 1),
  row('mutex that is handed on', HANDED_ON, 180, 5),
  row('mutex that is kept', HANDED_ON, 288, 3),
  row('read lock that is shared', HANDED_ON, 264, 7),
  row('leader latch', TWO, 7, 1),
  row('leader latch of the impatient', TWO, 93, 3),
  row('leader latch with work', TWO, 28, 1),
  row('leader selector', TWO, 7, 1),
  row('atomic number', TWO, 6, 2),
  row('atomic number, promoted', TWO, 6, 2),
  row('shared count', TWO, 120, 4),
  row('barrier', TWO, 3, 2),
  row('double barrier', TWO, 474, 6),
  row('leader latch', { ...DISTURBED, kinds: ['cut'] }, 146, 5),
  row('atomic number', { ...DISTURBED, kinds: ['cut'] }, 82, 2),
  row('mutex', { ...DISTURBED, kinds: ['cut', 'throttle'] }, 148, 1),
  row('mutex', { ...TWICE, kinds: ['cut'] }, 1_067, 1),
  row('mutex, again', { ...TWICE, requests: 3, kinds: ['throttle'] }, 1_891, 3),
  row('semaphore', TWO, 728, 2, 'long'),
  row('mutex', THREE, 112, 1, 'long'),
  row('mutex of those who try', THREE, 724, 8, 'long'),
  row('read/write lock', THREE, 360, 3, 'long'),
  row('mutex', DISTURBED, 4_682, 16, 'long'),
  row('mutex of those who try', DISTURBED, 7_083, 36, 'long'),
  row('read/write lock', DISTURBED, 8_830, 32, 'long'),
  row('mutex of the impatient', PARTLY, 3_933, 16, 'long'),
  row('multi-lock', PARTLY, 2_562, 26, 'long'),
  row('reader inside of a writer', PARTLY, 12_106, 68, 'long'),
  row('reader inside of a writer, ahead of it', PARTLY, 12_106, 68, 'long'),
  row('semaphore mutex', PARTLY, 16_380, 5, 'long'),
  row('semaphore', { ...DISTURBED, kinds: ['cut', 'throttle'] }, 27_448, 2, 'long'),
  row('mutex with guarded writes', PARTLY, 2_422, 12, 'long'),
  row('mutex, again', { ...TWICE, requests: 3, kinds: ['cut', 'throttle'] }, 38_073, 3, 'long'),
  row(
    'mutex, again',
    { clients: 3, requests: 4, faults: 1, kinds: ['throttle'] },
    25_058,
    6,
    'long',
  ),
  row('mutex, again', { clients: 3, requests: 4, faults: 1, kinds: ['cut'] }, 185_822, 6, 'long'),
  row('mutex that is handed on, of the impatient', HANDED_ON, 2_839, 11, 'long'),
  row('mutex that is handed on', { ...PARTLY, requests: 3 }, 19_288, 46, 'long'),
  row(
    'mutex that is handed on',
    { ...HANDED_ON, faults: 1, kinds: ['expire', 'kill'] },
    13_423,
    114,
    'long',
  ),
  row('mutex that is handed on', { ...HANDED_ON, faults: 2, kinds: ['cut'] }, 43_188, 5, 'long'),
  row('mutex that is kept', { ...HANDED_ON, faults: 1, kinds: ['cut'] }, 7_356, 5, 'long'),
  row(
    'mutex that is kept',
    { ...HANDED_ON, faults: 1, kinds: ['expire', 'kill'] },
    20_785,
    80,
    'long',
  ),
  row('read lock that is shared', { ...HANDED_ON, faults: 1, kinds: ['cut'] }, 6_505, 7, 'long'),
  row(
    'read lock that is shared',
    { ...HANDED_ON, faults: 1, kinds: ['expire'] },
    10_446,
    190,
    'long',
  ),
  row('leader latch', THREE, 112, 1, 'long'),
  row('leader latch', DISTURBED, 8_810, 17, 'long'),
  row('leader latch', { ...THREE, faults: 1, kinds: ['cut', 'throttle'] }, 3_705, 7, 'long'),
  row('leader latch', { ...PARTLY, faults: 2 }, 106_276, 20, 'long'),
  row('leader latch of the impatient', DISTURBED, 60_849, 40, 'long'),
  row('leader latch of the impatient', { ...TWICE, kinds: ['cut'] }, 12_771, 25, 'long'),
  row('leader latch with work', DISTURBED, 102_616, 17, 'long'),
  row('leader latch with work', { ...TWICE, kinds: ['cut'] }, 12_640, 11, 'long'),
  row('leader selector', DISTURBED, 6_088, 8, 'long'),
  row('leader selector', { ...PARTLY, faults: 2 }, 23_965, 8, 'long'),
  row('atomic number', DISTURBED, 1_406, 4, 'long'),
  row('atomic number', { ...TWICE, kinds: ['cut', 'throttle', 'expire'] }, 2_023, 5, 'long'),
  row('atomic number', { ...THREE, faults: 1, kinds: ['cut'] }, 3_414, 12, 'long'),
  row('atomic number, promoted', DISTURBED, 1_832, 4, 'long'),
  row('shared count', { ...DISTURBED, kinds: ['cut', 'throttle'] }, 3_752, 8, 'long'),
  row('barrier', { ...THREE, faults: 1 }, 7_043, 19, 'long'),
  row('double barrier, the other way round', TWO, 474, 6, 'long'),
  row(
    'double barrier, the other way round',
    { ...DISTURBED, kinds: ['cut', 'throttle', 'expire'] },
    23_984,
    16,
    'long',
  ),
  row('double barrier', DISTURBED, 486_877, 23, 'long'),
  row('mutex', { ...TWICE, kinds: ['cut', 'throttle', 'expire'] }, 6_366, 30, 'long'),
];

export const FOUND: readonly Found[] = [
  {
    bug: 'takes an answered read for a proof',
    task: { scenario: 'mutex', clients: 2, faults: 1 },
    accusation: /says that it is held without its node/,
  },
  {
    bug: 'keeps the timeout of the first server',
    task: { scenario: 'mutex', clients: 2, faults: 2, kinds: ['shorten', 'silence'] },
    accusation: /says that it is held without its node/,
  },
  {
    bug: 'does not try a refused deletion again',
    task: { scenario: 'mutex', clients: 2, faults: 1 },
    accusation: /stands in the way/,
  },
  {
    bug: 'forgets the writer of an inner reader',
    task: { scenario: 'readers of one client', clients: 1, faults: 0, seed: 1, runs: 500 },
    accusation: /never had its turn/,
  },
  {
    bug: 'forgets the writer of an inner reader',
    task: { scenario: 'readers of one client', clients: 1, faults: 0 },
    accusation: /never had its turn/,
    isLong: true,
  },
  {
    bug: 'writes without a look at its node',
    task: { scenario: 'mutex with guarded writes', clients: 2, faults: 1, kinds: ['take'] },
    accusation: /writes behind hold/,
  },
  {
    bug: 'writes again when the answer was lost',
    task: { scenario: 'mutex with guarded writes', clients: 2, faults: 1, kinds: ['cut'] },
    accusation: /is carried out twice|is refused, and is there/,
  },
  {
    bug: 'reports a loss to the first caller only',
    task: { scenario: 'mutex that is handed on', ...HANDED_ON, faults: 1, kinds: ['expire'] },
    accusation: /outlives its session/,
  },
  {
    bug: 'keeps the place of a caller who has given up',
    task: { scenario: 'mutex that is handed on, of the impatient', ...HANDED_ON, clients: 1 },
    accusation: /does not get on/,
  },
  {
    bug: 'leads again without a look at its node',
    task: { scenario: 'leader latch', ...TWICE, kinds: ['cut', 'take'] },
    accusation: /leads on a node that was gone/,
  },
  {
    bug: 'gives up what it holds with the first of its leases',
    task: { scenario: 'leader latch with work', ...TWO },
    accusation: /is notified twice that it leads/,
  },
  {
    bug: 'adds again when the answer was lost',
    task: { scenario: 'atomic number', ...DISTURBED, kinds: ['cut'] },
    accusation: /is made twice/,
  },
  {
    bug: 'sets a number that it has not seen',
    task: { scenario: 'shared count', ...TWO },
    accusation: /no client has made 2 of 1/,
  },
  {
    bug: 'waits on a barrier without a sync',
    task: { scenario: 'barrier', ...DISTURBED, kinds: ['lose the leader'] },
    accusation: /passes a barrier that is set/,
  },
  {
    bug: 'sees only the first member of an open barrier',
    task: { scenario: 'double barrier', ...TWO },
    accusation: /ends although another one has not/,
    most: 18, // both have to enter before
  },
];

/** Faults with which it is tested whether the reduction leaves out what a client can see, of a mutex of two clients. */
export const COMPARED: Readonly<Record<'short' | 'long', readonly (readonly Fault[])[]>> = {
  short: [['cut'], ['kill'], ['expire']],
  long: [
    ['cut', 'deafen'],
    ['cut', 'lose the leader'],
    ['silence'],
    ['freeze'],
    ['throttle'],
    ['take'],
    ['shorten'],
    ['delay'],
  ],
};
