import { never } from './client-state.js';
import type { NodeRedisServer } from './node-redis.js';
import { NodeRedisNode } from './node-redis-node.js';

/**
 * Sends one command on a connection of its own.
 *
 * Rejects when there is no answer within `ms` milliseconds, and when the signal aborts.
 */
export async function askServer(
  server: NodeRedisServer,
  ms: number,
  signal: AbortSignal,
  ...command: [string, ...string[]]
): Promise<unknown> {
  signal.throwIfAborted();
  const node = new NodeRedisNode(server, ms, never);
  const stop = () => node.disconnect();
  signal.addEventListener('abort', stop);
  try {
    return await inTime(node.call(...command), ms);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** The answer, if it comes within `ms` milliseconds. */
export async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  answer.catch(() => {}); // it may be late
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
