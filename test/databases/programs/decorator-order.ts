import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  ClsPluginTransactional,
  InjectTransactionHost,
  Transactional,
  type TransactionHost,
} from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { ClsModule } from 'nestjs-cls';
import type { DataSource } from 'typeorm';
import { currentLease, WithMutex } from '../../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../../lib/testing/index.js';
import { Deferred, eventually } from '../../support/time.js';
import { Chair } from '../support/chair.js';
import { openSource } from '../support/open-source.js';

/**
 * Two callers sell the last chair, each by a connection of its own; the second queues while the first works. Prints what each
 * read: how many were left. `node … lock`: the lock is the outer decorator; `… transaction`: the transaction is.
 */
const outer = process.argv[2] as 'lock' | 'transaction';

type Host = TransactionHost<TransactionalAdapterTypeOrm>;
type AfterRead = () => Promise<void>;

const read: number[] = [];

async function sellOne({ tx }: Host, afterRead: AfterRead): Promise<void> {
  const { left } = await tx.findOneByOrFail(Chair, { id: 'chair' });
  read.push(left);
  await afterRead();
  if (left > 0) await tx.update(Chair, { id: 'chair' }, { left: left - 1 });
}

function sellerOn(connection: string) {
  @Injectable()
  class LockOutside {
    constructor(@InjectTransactionHost(connection) readonly host: Host) {}

    @WithMutex('chair')
    @Transactional<TransactionalAdapterTypeOrm>(connection)
    async sell(afterRead: AfterRead): Promise<void> {
      await sellOne(this.host, afterRead);
    }
  }

  @Injectable()
  class LockInside {
    constructor(@InjectTransactionHost(connection) readonly host: Host) {}

    @Transactional<TransactionalAdapterTypeOrm>(connection)
    @WithMutex('chair')
    async sell(afterRead: AfterRead): Promise<void> {
      await sellOne(this.host, afterRead);
    }
  }

  return { lock: LockOutside, transaction: LockInside }[outer];
}

function pluginOf(connectionName: string, source: DataSource): ClsPluginTransactional {
  @Module({ providers: [{ provide: 'source', useValue: source }], exports: ['source'] })
  class Source {}

  return new ClsPluginTransactional({
    connectionName,
    imports: [Source],
    adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: 'source' }),
  });
}

/** Its commits take until then, unless they happen under the lock. */
function delayCommitsOutsideOfLock(source: DataSource, until: Promise<void>): void {
  const runner = source.createQueryRunner(); // the only one of this driver
  const commit = runner.commitTransaction.bind(runner);
  runner.commitTransaction = async () => {
    if (!currentLease()) await until;
    await commit();
  };
}

const folder = mkdtempSync(join(tmpdir(), 'transactions-'));
const open = () => openSource(join(folder, 'stock.db'), 1);
const [first, second] = [await open(), await open()];
const sellers = [sellerOn('first'), sellerOn('second')] as const;
const plugins = [pluginOf('first', first), pluginOf('second', second)];
const app = await Test.createTestingModule({
  imports: [LockTestingModule.forRoot(), ClsModule.forRoot({ plugins })],
  providers: [...sellers],
}).compile();
await app.init();
const locks = app.get(LockTesting);

const secondHasRead = new Deferred();
delayCommitsOutsideOfLock(first, secondHasRead.promise);
const earlier = app.get(sellers[0]).sell(async () => {
  await eventually('the second queues', () => locks.waiting().length === 1);
});
await eventually('the first has the lock', () => locks.held().length === 1);
const later = app.get(sellers[1]).sell(async () => {
  secondHasRead.resolve();
  await earlier;
});
await earlier;
await later.catch(() => {}); // SQLite refuses to write over what was not read; other databases do so if they are asked to
console.log(JSON.stringify(read));

await app.close();
await Promise.all([first.destroy(), second.destroy()]);
rmSync(folder, { recursive: true });
