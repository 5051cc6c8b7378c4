import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { LockTesting, LockTestingModule } from '../../../lib/testing/index.js';
import { Deferred, eventually } from '../../support/time.js';

/** The class of the recipe. */
export interface Stock {
  reserve(id: string): Promise<void>;
}

/** A database of one table with one row, `chair`, of which 10 are left. */
export interface Database {
  readonly stock: Stock;
  /** What is committed, seen by a connection of its own. */
  row(): Promise<{ left: number; token: bigint }>;
  close(): Promise<unknown>;
}

/** What holds the data of a test. */
export interface DatabaseServer {
  /** Makes an empty database. Resolves to its URL. */
  database(): Promise<string>;
  stop(): Promise<unknown>;
}

/**
 * The recipe of docs/how-to.md by that library, as two replicas run it: each with connections of its own to one database.
 *
 * @param start starts the server; where there is none, the tests are skipped
 * @param open opens the database of that URL; `begin` is awaited before each transaction
 */
export function describeTransactions(
  library: string,
  start: (() => Promise<DatabaseServer>) | undefined,
  open: (url: string, begin: () => Promise<void>) => Promise<Database>,
): void {
  const describeIt = start ? describe : describe.skip;
  describeIt(`The recipe on transactions, with ${library}`, () => {
    let server: DatabaseServer;
    let app: TestingModule;
    let replicas: [Database, Database];
    /** Holds up the transactions of the first replica. */
    let gate: Deferred;

    beforeAll(async () => {
      server = await start!();
    }, 60_000);
    afterAll(() => server.stop());

    beforeEach(async () => {
      gate = new Deferred();
      const url = await server.database();
      replicas = [await open(url, () => gate.promise), await open(url, async () => {})];
      app = await Test.createTestingModule({
        imports: [LockTestingModule.forRoot()],
        providers: replicas.map(({ stock }, i) => ({ provide: `stock ${i}`, useValue: stock })),
      }).compile();
      await app.init();
    });
    afterEach(async () => {
      gate.resolve();
      await app.close();
      await Promise.all(replicas.map((each) => each.close()));
    });

    const reserve = (replica: 0 | 1) => replicas[replica].stock.reserve('chair');

    it('commits before the lock is released', async () => {
      gate.resolve();
      let returned = 0;
      const calls = Array.from({ length: 10 }, async (_, i) => {
        await reserve((i % 2) as 0 | 1);
        // Counted before the row is read: reads on several connections may be answered in any order.
        returned += 1;
        const mostLeft = 10 - returned;
        expect((await replicas[0].row()).left).toBeLessThanOrEqual(mostLeft);
      });
      await Promise.all(calls);
      expect((await replicas[0].row()).left).toBe(0);
    });

    it('refuses what a caller writes that has lost its lock, after the next caller', async () => {
      const late = reserve(0);
      const locks = app.get(LockTesting);
      await eventually('it holds the lock', () => locks.held().length === 1);
      await locks.advance(0);
      const next = reserve(1);
      await locks.loseLease('stock:chair');
      await next;
      const written = await replicas[0].row();
      expect(written.left).toBe(9);

      gate.resolve();
      await expect(late).rejects.toBeInstanceOf(ConflictException);
      expect(await replicas[0].row()).toEqual(written);
    });

    it('lets each caller write, with a greater token than the one before', async () => {
      gate.resolve();
      await reserve(0);
      const { token } = await replicas[0].row();
      await reserve(1);
      const { left, token: later } = await replicas[0].row();
      expect(left).toBe(8);
      expect(later).toBeGreaterThan(token);
    });
  });
}
