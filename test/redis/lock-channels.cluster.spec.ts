import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { onRedis } from './on-redis.js';

/** Longer than any test: a client that is granted a lock before that was woken by a message. */
const LONG_LEASE = 600_000;

describe('The channels of locks on a Redis Cluster', () => {
  const stage = onRedis('cluster');

  it.each([
    ['auto', 'SPUBLISH'],
    ['on', 'SPUBLISH'],
    ['off', 'PUBLISH'],
  ] as const)('with shardedSubscriptionMode %s are woken by %s', async (mode, publish) => {
    const clients = [1, 2].map(() => stage().client({ shardedSubscriptionMode: mode }));
    const [first, second] = await Promise.all(clients);
    const keys = ['a', 'b', 'c', 'd'].map((each) => `${stage().key}-${each}`); // on all three masters
    const log = await stage().log();
    for (const key of [...keys, stage().key]) {
      const lease = await first!.mutex(key).acquire({ lease: LONG_LEASE });
      const { lease: waiting } = await stage().queue(second!, second!.mutex(key));
      await lease.release();
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
    }
    expect(await log.published(`{${stage().key}}`)).toEqual([
      ...[1, 2].map(() => `${publish} ${stage().names.channel} 0`),
    ]);
  });

  it('need one connection for messages to each master that they are on', async () => {
    const { mine, theirs, key } = stage();
    const keys = Array.from({ length: 12 }, (_, n) => `${key}-${n}`);
    const held = await Promise.all(keys.map((each) => mine.mutex(each).acquire()));
    const waiting = await Promise.all(
      keys.map((each) => stage().queue(theirs, theirs.mutex(each))),
    );
    await eventually('all are listened to', async () => {
      const channels = (await stage().commands('PUBSUB', 'SHARDCHANNELS')) as string[][];
      return channels.every(({ length }) => length > 0) && channels.flat().length === keys.length;
    });
    const lists = (await stage().commands('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string[];
    expect(lists.map((list) => list.trim().split('\n').length)).toEqual([1, 1, 1]);

    await Promise.all(held.map((lease) => lease.release()));
    const next = await Promise.all(waiting.map(({ lease }) => lease));
    await Promise.all(next.map((lease) => lease.release()));
  });
});
