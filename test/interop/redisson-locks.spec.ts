import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/time.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';
import { describeWithRedisson, type Guest, took } from './support/redis-stage.js';
import { startRedisNodePeer, startRedissonPeer } from './support/start-peers.js';

/** In ms. */
const LONG = 3_600_000;
const SHORT = 1_500;
const SOON = 3_000;

/** Its waiters ask the server every third of the watchdog timeout, so not before they receive a message. */
const PATIENT_NODE: Guest = {
  title: 'Node',
  start: (urls) => startRedisNodePeer(urls, { watchdogTimeout: LONG }),
};

describeWithRedisson(PATIENT_NODE, (stage) => {
  redisExclusionSuite(stage);

  describe('a lock', () => {
    const lockOf = () => `lock:${stage.name}`;

    it.each(stage.ways)('may have braces in its name while $title', async (way) => {
      const name = `{${stage.name}}:a`;
      const [holder, waiter] = way.redisActors();
      await holder.acquire(`lock:${name}`, { lease: LONG });
      expect(await waiter.tryAcquire(`lock:${name}`)).toBe(false);
      const log = await stage.log();
      const granted = waiter.acquire(`lock:${name}`);
      await stage.asleep(way.second(), `redisson_lock__channel:${name}`, log);
      await holder.release(`lock:${name}`);
      expect(await granted).toBe(true);
    });

    it.each(stage.ways)('goes to a waiter when it is forced open while $title', async (way) => {
      const [holder, waiter] = way.redisActors();
      await holder.acquire(lockOf(), { lease: LONG });
      const log = await stage.log();
      const granted = waiter.acquire(lockOf());
      await stage.asleep(way.second(), stage.names.channel, log);
      expect(await way.first().redisActor().forceUnlock(lockOf())).toBe(true);
      expect(await granted).toBe(true);
      expect(await holder.isHeld(lockOf())).toBe(false);
    });

    it.each(stage.ways)('is locked for the other side while $title', async (way) => {
      const [holder, another] = way.redisActors();
      await holder.acquire(lockOf(), { lease: LONG });
      expect(await another.isLocked(lockOf())).toBe(true);
      expect(await another.remaining(lockOf())).toBeGreaterThan(LONG - 60_000);
      await holder.release(lockOf());
      expect(await another.isLocked(lockOf())).toBe(false);
      expect(await another.remaining(lockOf())).toBe(-2);
    });
  });

  const renewing = [
    { title: 'Node', start: startRedisNodePeer, other: () => stage.other },
    { title: 'Java', start: startRedissonPeer, other: () => stage.one },
  ];

  it.each(renewing)(
    'locks of all kinds stay with $title, which renews them, and end with its process',
    async ({ start, other }) => {
      const another = stage.name.replace('lock', 'another');
      const multiLockOf = (nameOf: (part: string) => string) =>
        ['a', 'b', 'c'].map((part) => `lock:${nameOf(part)}`).join('+');
      const locks = [
        `lock:plain-${another}`,
        `spin:spin-${another}`,
        multiLockOf((part) => `{${another}}:${part}`),
        multiLockOf((part) => `${another}-${part}`),
      ];
      const [read, write] = [`read:${stage.name}`, `write:${stage.name}`];
      const holds = async () =>
        (await stage.keys()).filter((key) => key.includes('rwlock_timeout'));
      const reader = other().redisActor();
      const waiters = locks.map((lock) => ({ lock, actor: other().redisActor() }));
      const outcomes = async (wait: number | 'forever') =>
        Promise.all(waiters.map(({ lock, actor }) => actor.acquire(lock, { wait })));
      await reader.acquire(read, { lease: LONG });

      const peer = await start(stage.deployment.urls, { watchdogTimeout: SHORT });
      try {
        for (const lock of locks) await peer.redisActor().acquire(lock);
        expect(await outcomes(2 * SHORT)).toEqual([false, false, false, false]);
        await peer.redisActor().acquire(read); // last: Redisson's renewal shortens the leases of all readers to its own
        expect(await holds()).toHaveLength(2);
      } finally {
        await peer.stop();
      }
      expect(await outcomes('forever')).toEqual([true, true, true, true]);
      await eventually('its read has ended', async () => (await holds()).length === 1);
      await reader.release(read);
      for (const writer of stage.owners(2)) {
        expect(await writer.tryAcquire(write)).toBe(true);
        await writer.release(write);
      }
    },
  );

  describe('a fenced lock', () => {
    const lockOf = () => `fenced:${stage.name}`;

    it('has tokens that grow from one holder to the next, whatever its language', async () => {
      const tokens: number[] = [];
      for (const owner of stage.owners(6)) {
        await owner.acquire(lockOf());
        tokens.push(await owner.token(lockOf()));
        await owner.release(lockOf());
      }
      expect(tokens).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it.each(stage.ways)(
      'has greater tokens for those that waited while $title, in the order of their grants',
      async (way) => {
        const lock = lockOf();
        const [holder] = way.redisActors();
        await holder.acquire(lock);
        const tokens = [await holder.token(lock)];
        const log = await stage.log();
        const turns = stage.owners(6).map(async (owner) => {
          await owner.acquire(lock);
          tokens.push(await owner.token(lock)); // while it holds the lock: so in the order of the holds
          await owner.release(lock);
        });
        const waiting = () => log.hasAskedAfterSubscribing(stage.names.channel, stage.name);
        await eventually('some wait', waiting);
        await holder.release(lock);
        await Promise.all(turns);
        expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
        expect(new Set(tokens).size).toBe(7);
      },
    );

    it.each(stage.ways)('has a greater token after a nested hold where $title', async (way) => {
      const lock = lockOf();
      const [nesting, next] = way.redisActors();
      await nesting.acquire(lock);
      await nesting.acquire(lock);
      const token = await nesting.token(lock);
      await nesting.release(lock);
      await nesting.release(lock);
      await next.acquire(lock);
      expect(await next.token(lock)).toBeGreaterThan(token);
    });
  });

  describe('a fair lock', () => {
    const lockOf = () => `fair:${stage.name}`;

    it.each(stage.ways)('is granted in the order of arrival while $title', async (way) => {
      const lock = lockOf();
      const [first, second] = way.peers();
      const [holder] = way.redisActors();
      await holder.acquire(lock, { lease: LONG });
      const order: number[] = [];
      const served: Promise<void>[] = [];
      for (const [place, peer] of [second, first, second, second, first, first].entries()) {
        const waiter = peer.redisActor();
        const turn = async () => {
          if (await waiter.acquire(lock, { lease: LONG })) order.push(place);
          await waiter.release(lock);
        };
        served.push(turn());
        await stage.queued(place + 1);
      }
      await holder.release(lock);
      await Promise.all(served);
      expect(order).toEqual([0, 1, 2, 3, 4, 5]);
      await stage.emptyBut([]);
    });

    it.each(stage.ways)('is not acquired past a waiter while $title', async (way) => {
      const lock = lockOf();
      const [holder, waiter] = way.redisActors();
      await holder.acquire(lock, { lease: LONG });
      const granted = waiter.acquire(lock, { lease: LONG });
      await stage.queued(1);
      const grantedNext = holder.release(lock).then(() => holder.acquire(lock, { lease: LONG }));
      expect(await granted).toBe(true);
      await stage.queued(1);
      expect(await way.first().redisActor().tryAcquire(lock)).toBe(false);
      await waiter.release(lock);
      expect(await grantedNext).toBe(true);
    });

    it.each(stage.ways)('skips a waiter that gave up while $title', async (way) => {
      const lock = lockOf();
      const [[holder], [near, far]] = [way.redisActors(), way.redisActors()];
      await holder.acquire(lock, { lease: LONG });
      const gaveUp = way.second().redisActor().acquire(lock, { wait: 1_000 });
      await stage.queued(1);
      const grantedNear = near.acquire(lock, { lease: LONG });
      await stage.queued(2);
      const grantedFar = far.acquire(lock, { lease: LONG });
      await stage.queued(3);
      expect(await gaveUp).toBe(false);
      await stage.queued(2);
      await holder.release(lock);
      expect(await grantedNear).toBe(true);
      await near.release(lock);
      expect(await grantedFar).toBe(true);
    });

    it('skips a Java process that died in the queue, once its time is over', async () => {
      const lock = lockOf();
      const dying = await startRedissonPeer(stage.deployment.urls);
      const [node, java] = [stage.one.redisActor(), stage.other.redisActor()];
      await stage.one.redisActor().acquire(lock, { lease: 1_000 });
      const died = dying.redisActor().acquire(lock, { wait: 1_000 });
      await stage.queued(1);
      await Promise.all([dying.stop(), expect(died).rejects.toThrow('has ended')]);
      const granted = [node, java].map((actor) => actor.acquire(lock, { lease: LONG }));
      const first = await Promise.race(granted.map((it, n) => it.then(() => n)));
      await [node, java][first]!.release(lock);
      expect(await Promise.all(granted)).toEqual([true, true]);
    });

    it('skips a Node process that died in the queue, by means of another Node process', async () => {
      const lock = lockOf();
      const holder = stage.other.redisActor();
      await holder.acquire(lock, { lease: LONG });
      const options = { watchdogTimeout: 1_000 };
      const [dying, survivor] = await Promise.all(
        [1, 2].map(() => startRedisNodePeer(stage.deployment.urls, options)),
      );
      try {
        const died = dying!.redisActor().acquire(lock);
        await stage.queued(1);
        const java = stage.other.redisActor();
        const granted = java.acquire(lock, { lease: LONG });
        await stage.queued(2);
        const grantedLast = survivor!.redisActor().acquire(lock);
        await stage.queued(3);
        await Promise.all([dying!.stop(), expect(died).rejects.toThrow('has ended')]);
        await holder.release(lock); // notifies the dead one
        expect(await granted).toBe(true);
        await java.release(lock);
        expect(await grantedLast).toBe(true);
      } finally {
        await Promise.all([dying!.stop(), survivor!.stop()]);
      }
    });
  });

  describe('a spin lock', () => {
    const lockOf = () => `spin:${stage.name}`;

    it.each(stage.ways)('goes to one that polls, without a message, while $title', async (way) => {
      const lock = lockOf();
      const [holder, waiter] = way.redisActors();
      await holder.acquire(lock, { lease: LONG });
      const log = await stage.log();
      expect(await waiter.isLocked(lock)).toBe(true);
      const granted = waiter.acquire(lock, { lease: LONG });
      const asks = async () =>
        (await log.commands(stage.name)).filter((line) => /\] "evalsha" /i.test(line)).length > 3;
      await eventually('it has asked again', asks);
      await holder.release(lock);
      expect(await took(granted)).toBeLessThan(SOON);
      await waiter.release(lock);
      expect(await log.published(stage.name)).toEqual([]);
      expect((await log.commands(stage.name)).filter((it) => /subscribe"/i.test(it))).toEqual([]);
      await stage.emptyBut([]);
    });

    it.each(stage.ways)('excludes the plain lock with that name while $title', async (way) => {
      const [spin, plain] = [lockOf(), `lock:${stage.name}`];
      const [holder, another] = way.redisActors();
      await holder.acquire(spin, { lease: LONG });
      expect(await another.tryAcquire(plain)).toBe(false);
      await holder.release(spin);
      expect(await another.tryAcquire(plain)).toBe(true);
      expect(await holder.tryAcquire(spin)).toBe(false);
    });
  });
});
