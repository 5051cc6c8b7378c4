import knex from 'knex';
import { Stock } from './generated/knex.js';
import { heldUp } from './support/held-up.js';
import { startPostgres } from './support/postgres-server.js';
import { TABLE } from './support/table.js';
import { describeTransactions } from './support/transactions.suite.js';

describeTransactions('Knex', startPostgres, async (url, begin) => {
  const database = knex({ client: 'pg', connection: url });
  await database.raw(TABLE);
  return {
    stock: new Stock(heldUp(database, 'transaction', begin)),
    row: async () => {
      const { left, token } = (await database('chair').where({ id: 'chair' }).first()) as {
        left: number;
        token: string;
      };
      return { left, token: BigInt(token) };
    },
    close: () => database.destroy(),
  };
});
