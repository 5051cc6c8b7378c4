import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';
import { startRedisNodePeer } from './support/start-redis-node-peer.js';
import { startRedissonPeer } from './support/start-redisson-peer.js';

/** In ms. */
const SHORT = 1_000;
const LONG = 3_600_000;

describeWithRedisson('A read/write lock', (stage) => {
  const locks = () => ({ read: `read:${stage.name}`, write: `write:${stage.name}` });
  const channel = () => stage.names.readWriteChannel;

  redisExclusionSuite(stage, { kind: 'write', channel });

  it('is read by all at the same time, and not written meanwhile', async () => {
    const { read, write } = locks();
    const readers = stage.owners(4);
    for (const reader of readers) expect(await reader.tryAcquire(read)).toBe(true);
    for (const reader of readers) {
      for (const writer of stage.owners(2)) expect(await writer.tryAcquire(write)).toBe(false);
      await reader.release(read);
    }
    expect(await stage.one.redisActor().tryAcquire(write)).toBe(true);
    expect(await stage.one.redisActor().tryAcquire(read)).toBe(false);
    expect(await stage.other.redisActor().tryAcquire(read)).toBe(false);
  });

  it.each(stage.ways)('wakes a writer when its last reader releases while $title', async (way) => {
    const { read, write } = locks();
    const [near, far] = [way.first().redisActor(), way.second().redisActor()];
    await near.acquire(read, { lease: LONG });
    await far.acquire(read, { lease: LONG });
    const log = await stage.log();
    const written = way.second().redisActor().acquire(write);
    await stage.asleep(way.second(), channel(), log);
    await far.release(read);
    await near.release(read);
    expect(await written).toBe(true);
  });

  it.each(stage.ways)(
    'wakes all readers of both when its writer releases while $title',
    async (way) => {
      const { read, write } = locks();
      const writer = way.first().redisActor();
      await writer.acquire(write, { lease: LONG });
      const log = await stage.log();
      const readers = stage.owners(6).map((reader) => reader.acquire(read, { lease: LONG }));
      for (const peer of [stage.one, stage.other]) await stage.asleep(peer, channel(), log, 3);
      await writer.release(write);
      expect(await Promise.all(readers)).toEqual(Array(6).fill(true));
    },
  );

  it.each(stage.ways)(
    'is read by others after a downgrade, but not written, where $title',
    async (way) => {
      const { read, write } = locks();
      const [holder, another] = [way.first().redisActor(), way.second().redisActor()];
      await holder.acquire(write, { lease: LONG });
      await holder.acquire(read, { lease: LONG });
      expect(await another.tryAcquire(read)).toBe(false);
      await holder.release(write);
      expect(await another.tryAcquire(read)).toBe(true);
      await another.release(read);
      expect(await another.tryAcquire(write)).toBe(false);
      await holder.release(read);
      expect(await another.tryAcquire(write)).toBe(true);
    },
  );

  it('wakes a reader in Java when a writer in Node becomes a reader', async () => {
    const { read, write } = locks();
    const [node, java] = [stage.one.redisActor(), stage.other.redisActor()];
    await node.acquire(write, { lease: LONG });
    await node.acquire(read, { lease: LONG });
    const log = await stage.log();
    const granted = java.acquire(read, { lease: LONG });
    await stage.asleep(stage.other, channel(), log);
    await node.release(write);
    expect(await granted).toBe(true);
  });

  const dying = [
    { title: 'Node', start: startRedisNodePeer, survivor: () => stage.other },
    { title: 'Java', start: startRedissonPeer, survivor: () => stage.one },
  ];

  it.each(dying)('is not kept by a dead reader in $title', async ({ start, survivor }) => {
    const { read, write } = locks();
    const reader = survivor().redisActor();
    await reader.acquire(read);
    const peer = await start(stage.deployment.urls, { watchdogTimeout: SHORT });
    try {
      await peer.redisActor().acquire(read);
      expect(await stage.keys()).toHaveLength(3);
    } finally {
      await peer.stop();
    }
    await eventually('its hold has ended', async () => (await stage.keys()).length === 2);
    await reader.release(read);
    for (const writer of stage.owners(2)) {
      expect(await writer.tryAcquire(write)).toBe(true);
      await writer.release(write);
    }
  });
});
