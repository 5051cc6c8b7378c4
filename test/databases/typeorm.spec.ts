import { Stock } from './generated/typeorm.js';
import { Chair } from './support/chair.js';
import { heldUp } from './support/held-up.js';
import { openSource } from './support/open-source.js';
import { describeTransactions } from './support/transactions.suite.js';

describeTransactions('TypeORM', async (file, begin) => {
  const [source, onlooker] = [await openSource(file, 10), await openSource(file, 10)];
  return {
    stock: new Stock(heldUp(source, 'transaction', begin)),
    row: async () => {
      const { left, token } = await onlooker.manager.findOneByOrFail(Chair, { id: 'chair' });
      return { left, token: BigInt(token) };
    },
    close: async () => {
      await Promise.all([source.destroy(), onlooker.destroy()]);
    },
  };
});
