import { DataSource } from 'typeorm';
import { Stock } from './generated/typeorm.js';
import { Chair } from './support/chair.js';
import { heldUp } from './support/held-up.js';
import { startPostgres } from './support/postgres-server.js';
import { TABLE } from './support/table.js';
import { describeTransactions } from './support/transactions.suite.js';

describeTransactions('TypeORM', startPostgres, async (url, begin) => {
  const source = new DataSource({ type: 'postgres', url, entities: [Chair] });
  await source.initialize();
  await source.query(TABLE);
  return {
    stock: new Stock(heldUp(source, 'transaction', begin)),
    row: async () => {
      const { left, token } = await source.manager.findOneByOrFail(Chair, { id: 'chair' });
      return { left, token: BigInt(token) };
    },
    close: () => source.destroy(),
  };
});
