/*
 * Checked by the compiler, never run: which sets of options of a lock client fit a backend.
 */
import type { Redis } from 'ioredis';
import { LockModule } from '../../../lib/index.js';

declare const redis: Redis;
declare const url: string | undefined;

export const accepted = [
  LockModule.forRoot(),
  LockModule.forRoot({ basePath: '/mine', drainTimeout: 0, unfinished: 'release' }),
  LockModule.forRoot({ backend: 'zookeeper', connect: 'zk1:2181' }),
  LockModule.forRoot({ backend: 'redis', connect: 'redis://localhost' }),
  LockModule.forRoot({ backend: 'redis', connect: { host: 'localhost' }, client: undefined }),
  LockModule.forRoot({ backend: 'redis', client: redis, prefix: 'mine:' }),
  LockModule.forRoot({ backend: 'redis', cluster: { nodes: ['redis://localhost'] } }),
  LockModule.forRoot({ backend: 'redis', nodes: [redis, 'redis://b', { host: 'c' }] }),
  LockModule.forRoot({ backend: 'redis', connect: url ?? 'redis://localhost' }),
];

export const refused = [
  // @ts-expect-error where is it?
  LockModule.forRoot({ backend: 'redis' }),
  // @ts-expect-error one of the two
  LockModule.forRoot({ backend: 'redis', connect: 'redis://a', nodes: ['redis://b'] }),
  // @ts-expect-error one of the two
  LockModule.forRoot({ backend: 'redis', connect: 'redis://a', client: redis }),
  // @ts-expect-error there may be none
  LockModule.forRoot({ backend: 'redis', connect: url }),
  // @ts-expect-error which backend?
  LockModule.forRoot({ connect: 'redis://a' }),
  // @ts-expect-error which backend?
  LockModule.forRoot({ client: redis }),
  // @ts-expect-error where is it?
  LockModule.forRoot({ backend: 'zookeeper' }),
];
