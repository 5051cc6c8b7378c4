const SHORTEST = 20;
const LONGEST = 1_000;

/**
 * How long to wait before attempt number `failures`, in ms: nothing in the first round over the servers (a negative
 * number), then from 20 ms up to 1 s, with half of it random so that clients of one failed server come one by one.
 */
export function reconnectDelay(failures: number, random: () => number): number {
  if (failures < 0) return 0;
  return Math.min(LONGEST, SHORTEST * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
}
