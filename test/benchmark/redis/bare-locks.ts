import type { Redis } from 'ioredis';
import { hostname } from 'node:os';
import { lockAcquire } from '../../../lib/redis/scripts/lock-acquire.js';
import { lockRelease } from '../../../lib/redis/scripts/lock-release.js';
import { multiLockAcquire } from '../../../lib/redis/scripts/multi-lock-acquire.js';
import { multiLockRelease } from '../../../lib/redis/scripts/multi-lock-release.js';
import { partsOf } from './quantities.js';

const CLIENT = '6f1c2d9e-5a7b-4c1d-9e8f-0a1b2c3d4e5f';
const LEASE = 30_000;

/** The floor: our two scripts and nothing around them; whoever finds the lock taken is not told. */
export class BareLocks {
  #holders = 0;

  private constructor(private readonly client: Redis) {}

  static async on(client: Redis): Promise<BareLocks> {
    const scripts = [lockAcquire, lockRelease, multiLockAcquire, multiLockRelease];
    for (const { source } of scripts) await client.script('LOAD', source);
    return new BareLocks(client);
  }

  readonly lockOn = (key: string) => {
    const channel = channelOf(key);
    return async () => {
      const holder = this.#newHolder();
      await this.client.evalsha(lockAcquire.sha1, 1, key, LEASE, holder, aboutUs());
      return () => this.client.evalsha(lockRelease.sha1, 2, key, channel, holder, 'publish');
    };
  };

  /** Its parts, with one script. */
  readonly multiLockOn = (key: string) => {
    const parts = partsOf(key);
    const released = parts.flatMap((part) => [part, channelOf(part)]);
    return async () => {
      const holder = this.#newHolder();
      const { length } = parts;
      await this.client.evalsha(multiLockAcquire.sha1, length, ...parts, LEASE, holder, aboutUs());
      return () =>
        this.client.evalsha(multiLockRelease.sha1, 2 * length, ...released, holder, 'publish');
    };
  };

  #newHolder(): string {
    return `${CLIENT}:${++this.#holders}`;
  }
}

function channelOf(key: string): string {
  return `redisson_lock__channel:{${key}}`;
}

function aboutUs(): string {
  return JSON.stringify({ host: hostname(), pid: process.pid, since: Date.now() });
}
