import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeBlocksOf } from '../../unit/docs/support/documents.js';

/** What a recipe of docs/how-to.md takes for granted, from the real packages. */
interface Recipe {
  /** How it begins. */
  readonly start: RegExp;
  readonly imports: string;
  /** Name and type of what it is given, if it is the end of a method. */
  readonly client?: readonly [name: string, type: string];
}

const RECIPES: Record<string, Recipe> = {
  typeorm: {
    start: /: DataSource\)/,
    imports: `import { DataSource, LessThanOrEqual } from 'typeorm';
import { Chair } from '../support/chair.js';`,
  },
  prisma: {
    start: /^await prisma/,
    imports: `import { PrismaClient } from './prisma/client.js';`,
    client: ['prisma', 'PrismaClient'],
  },
  drizzle: {
    start: /^await drizzle/,
    imports: `import { and, eq, lte, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { chair } from '../support/drizzle-chair.js';`,
    client: ['drizzle', 'NodePgDatabase'],
  },
  knex: {
    start: /^await knex/,
    imports: `import type { Knex } from 'knex';`,
    client: ['knex', 'Knex'],
  },
  mongoose: {
    start: /chairs\.updateOne/,
    imports: `import type { Model } from 'mongoose';
import type { MongooseChair } from '../support/mongoose-chair.js';`,
    client: ['chairs', 'Model<MongooseChair>'],
  },
};

const COMMON = `import { ConflictException, Injectable } from '@nestjs/common';
import { currentLease, WithMutex } from 'nestjs-interlock';`;

const generated = resolve('test/databases/generated');
mkdirSync(generated, { recursive: true });

for (const [name, { start, imports, client }] of Object.entries(RECIPES)) {
  const found = codeBlocksOf('docs/how-to.md').filter(({ code }) => start.test(code));
  if (found.length !== 1) throw new Error(`docs/how-to.md has ${found.length} recipes of ${name}.`);
  const [{ code }] = found as [(typeof found)[number]];
  const program = client === undefined ? code : methodOf(client, code);
  writeFileSync(`${generated}/${name}.ts`, `${COMMON}\n${imports}\n\n${program}`);
}

/** The method that ends with the recipe, as the first recipe has it. */
function methodOf([name, type]: readonly [string, string], code: string): string {
  return `@Injectable()
export class Stock {
  constructor(private readonly client: ${type}) {}

  @WithMutex((id: string) => \`stock:\${id}\`, { wait: 5_000 })
  async reserve(id: string): Promise<void> {
    const token = await currentLease()!.fencingToken();
    const ${name} = this.client;
${code}  }
}
`;
}
