import { createConnection } from 'mongoose';
import { Stock } from './generated/mongoose.js';
import { heldUp } from './support/held-up.js';
import { hasMongoServer, MongoServer } from './support/mongo-server.js';
import { chairsOf } from './support/mongoose-chair.js';
import { describeTransactions } from './support/transactions.suite.js';

describeTransactions(
  'Mongoose',
  hasMongoServer() ? MongoServer.start : undefined,
  async (url, begin) => {
    const connection = await createConnection(url).asPromise();
    const chairs = chairsOf(connection);
    await chairs.updateOne({ _id: 'chair' }, { $setOnInsert: { left: 10 } }, { upsert: true });
    return {
      stock: new Stock(heldUp(chairs, 'updateOne', begin)),
      row: async () => {
        const { left, token } = (await chairs.findById('chair').orFail()) as {
          left: number;
          token: bigint;
        };
        return { left, token };
      },
      close: () => connection.close(),
    };
  },
);
