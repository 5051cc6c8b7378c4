import { expect } from '@jest/globals';
import type { Lock, LockClient } from '../../../lib/index.js';
import type { Room } from './room.js';

/**
 * Expects that `call`, which stays in `room`, holds the lock for as long: a contender that queues meanwhile is granted it
 * only after the room was left. Returns what the call gives.
 *
 * @param lock what the contender asks for, which excludes the lock of the call; a text means a mutex
 */
export async function expectHeld<T>(
  client: LockClient,
  lock: Lock | string,
  room: Room,
  call: () => PromiseLike<T> | T,
): Promise<T> {
  const rival = typeof lock === 'string' ? client.mutex(lock) : lock;
  const running = (async () => call())();
  const tooEarly = (end: unknown) => {
    if (end !== undefined) room.entered.reject(new Error('The call ended outside of the room'));
  };
  running.then(tooEarly, room.entered.reject);
  await room.entered.promise;

  const queued = new Promise<void>((resolve) => {
    const stop = client.on('contended', (event) => {
      if (event.key !== rival.key) return;
      stop();
      resolve();
    });
  });
  const contender = rival.using(() => void room.log.push('contender'));
  await Promise.race([queued, contender]);
  room.open();
  const [result] = await Promise.all([running, contender]);
  expect(room.log).toEqual(['left', 'contender']);
  return result;
}
