import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { Stock } from './generated/drizzle.js';
import { chair } from './support/drizzle-chair.js';
import { heldUp } from './support/held-up.js';
import { startPostgres } from './support/postgres-server.js';
import { TABLE } from './support/table.js';
import { describeTransactions } from './support/transactions.suite.js';

describeTransactions('Drizzle', startPostgres, async (url, begin) => {
  const pool = new Pool({ connectionString: url });
  const database = drizzle(pool);
  await database.execute(sql.raw(TABLE));
  return {
    stock: new Stock(heldUp(database, 'transaction', begin)),
    row: async () => {
      const [row] = await database.select().from(chair).where(eq(chair.id, 'chair'));
      return row!;
    },
    close: () => pool.end(),
  };
});
