import { describe, expect, it } from '@jest/globals';
import { describeWithRedisson } from './support/describe-with-redisson.js';

const HOLDER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/;
/** In ms. */
const LEASE = 60_000;

describeWithRedisson('What stands for a lock', (stage) => {
  const peers = [
    // A '0' after the '1' of a writer wakes a Redisson thread that is about to sleep.
    { language: 'Node', peer: () => stage.one, toldByWriter: ['1', '0'] },
    { language: 'Java', peer: () => stage.other, toldByWriter: ['1'] },
  ];

  /** Holders and the hold count of each, which is all that Redisson reads except the mode. */
  const holds = async () => {
    const fields = Object.entries(await stage.pairs('HGETALL', stage.name));
    return fields.filter(([, value]) => /^\d+$/.test(value));
  };

  describe.each(peers)('held by $language', ({ peer, toldByWriter }) => {
    it('is a hash of the holder and its holds, for as long as the lease', async () => {
      const actor = peer().redisActor();
      const lock = `lock:${stage.name}`;
      await actor.acquire(lock, { lease: LEASE });
      expect(await stage.keys()).toEqual([stage.name]);
      expect(await holds()).toEqual([[expect.stringMatching(HOLDER), '1']]);
      await expectAbout(stage.command('PTTL', stage.name), LEASE);

      const log = await stage.log();
      await actor.release(lock);
      expect(await log.published(stage.name)).toEqual([
        `${stage.publish} ${stage.names.channel} 0`,
      ]);
      await stage.emptyBut([]);
    });

    it('lasts 30 s at a time where it is renewed', async () => {
      await peer().redisActor().acquire(`lock:${stage.name}`);
      await expectAbout(stage.command('PTTL', stage.name), 30_000);
    });

    it('is a hash and a number that grows where it is fenced', async () => {
      const actor = peer().redisActor();
      const lock = `fenced:${stage.name}`;
      for (const token of ['1', '2']) {
        await actor.acquire(lock);
        expect(await stage.command('GET', stage.names.token)).toBe(token);
        expect(await actor.token(lock)).toBe(Number(token));
        await actor.release(lock);
      }
      await stage.emptyBut([stage.names.token]);
      expect(await stage.command('PTTL', stage.names.token)).toBe(-1);
    });

    it('is a hash with a queue and its deadlines where it is fair', async () => {
      const lock = `fair:${stage.name}`;
      const [holder, waiter] = [peer().redisActor(), peer().redisActor()];
      await holder.acquire(lock, { lease: LEASE });
      expect(await stage.keys()).toEqual([stage.name]);
      const granted = waiter.acquire(lock, { lease: LEASE });
      await stage.queued(1);
      const [queued] = (await stage.command('LRANGE', stage.names.queue, 0, -1)) as string[];
      expect(queued).toMatch(HOLDER);
      expect(await holds()).not.toContainEqual([queued, '1']);
      expect(await stage.pairs('ZRANGE', stage.names.timeouts, 0, -1, 'WITHSCORES')).toEqual({
        [queued!]: expect.stringMatching(/^\d+$/),
      });

      const log = await stage.log();
      await holder.release(lock);
      await granted;
      expect(await log.published(stage.name)).toEqual([
        `${stage.publish} ${stage.names.waiterChannel(queued!)} 0`,
      ]);
      expect(await holds()).toEqual([[queued, '1']]);
      await waiter.release(lock);
      await stage.emptyBut([]);
    });

    it('is a hash with its mode, and a key of each hold, where it is read', async () => {
      const actor = peer().redisActor();
      const lock = `read:${stage.name}`;
      await actor.acquire(lock, { lease: LEASE });
      expect(await stage.command('HGET', stage.name, 'mode')).toBe('read');
      expect(await holds()).toEqual([[expect.stringMatching(HOLDER), '1']]);
      const [[holder]] = (await holds()) as [[string, string]];
      const key = stage.names.readHold(holder, 1);
      expect(await stage.keys()).toEqual([stage.name, key].sort());
      await expectAbout(stage.command('PTTL', stage.name), LEASE);
      await expectAbout(stage.command('PTTL', key), LEASE);

      const log = await stage.log();
      await actor.release(lock);
      expect(await log.published(stage.name)).toEqual([
        `${stage.publish} ${stage.names.readWriteChannel} 0`,
      ]);
      await stage.emptyBut([]);
    });

    it('is a hash with its mode where it is written', async () => {
      const actor = peer().redisActor();
      const lock = `write:${stage.name}`;
      await actor.acquire(lock, { lease: LEASE });
      expect(await stage.command('HGET', stage.name, 'mode')).toBe('write');
      const [[field, count], ...others] = (await holds()) as [[string, string]];
      expect(field.replace(/:write$/, '')).toMatch(HOLDER);
      expect(field).toMatch(/:write$/);
      expect(count).toBe('1');
      expect(others).toEqual([]);
      await expectAbout(stage.command('PTTL', stage.name), LEASE);

      const log = await stage.log();
      await actor.release(lock);
      const told = (message: string) =>
        `${stage.publish} ${stage.names.readWriteChannel} ${message}`;
      expect(await log.published(stage.name)).toEqual(toldByWriter.map(told));
      await stage.emptyBut([]);
    });
  });
});

/** In ms; it has decreased since then. */
async function expectAbout(remaining: Promise<unknown>, lease: number): Promise<void> {
  const left = Number(await remaining);
  expect(left).toBeLessThanOrEqual(lease);
  expect(left).toBeGreaterThan(lease - 5_000);
}
