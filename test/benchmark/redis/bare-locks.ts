import type { Redis } from 'ioredis';
import { hostname } from 'node:os';
import { lockAcquire, lockRelease } from '../../../lib/redis/scripts/index.js';
import { partsOf } from './libraries.js';

const CLIENT = '6f1c2d9e-5a7b-4c1d-9e8f-0a1b2c3d4e5f';
const LEASE = 30_000;

/** Sends a command by some client. */
export type Send = (...words: (string | number)[]) => Promise<unknown>;

/** Sends commands by ioredis. */
export function sendBy(client: Redis): Send {
  return (command, ...args) => client.call(`${command}`, ...args);
}

/** The floor: our two scripts and nothing around them; whoever finds the lock taken is not told. */
export class BareLocks {
  #holders = 0;

  private constructor(private readonly send: Send) {}

  static async on(send: Send): Promise<BareLocks> {
    for (const { source } of [lockAcquire, lockRelease]) await send('SCRIPT', 'LOAD', source);
    return new BareLocks(send);
  }

  readonly lockOn = (key: string) => {
    const [channel, waiters] = [channelOf(key), waitersOf(key)];
    return async () => {
      const holder = this.#newHolder();
      const terms = [LEASE, holder, aboutUs(), 1, tombstoneOf(key, holder), 0, LEASE, waiters];
      await this.send('EVALSHA', lockAcquire.sha1, 1, key, ...terms);
      return () =>
        this.send('EVALSHA', lockRelease.sha1, 1, key, holder, 'publish', channel, '', waiters);
    };
  };

  /** Its parts, with one script. */
  readonly multiLockOn = (key: string) => {
    const parts = partsOf(key);
    const released = parts.flatMap((part) => [channelOf(part), '', waitersOf(part)]);
    return async () => {
      const holder = this.#newHolder();
      const { length } = parts;
      const tombstones = parts.map((part) => tombstoneOf(part, holder));
      const terms = [LEASE, holder, aboutUs(), length, ...tombstones];
      await this.send('EVALSHA', lockAcquire.sha1, length, ...parts, ...terms);
      return () =>
        this.send('EVALSHA', lockRelease.sha1, length, ...parts, holder, 'publish', ...released);
    };
  };

  #newHolder(): string {
    return `${CLIENT}:${++this.#holders}`;
  }
}

function channelOf(key: string): string {
  return `redisson_lock__channel:{${key}}`;
}

function waitersOf(key: string): string {
  return `interlock_waiters:{${key}}`;
}

function tombstoneOf(key: string, holder: string): string {
  return `interlock_gone:{${key}}:${holder}`;
}

function aboutUs(): string {
  return JSON.stringify({ host: hostname(), pid: process.pid, since: Date.now() });
}
