import { SwapRemoveSet } from '../../../lib/core/internal/swap-remove-set.js';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import type { RedisCluster } from '../../../lib/redis/connection/ioredis.js';
import { RedisConnection } from '../../../lib/redis/connection/redis-connection.js';

describe('The choice between PUBLISH and SPUBLISH in a cluster', () => {
  it('is for sharded channels where the servers have them', async () => {
    expect(await choice(async () => [])).toBe('spublish');
  });

  it('is against them where the servers are too old', async () => {
    const tooOld = replyError('ERR Unknown subcommand or wrong number of arguments');
    expect(await choice(() => Promise.reject(tooOld))).toBe('publish');
  });

  it.each([new Error('Connection is closed.'), replyError('NOPERM this user has no permissions')])(
    'is not made when it is unknown what the servers have: %s',
    async (error) => {
      await expect(choice(() => Promise.reject(error))).rejects.toBe(error);
    },
  );
});

function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

/** What a client chooses that hears this when it asks for sharded channels. */
async function choice(answer: () => Promise<unknown>): Promise<string> {
  const client = {
    isCluster: true,
    status: 'ready',
    call: async (command: string) => (command === 'pubsub' ? answer() : 'PONG'),
    on: () => undefined,
    off: () => undefined,
    nodes: () => [],
  };
  const connection = new RedisConnection({
    client: client as unknown as RedisCluster,
    shardedSubscriptionMode: 'auto',
    clock: systemClock,
    onStateChange: () => {},
  });
  const wait = new WaitScope({ clock: systemClock, open: new SwapRemoveSet() }, {});
  await connection.connect(wait, 'test').finally(() => wait.end());
  return connection.publishCommand;
}
