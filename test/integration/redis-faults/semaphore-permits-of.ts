import type { Redis } from 'ioredis';

/** Permits of one semaphore as the server has them. */
export interface ServerPermits {
  /** How many are free. */
  readonly free: number;
  /** How many are taken, those included that have expired and that no client has fetched yet. */
  readonly taken: number;
  /** When the last of those comes back by itself, in ms since 1970. */
  readonly end: number;
}

/** What the server knows of the permits of that semaphore, all at one time. */
export async function permitsOf(redis: Redis, key: string): Promise<ServerPermits> {
  const timeouts = `{${key}}:timeout`;
  const transaction = redis
    .multi()
    .get(key)
    .zcard(timeouts)
    .zrange(timeouts, '-1', '-1', 'WITHSCORES');
  const [[, free], [, taken], [, last]] = (await transaction.exec()) as [
    [null, string | null],
    [null, number],
    [null, string[]],
  ];
  return { free: Number(free), taken, end: Number(last[1] ?? 0) };
}
