import { PrismaLibSql } from '@prisma/adapter-libsql';
import { Stock } from './generated/prisma.js';
import { PrismaClient } from './generated/prisma/client.js';
import { describeTransactions } from './support/transactions.suite.js';
import { heldUp } from './support/held-up.js';

describeTransactions('Prisma', async (file, begin) => {
  const connect = () => new PrismaClient({ adapter: new PrismaLibSql({ url: `file:${file}` }) });
  const [prisma, onlooker] = [connect(), connect()];
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS
    chair (id TEXT PRIMARY KEY, "left" INTEGER NOT NULL, token BIGINT NOT NULL DEFAULT 0)`;
  await prisma.$executeRaw`INSERT OR IGNORE INTO chair (id, "left") VALUES ('chair', 10)`;
  return {
    stock: new Stock(heldUp(prisma, '$transaction', begin)),
    row: async () => {
      const { left, token } = await onlooker.chair.findUniqueOrThrow({ where: { id: 'chair' } });
      return { left, token };
    },
    close: async () => {
      await Promise.all([prisma.$disconnect(), onlooker.$disconnect()]);
    },
  };
});
