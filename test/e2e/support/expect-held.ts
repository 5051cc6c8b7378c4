import { expect } from '@jest/globals';
import type { LockClient } from '../../../lib/index.js';
import type { Room } from './room.js';

/**
 * Expects that `call`, which stays in `room`, holds the lock for as long: a contender that queues meanwhile is granted it
 * only after the room was left. Returns what the call gives.
 */
export async function expectHeld<T>(
  client: LockClient,
  key: string,
  room: Room,
  call: () => PromiseLike<T> | T,
): Promise<T> {
  const running = (async () => call())();
  const tooEarly = (end: unknown) => {
    if (end !== undefined) room.entered.reject(new Error('The call ended outside of the room'));
  };
  running.then(tooEarly, room.entered.reject);
  await room.entered.promise;

  const queued = new Promise<void>((resolve) => {
    const stop = client.on('contended', (event) => {
      if (event.key !== key) return;
      stop();
      resolve();
    });
  });
  const contender = client.mutex(key).using(() => void room.log.push('contender'));
  await Promise.race([queued, contender]);
  room.open();
  const [result] = await Promise.all([running, contender]);
  expect(room.log).toEqual(['left', 'contender']);
  return result;
}
