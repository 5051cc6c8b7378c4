import { PrismaPg } from '@prisma/adapter-pg';
import { Stock } from './generated/prisma.js';
import { PrismaClient } from './generated/prisma/client.js';
import { heldUp } from './support/held-up.js';
import { startPostgres } from './support/postgres-server.js';
import { TABLE } from './support/table.js';
import { describeTransactions } from './support/transactions.suite.js';

describeTransactions('Prisma', startPostgres, async (connectionString, begin) => {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) });
  for (const statement of TABLE.split(';')) await prisma.$executeRawUnsafe(statement);
  return {
    stock: new Stock(heldUp(prisma, '$transaction', begin)),
    row: async () => {
      const { left, token } = await prisma.chair.findUniqueOrThrow({ where: { id: 'chair' } });
      return { left, token };
    },
    close: () => prisma.$disconnect(),
  };
});
