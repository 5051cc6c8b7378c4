import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CreateMode,
  currentLease,
  LeaderElections,
  LeaderOnly,
  LockModule,
  LockNotHeldError,
  LockStream,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
  zooKeeperOperations,
} from '../../lib/index.js';
import { eventually } from '../support/time.js';

const { PERSISTENT_SEQUENTIAL } = CreateMode;

/** Number of the entry that a write has made: how many there were before. */
async function writeEntry(): Promise<number> {
  const entry = { op: 'create', path: '/entry-', mode: PERSISTENT_SEQUENTIAL } as const;
  const [{ path }] = await currentLease()!.guard(zooKeeperOperations([entry]));
  return Number(path.slice(-10));
}

@Injectable()
class Ledger {
  @WithMutex('ledger/{0}')
  async mutex(_: string) {
    return writeEntry();
  }

  @WriteLock('ledger')
  async writer() {
    return writeEntry();
  }

  @Semaphore('ledger permits', { permits: 2 })
  async permit() {
    return writeEntry();
  }

  @WithMultiLock(['ledger/a', 'ledger/b'])
  async both() {
    return writeEntry();
  }

  @LeaderOnly('ledger leader')
  async leader(): Promise<number | undefined> {
    return writeEntry();
  }

  @LockStream('ledger stream')
  async *stream() {
    yield await writeEntry();
  }

  @WithMutex('ledger/outlived')
  async outlived() {
    return { lease: currentLease()! };
  }
}

@Module({ imports: [LockModule.forRoot()], providers: [Ledger] })
class AppModule {}

describe('A guarded write in a locked method', () => {
  let app: Awaited<ReturnType<typeof NestFactory.createApplicationContext>>;
  let ledger: Ledger;

  beforeEach(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    await app.init();
    ledger = app.get(Ledger);
  });
  afterEach(() => app.close());

  it('is carried out by the lease of the call, whatever the decorator', async () => {
    await eventually('it leads', () => app.get(LeaderElections).of('ledger leader').isLeader);
    const first = await ledger.mutex('a');
    const entries = [first, await ledger.writer(), await ledger.permit()];
    entries.push(await ledger.both(), (await ledger.leader())!);
    for await (const entry of ledger.stream()) entries.push(entry);
    expect(entries).toEqual([0, 1, 2, 3, 4, 5].map((n) => first + n));
  });

  it('is refused when the call has ended', async () => {
    const { lease } = await ledger.outlived();
    const first = await ledger.mutex('a');
    const late = lease.guard(zooKeeperOperations([{ op: 'create', path: '/entry-late' }]));
    await expect(late).rejects.toBeInstanceOf(LockNotHeldError);
    expect(await ledger.mutex('a')).toBe(first + 1);
  });
});
