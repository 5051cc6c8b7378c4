import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

/** What is refused of a semaphore on ZooKeeper, for the sake of its znodes. */
export function semaphoreNodesOptionsSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it.each(['locks', 'leases'])('no other lock is had on %j below the path of one', (directory) => {
    const { mine, path } = stage();
    semaphores.of(mine, 1);
    expect(() => mine.locks.mutex(`${path}/${directory}`)).toThrow(LockKeyError);
    expect(() => mine.locks.mutex(`${path}/others`)).not.toThrow();
  });

  describe('data', () => {
    const MOST = 1_000_000;

    it('of a megabyte is written', async () => {
      const { mine, key } = stage();
      const semaphore = mine.locks.semaphore(key, { permits: 1, data: Buffer.alloc(MOST, 7) });
      await using lease = await semaphore.acquire();
      expect(lease.isHeld).toBe(true);
      const [node] = await semaphore.participants();
      expect((await stage().stranger.getData(node!)).data).toHaveLength(MOST);
    });

    it.each([
      ['bytes', Buffer.alloc(MOST + 1)],
      ['text, in UTF-8', 'ä'.repeat(MOST / 2 + 1)],
    ])('over a megabyte of %s is refused', (_, data) => {
      const { mine, key } = stage();
      expect(() => mine.locks.semaphore(key, { permits: 1, data })).toThrow(LockOptionsError);
      expect(() => mine.locks.semaphoreMutex(key, { data })).toThrow(LockOptionsError);
    });

    it.each([7, null, {}])('%p is refused', (data) => {
      const { mine, key } = stage();
      const make = () => mine.locks.semaphore(key, { permits: 1, data: data as unknown as string });
      expect(make).toThrow(LockOptionsError);
    });
  });
}
