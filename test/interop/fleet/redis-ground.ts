import type { Peer } from '../support/peer.js';
import type { RedisDeployment } from '../support/redis-deployment.js';
import { redisNames } from '../support/redis-names.js';
import { startRedisNodePeer } from '../support/start-redis-node-peer.js';
import { startRedissonPeer } from '../support/start-redisson-peer.js';
import type { Ground } from './ground.js';
import type { Recipe } from './recipe.js';

/** A Redis, shared with Redisson. */
export class RedisGround implements Ground {
  private name = '';

  constructor(private readonly deployment: RedisDeployment) {}

  startPeer(language: 'node' | 'java'): Promise<Peer> {
    const { urls } = this.deployment;
    return language === 'node' ? startRedisNodePeer(urls) : startRedissonPeer(urls);
  }

  async prepare(_recipe: Recipe, run: number): Promise<string> {
    return (this.name = `fleet:${run}`);
  }

  /** Fencing tokens are kept for good. */
  async clear(): Promise<void> {
    const server = await this.deployment.masterOf(this.name);
    await server.command('DEL', redisNames(this.name).token);
  }

  /** All keys, and all channels that somebody listens to. */
  async traces(): Promise<string> {
    const traces = await Promise.all(
      (await this.deployment.masters()).flatMap((server) => [
        server.command('KEYS', '*'),
        server.command('PUBSUB', 'CHANNELS', '*'),
        server.command('PUBSUB', 'SHARDCHANNELS', '*'),
      ]),
    );
    return traces.flat().sort().join('\n');
  }

  async close(): Promise<void> {}
}
