import type { Redis } from 'ioredis';
import { hostname } from 'node:os';
import { lockAcquire } from '../../../lib/redis/scripts/lock-acquire.js';
import { lockRelease } from '../../../lib/redis/scripts/lock-release.js';

const CLIENT = '6f1c2d9e-5a7b-4c1d-9e8f-0a1b2c3d4e5f';
const LEASE = 30_000;

/** The floor: our two scripts and nothing around them; whoever finds the lock taken is not told. */
export class BareLocks {
  #holders = 0;

  private constructor(private readonly client: Redis) {}

  static async on(client: Redis): Promise<BareLocks> {
    for (const { source } of [lockAcquire, lockRelease]) await client.script('LOAD', source);
    return new BareLocks(client);
  }

  readonly lockOn = (key: string) => {
    const channel = `redisson_lock__channel:{${key}}`;
    return async () => {
      const holder = `${CLIENT}:${++this.#holders}`;
      const about = JSON.stringify({ host: hostname(), pid: process.pid, since: Date.now() });
      await this.client.evalsha(lockAcquire.sha1, 1, key, LEASE, holder, about);
      return () => this.client.evalsha(lockRelease.sha1, 2, key, channel, holder, 'publish');
    };
  };
}
