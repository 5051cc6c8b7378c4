import { bigint, integer, pgTable, text } from 'drizzle-orm/pg-core';

export const chair = pgTable('chair', {
  id: text().primaryKey(),
  left: integer().notNull(),
  token: bigint({ mode: 'bigint' }).notNull().default(0n),
});
