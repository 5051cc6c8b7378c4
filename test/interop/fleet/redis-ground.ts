import type { Peer } from '../support/peer.js';
import type { RedisDeployment } from '../support/redis-deployment.js';
import { redisNames } from '../support/redis-names.js';
import { startRedisNodePeer } from '../support/start-redis-node-peer.js';
import { startRedissonPeer } from '../support/start-redisson-peer.js';
import type { Ground } from './ground.js';
import type { Recipe } from './recipe.js';
import { FOR_LATE_COPIES } from '../../support/kept-keys.js';

const WATCHDOG_TIMEOUT = 10_000;

/** A Redis, shared with Redisson. */
export class RedisGround implements Ground {
  private name = '';
  private permits?: number;

  constructor(private readonly deployment: RedisDeployment) {}

  startPeer(language: 'node' | 'java'): Promise<Peer> {
    const { urls } = this.deployment;
    const start = language === 'node' ? startRedisNodePeer : startRedissonPeer;
    return start(urls, { watchdogTimeout: WATCHDOG_TIMEOUT });
  }

  async prepare({ permits }: Recipe, run: number): Promise<string> {
    this.name = `fleet:${run}`;
    this.permits = permits;
    if (permits !== undefined) await this.command('SET', this.name, permits);
    return this.name;
  }

  async holdsOf(peer: Peer, path: string): Promise<() => Promise<boolean>> {
    const [client] = (await this.holderIn(peer)).split(':');
    const server = await this.deployment.masterOf(path);
    const fields = (await server.command('HKEYS', path)) as string[];
    const held = fields.filter((field) => field.startsWith(`${client}:`));
    if (held.length === 0) throw new Error(`Nothing of ${path} is held there.`);
    return async () => {
      const left = await Promise.all(held.map((field) => server.command('HEXISTS', path, field)));
      return left.every((count) => count === 0);
    };
  }

  /** Fencing tokens and semaphores are kept for good, as is the latch of the round in which the first worker went to rest. */
  async clear(): Promise<void> {
    await this.command('DEL', redisNames(this.name).token);
    for (const latch of ['even', 'odd']) await this.command('DEL', `${this.name}:${latch}`);
    const { permits } = this;
    if (permits !== undefined && (await this.command('GET', this.name)) === String(permits))
      await this.command('DEL', this.name);
  }

  /** All keys, and all channels with subscribers. */
  async traces(): Promise<string> {
    const traces = await Promise.all(
      (await this.deployment.masters()).flatMap((server) => [
        server.command('KEYS', '*'),
        server.command('PUBSUB', 'CHANNELS', '*'),
        server.command('PUBSUB', 'SHARDCHANNELS', '*'),
      ]),
    );
    return (traces.flat() as string[])
      .filter((name) => !FOR_LATE_COPIES.test(name))
      .sort()
      .join('\n');
  }

  async close(): Promise<void> {}

  private async command(command: string, key: string, ...args: (string | number)[]) {
    const server = await this.deployment.masterOf(key);
    return server.command(command, key, ...args);
  }

  private async holderIn(peer: Peer): Promise<string> {
    const [actor, lock] = [peer.redisActor(), 'lock:who'];
    await actor.acquire(lock);
    const holder = await actor.holder(lock);
    await actor.release(lock);
    return holder;
  }
}
