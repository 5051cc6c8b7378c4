import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithRedisson } from './support/describe-with-redisson.js';
import { redisExclusionSuite } from './support/redis-exclusion.suite.js';

describeWithRedisson('A fenced lock', (stage) => {
  redisExclusionSuite(stage, {
    kind: 'fenced',
    channel: () => stage.names.channel,
    kept: () => [stage.names.token],
  });

  it('has tokens that grow from one holder to the next, whatever its language', async () => {
    const lock = `fenced:${stage.name}`;
    const tokens: number[] = [];
    for (const owner of stage.owners(6)) {
      await owner.acquire(lock);
      tokens.push(await owner.token(lock));
      await owner.release(lock);
    }
    expect(tokens).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each(stage.ways)(
    'has greater tokens for those that waited while $title, in the order of their grants',
    async ({ first }) => {
      const lock = `fenced:${stage.name}`;
      const holder = first().redisActor();
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
    const lock = `fenced:${stage.name}`;
    const [nesting, next] = [way.first().redisActor(), way.second().redisActor()];
    await nesting.acquire(lock);
    await nesting.acquire(lock);
    const token = await nesting.token(lock);
    await nesting.release(lock);
    await nesting.release(lock);
    await next.acquire(lock);
    expect(await next.token(lock)).toBeGreaterThan(token);
  });
});
