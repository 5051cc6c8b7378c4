import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/time.js';
import { redisNames } from './support/redis-deployment.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';
import { describeWithRedisson, type Guest } from './support/redis-stage.js';
import { startRedissonPeer } from './support/start-peers.js';

const ANOTHER_JAVA: Guest = { title: 'another Java', start: (urls) => startRedissonPeer(urls) };

// What Redisson does among its own clients: the basis of the tests with Node. It changes with Redisson's releases only.
describeWithRedisson(ANOTHER_JAVA, (stage) => {
  describe('among clients of Redisson,', () => {
    redisExclusionSuite(stage, stage.ways.slice(0, 1)); // either one is Java
  });

  describe('what Redisson does:', () => {
    const scores = () => stage.pairs('ZRANGE', stage.names.timeouts, 0, -1, 'WITHSCORES');
    const queue = () => stage.command('LRANGE', stage.names.queue, 0, -1) as Promise<string[]>;

    it('counts the holds of one thread on the server, and publishes the last release', async () => {
      const lock = `lock:${stage.name}`;
      const actor = stage.other.redisActor();
      const log = await stage.log();
      for (let n = 0; n < 3; n++) await actor.acquire(lock);
      const holder = await actor.holder(lock);
      expect(await stage.pairs('HGETALL', stage.name)).toEqual({ [holder]: '3' });
      expect(await actor.holdCount(lock)).toBe(3);
      await actor.release(lock);
      await actor.release(lock);
      expect(await log.published(stage.name)).toEqual([]);
      await actor.release(lock);
      expect(await log.published(stage.name)).toHaveLength(1);
    });

    it('keeps the tag of a name that has one', async () => {
      const name = `a:{${stage.name}}:b`;
      const names = redisNames(name);
      const [holder, waiter] = [stage.one.redisActor(), stage.other.redisActor()];
      await holder.acquire(`lock:${name}`);
      const log = await stage.log();
      const granted = waiter.acquire(`lock:${name}`);
      await stage.asleep(stage.other, names.channel, log);
      await holder.release(`lock:${name}`);
      expect(await granted).toBe(true);
      expect(names.channel).toBe(`redisson_lock__channel:${name}`);
    });

    it('rejects the release of a lock that the thread does not hold', async () => {
      await stage.one.redisActor().acquire(`lock:${stage.name}`);
      const stranger = stage.other.redisActor();
      await expect(stranger.release(`lock:${stage.name}`)).rejects.toThrow(/IllegalMonitorState/);
    });

    it('wakes waiters when another client forces the lock open', async () => {
      const lock = `lock:${stage.name}`;
      const [holder, waiter] = [stage.one.redisActor(), stage.other.redisActor()];
      await holder.acquire(lock);
      const log = await stage.log();
      const granted = waiter.acquire(lock);
      await stage.asleep(stage.other, stage.names.channel, log);
      expect(await stage.other.redisActor().forceUnlock(lock)).toBe(true);
      expect(await granted).toBe(true);
      expect(await holder.isHeld(lock)).toBe(false);
    });

    it('numbers the holds of a fenced lock, the nested ones as well', async () => {
      const lock = `fenced:${stage.name}`;
      const actor = stage.other.redisActor();
      await actor.acquire(lock);
      await actor.acquire(lock);
      expect(await actor.token(lock)).toBe(2);
    });

    it("adds the waits of those ahead to the deadline of a fair lock's waiter, and subtracts them again", async () => {
      const lock = `fair:${stage.name}`;
      const [holder, first, second, third] = [1, 2, 3, 4].map(() => stage.other.redisActor());
      await holder!.acquire(lock, { lease: 60_000 });
      const granted = first!.acquire(lock, { wait: 40_000 });
      await stage.queued(1);
      const [head] = await queue();
      const expected = Date.now() + Number(await stage.command('PTTL', stage.name)) + 40_000;
      const score = Number((await scores())[head!]);
      expect(Math.abs(score - expected)).toBeLessThan(5_000);

      const timedOut = second!.acquire(lock, { wait: 1_000 });
      await stage.queued(2);
      const grantedLast = third!.acquire(lock);
      await stage.queued(3);
      const [, middle, last] = await queue();
      expect(await scores()).toEqual({
        [head!]: String(score),
        [middle!]: String(score + 1_000),
        [last!]: String(score + 1_000 + 300_000),
      });

      expect(await timedOut).toBe(false);
      expect(await queue()).toEqual([head, last]);
      expect(await scores()).toEqual({ [head!]: String(score), [last!]: String(score + 300_000) });

      await holder!.release(lock);
      expect(await granted).toBe(true);
      expect(await queue()).toEqual([last]);
      expect(await scores()).toEqual({ [last!]: String(score - 40_000 + 300_000) });
      await first!.release(lock);
      expect(await grantedLast).toBe(true);
    });

    it('does not queue for a single attempt at a fair lock', async () => {
      const lock = `fair:${stage.name}`;
      await stage.one.redisActor().acquire(lock);
      expect(await stage.other.redisActor().tryAcquire(lock)).toBe(false);
      expect(await stage.keys()).toEqual([stage.name]);
    });

    it('reads what it writes, and does not notify other readers when only its read hold is left', async () => {
      const [read, write] = [`read:${stage.name}`, `write:${stage.name}`];
      const actor = stage.other.redisActor();
      await actor.acquire(write, { lease: 60_000 });
      await actor.acquire(read, { lease: 60_000 });
      const holder = await actor.holder(write);
      expect(await stage.pairs('HGETALL', stage.name)).toEqual({
        mode: 'write',
        [holder]: '1',
        [`${holder}:write`]: '1',
      });
      const log = await stage.log();
      await actor.release(write);
      expect(await log.published(stage.name)).toEqual([]);
      expect(await stage.pairs('HGETALL', stage.name)).toEqual({ mode: 'read', [holder]: '1' });
    });

    it('adds up the leases of nested writes', async () => {
      const actor = stage.other.redisActor();
      const write = `write:${stage.name}`;
      await actor.acquire(write, { lease: 60_000 });
      await actor.acquire(write, { lease: 60_000 });
      expect(await actor.remaining(write)).toBeGreaterThan(100_000);
    });

    it('keeps one key for each hold of a reader', async () => {
      const actor = stage.other.redisActor();
      const read = `read:${stage.name}`;
      await actor.acquire(read);
      await actor.acquire(read);
      const holder = await actor.holder(read);
      const { readHold } = stage.names;
      expect(await stage.keys()).toEqual(
        [stage.name, readHold(holder, 1), readHold(holder, 2)].sort(),
      );
      await actor.release(read);
      expect(await stage.keys()).toEqual([stage.name, readHold(holder, 1)].sort());
    });

    it('lets a writer pass a plain lock of that name', async () => {
      await stage.one.redisActor().acquire(`lock:${stage.name}`);
      expect(await stage.other.redisActor().tryAcquire(`write:${stage.name}`)).toBe(true);
    });

    it('publishes nothing for a spin lock', async () => {
      const actor = stage.other.redisActor();
      const log = await stage.log();
      await actor.acquire(`spin:${stage.name}`);
      expect(Object.values(await stage.pairs('HGETALL', stage.name))).toEqual(['1']);
      await actor.release(`spin:${stage.name}`);
      expect(await log.published(stage.name)).toEqual([]);
    });

    it('accepts the release of an expired fair lock as if it were held', async () => {
      const lock = `fair:${stage.name}`;
      const actor = stage.other.redisActor();
      await actor.acquire(lock, { lease: 60_000 });
      await stage.command('DEL', stage.name);
      await actor.release(lock);
      await actor.acquire(`lock:${stage.name}`, { lease: 60_000 });
      await stage.command('DEL', stage.name);
      await expect(actor.release(`lock:${stage.name}`)).rejects.toThrow(/IllegalMonitorState/);
    });

    it('renews at a third of the watchdog timeout', async () => {
      const peer = await startRedissonPeer(stage.deployment.urls, { watchdogTimeout: 3_000 });
      try {
        await peer.redisActor().acquire(`lock:${stage.name}`);
        const left = async () => Number(await stage.command('PTTL', stage.name));
        await eventually('a part of the lease is over', async () => (await left()) < 2_500);
        await eventually('it was renewed', async () => (await left()) > 2_500);
      } finally {
        await peer.stop();
      }
    });
  });
});
