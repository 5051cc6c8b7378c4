import { registerAs } from '@nestjs/config';
import type { LockBackendOptions } from 'nestjs-interlock';

/** Where the locks are: a namespace of the configuration. */
export const locks = registerAs('locks', (): LockBackendOptions => ({
  backend: 'redis',
  connect: process.env.REDIS_URL ?? 'redis://localhost:6379',
  prefix: 'sample:',
  wait: 30_000,
}));
