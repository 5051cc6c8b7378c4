import type { Task } from './tasks.js';

/** What is explored in full. */
export interface Explored {
  readonly task: Task;
  /** How many runs there are, no two of which differ only in the order of independent steps. */
  readonly runs: number;
  /** In how many ways they end. */
  readonly outcomes: number;
  /** Whether it takes more than some seconds. */
  readonly isLong?: boolean;
}

const TWO = { clients: 2, faults: 0 } as const;
const THREE = { clients: 3, faults: 0 } as const;
const DISTURBED = { clients: 2, faults: 1 } as const;
const PARTLY = { ...DISTURBED, kinds: ['cut', 'throttle', 'take'] } as const;

export const EXPLORED: readonly Explored[] = [
  { task: { scenario: 'mutex', ...TWO }, runs: 14, outcomes: 2 },
  { task: { scenario: 'first mutex', ...TWO }, runs: 222, outcomes: 2 },
  { task: { scenario: 'mutex of the impatient', ...TWO }, runs: 73, outcomes: 4 },
  { task: { scenario: 'mutex of those who try', ...TWO }, runs: 17, outcomes: 3 },
  { task: { scenario: 'read/write lock', ...TWO }, runs: 14, outcomes: 2 },
  { task: { scenario: 'reader inside of a writer', ...TWO }, runs: 40, outcomes: 3 },
  { task: { scenario: 'reader inside of a writer, ahead of it', ...TWO }, runs: 40, outcomes: 3 },
  { task: { scenario: 'semaphore mutex', ...TWO }, runs: 224, outcomes: 2 },
  { task: { scenario: 'multi-lock', ...TWO }, runs: 42, outcomes: 4 },
  { task: { scenario: 'mutex', ...DISTURBED, kinds: ['cut', 'throttle'] }, runs: 394, outcomes: 2 },
  { task: { scenario: 'semaphore', ...TWO }, runs: 728, outcomes: 2, isLong: true },
  { task: { scenario: 'mutex', ...THREE }, runs: 672, outcomes: 6, isLong: true },
  {
    task: { scenario: 'mutex of those who try', ...THREE },
    runs: 1448,
    outcomes: 15,
    isLong: true,
  },
  { task: { scenario: 'read/write lock', ...THREE }, runs: 720, outcomes: 6, isLong: true },
  { task: { scenario: 'mutex', ...DISTURBED }, runs: 10_902, outcomes: 32, isLong: true },
  {
    task: { scenario: 'mutex of those who try', ...DISTURBED },
    runs: 9_384,
    outcomes: 36,
    isLong: true,
  },
  { task: { scenario: 'read/write lock', ...DISTURBED }, runs: 11_264, outcomes: 32, isLong: true },
  {
    task: { scenario: 'mutex of the impatient', ...PARTLY },
    runs: 4_812,
    outcomes: 16,
    isLong: true,
  },
  { task: { scenario: 'multi-lock', ...PARTLY }, runs: 2_859, outcomes: 26, isLong: true },
  {
    task: { scenario: 'reader inside of a writer', ...PARTLY },
    runs: 12_729,
    outcomes: 68,
    isLong: true,
  },
  {
    task: { scenario: 'reader inside of a writer, ahead of it', ...PARTLY },
    runs: 12_729,
    outcomes: 68,
    isLong: true,
  },
];

export function titleOf({ scenario, clients, faults, kinds }: Task): string {
  const counts = [count(clients, 'client'), count(faults, 'fault')].join(', ');
  return `${scenario}, ${counts}${kinds ? ` (${kinds.join()})` : ''}`;
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
