import { describe, expect, it } from '@jest/globals';
import {
  createLockClient,
  type LockClientOptions,
  type LockLostError,
} from '../../lib/standalone/index.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';

const redis = useRedis();
const zookeeper = useZooKeeper();

/** Runs nothing for `ms`; returns how long that was. */
function block(ms: number): number {
  const before = performance.now();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  return performance.now() - before;
}

describe('A lock whose process has blocked its event loop', () => {
  it.each<[string, number, () => LockClientOptions]>([
    ['Redis', 3_000, () => ({ backend: 'redis', connect: redis().url, watchdogTimeout: 1_000 })],
    [
      'ZooKeeper',
      5_000,
      () => ({ backend: 'zookeeper', connect: zookeeper().connectString, sessionTimeout: 4_000 }),
    ],
  ])('on %s says for how long, when it is lost', async (_, ms, options) => {
    await using client = await createLockClient(options());
    const told = new Promise<LockLostError>((resolve) =>
      client.on('lost', ({ error }) => resolve(error)),
    );
    const lease = await client.mutex('blocked').acquire();
    const blocked = block(ms);
    expect(lease.isHeld).toBe(false);
    const error = lease.signal.reason as LockLostError;
    expect(error.stall!.ms).toBeGreaterThan(blocked - 260);
    expect(error.stall!.ms).toBeLessThan(blocked + 1_000);
    expect(error.stall!.agoMs).toBeLessThan(1_000);
    expect(error.confirmedAgoMs).toBeGreaterThan(blocked);
    expect(error.confirmedAgoMs).toBeLessThan(blocked + 2_000);
    expect(error.message).toMatch(
      /\(the event loop of this process was blocked for \d\.\d s, until \d\.\d s before; the servers confirmed it last \d\.\d s before\)/,
    );
    expect((await told).stall).toEqual(error.stall);
  });
});
