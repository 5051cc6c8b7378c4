import { describe, expect, it } from '@jest/globals';
import { lockAcquire } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/eventually.js';
import { eventsOf } from './events-of.js';
import type { RedisStageClient } from './redis-stage-client.js';
import type { RedisStage } from './redis-stage.js';

/** What is true of plain mutexes of one client that one script can take. */
export function redisMultiLockScriptSuite(stage: () => RedisStage): void {
  const keyOf = (part: string) => `{${stage().key}}-${part}`;
  const multiOf = ({ locks }: RedisStageClient, ...parts: string[]) =>
    locks.multiLock(parts.map((part) => locks.mutex(keyOf(part))));
  /** The keys of each script that the client sends meanwhile to take locks. */
  const takenBy = async (client: RedisStageClient, work: () => Promise<unknown>) => {
    const before = client.requests.length;
    await work();
    const sent = client.requests.slice(before);
    const taking = sent.filter(([, sha1]) => sha1 === lockAcquire.sha1);
    return taking.map(([, , count, ...args]) => args.slice(0, Number(count)));
  };

  it('are all taken by one script', async () => {
    const { mine } = stage();
    const multi = multiOf(mine, 'c', 'a', 'b');
    await multi.using(async () => {}); // the server has the script now
    const taken = await takenBy(mine, () => multi.using(async () => {}));
    expect(taken).toEqual([['a', 'b', 'c'].map(keyOf)]);
  });

  it('are not held by a waiter: others may take what is free meanwhile', async () => {
    const { mine, theirs } = stage();
    const held = await theirs.locks.mutex(keyOf('b')).acquire();
    const { lease } = await stage().queueFor(multiOf(mine, 'a', 'b', 'c'), mine);
    for (const part of ['a', 'c'])
      await using(theirs, part, async () =>
        expect(await stage().observer.exists(keyOf(part))).toBe(1),
      );
    await held.release();
    await (await lease).release();
  });

  it('are not asked for again when the caller holds them', async () => {
    const { mine } = stage();
    await mine.locks.mutex(keyOf('b')).using(async () => {
      const multi = multiOf(mine, 'a', 'b', 'c');
      await multi.using(async () => {}); // the server has the script now
      const taken = await takenBy(mine, () => multi.using(async () => {}));
      expect(taken).toEqual([['a', 'c'].map(keyOf)]);
      expect(await takenBy(mine, () => multiOf(mine, 'b').using(async () => {}))).toEqual([]);
    });
  });

  describe('events', () => {
    it('report each part', async () => {
      const { mine, theirs } = stage();
      const held = await theirs.locks.mutex(keyOf('b')).acquire();
      const heard = eventsOf(mine);
      const { lease } = await stage().queueFor(multiOf(mine, 'b', 'a'), mine);
      await held.release();
      await (await lease).release();
      expect(heard.filter(({ kind }) => kind === 'contended')).toEqual(about('contended'));
      expect(heard.filter(({ kind }) => kind === 'acquired')).toEqual(about('acquired'));
      expect(heard.filter(({ kind }) => kind === 'released')).toHaveLength(2);
      expect(heard).toHaveLength(6);
    });

    it('report the failure of each part', async () => {
      const { mine, theirs } = stage();
      await using _ = await theirs.locks.mutex(keyOf('b')).acquire();
      const heard = eventsOf(mine);
      await expect(multiOf(mine, 'b', 'a').acquire({ wait: 30 })).rejects.toThrow();
      expect(heard).toEqual([...about('contended'), ...about('failed')]);
    });

    it('report that one part is lost, and that the others are released', async () => {
      const { mine, theirs } = stage();
      const lease = await multiOf(mine, 'a', 'b').acquire();
      const heard = eventsOf(mine);
      await theirs.locks.mutex(keyOf('b')).forceUnlock();
      stage().makeSure(mine);
      await eventually('it is lost', () => !lease.isHeld);
      await lease.release();
      expect(heard.map(({ kind, key }) => [kind, key])).toEqual([
        ['lost', keyOf('b')],
        ['released', keyOf('a')],
      ]);
    });

    const about = (kind: string) =>
      ['a', 'b'].map((part) => expect.objectContaining({ kind, key: keyOf(part) }) as unknown);
  });

  it('have to be of one slot in a cluster; else they are taken one after the other', async () => {
    const { mine, key, observer } = stage();
    const apart = ['x', 'y', 'z'].map((part) => `${key}-${part}`); // of different slots
    const multi = mine.locks.multiLock(apart.map((part) => mine.locks.mutex(part)));
    await multi.using(async () => {}); // the servers have the scripts now
    const taken = await takenBy(mine, () => multi.using(async () => {}));
    expect(taken).toEqual(observer.isCluster ? apart.map((part) => [part]) : [apart]);
  });

  function using(client: RedisStageClient, part: string, work: () => Promise<void>): Promise<void> {
    return client.locks.mutex(keyOf(part)).using(work, { wait: 10_000 });
  }
}
