// A standalone Nest app whose boot another provider decides about. It sends what becomes of the boot, and then has nothing to do.
// Arguments: the options of LockModule.forRoot, as JSON; what the other provider does.
import 'reflect-metadata';
import { pbkdf2 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Injectable, Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  InjectLockClient,
  LockModule,
  type LockClient,
  type LockModuleOptions,
  type RedisLockClient,
  type ZooKeeperLockClient,
} from '../../../lib/index.js';

const [, , options, part] = process.argv;
const fail = async () => {
  await sleep(100);
  throw new Error('the database is away');
};

/** What nothing but a boot waits for. */
const WAITS: Record<string, (locks: LockClient) => Promise<unknown>> = {
  'a lock': async (locks) => (await locks.mutex('migration').acquire()).release(),
  leadership: async (locks) => {
    const latch = (locks as RedisLockClient).leaderLatch('migration');
    latch.start();
    await latch.awaitLeadership();
    await latch.close();
  },
  'a latch': (locks) => (locks as RedisLockClient).countDownLatch('migration').await(),
  'a barrier': (locks) => (locks as ZooKeeperLockClient).barrier('migration').waitOnBarrier(),
};

@Injectable()
class Waiting {
  constructor(@InjectLockClient() private readonly locks: LockClient) {}

  async onModuleInit(): Promise<void> {
    process.send!('waits');
    await WAITS[part!]!(this.locks);
  }
}

/** Keeps the process alive by work in the thread pool, which Node does not list. */
@Injectable()
class Computing {
  constructor(@InjectLockClient() private readonly locks: LockClient) {}

  async onModuleInit(): Promise<void> {
    const end = performance.now() + 2_500;
    while (performance.now() < end) await promisify(pbkdf2)('a', 'b', 100_000, 64, 'sha512');
    await (await this.locks.mutex('computed').acquire({ wait: 10_000 })).release();
  }
}

/** Locks while it boots, so that there is a subscriber connection too, and fails. */
@Injectable()
class Locking {
  constructor(@InjectLockClient() private readonly locks: LockClient) {}

  async onModuleInit(): Promise<void> {
    const lock = this.locks.semaphoreMutex('migration');
    await lock.using(() => lock.using(() => {}, { wait: 50 }).catch(() => {}));
    await fail();
  }
}

const parts: Record<string, Provider> = {
  factory: { provide: 'database', useFactory: fail },
  onModuleInit: { provide: 'database', useValue: { onModuleInit: fail } },
  onApplicationBootstrap: { provide: 'database', useValue: { onApplicationBootstrap: fail } },
  computing: Computing,
  locking: Locking,
  nothing: { provide: 'database', useValue: {} },
};

@Module({
  imports: [LockModule.forRoot(JSON.parse(options!) as LockModuleOptions)],
  providers: [parts[part!] ?? Waiting],
})
class AppModule {}

try {
  await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  process.send!('booted');
  process.disconnect(); // the connections keep it alive
} catch (error) {
  process.send!(String(error));
  process.disconnect();
}
