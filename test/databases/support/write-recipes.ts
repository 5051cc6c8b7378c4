import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeBlocksOf } from '../../unit/docs/support/documents.js';

/** What the recipes of docs/how-to.md take for granted, from the real packages. */
const PRELUDES = {
  typeorm: `
import { DataSource, LessThanOrEqual } from 'typeorm';
import { Chair } from '../support/chair.js';`,
  prisma: `
import { PrismaClient } from './prisma/client.js';`,
};

const COMMON = `
import { ConflictException, Injectable } from '@nestjs/common';
import { currentLease, WithMutex } from 'nestjs-interlock';`;

const generated = resolve('test/databases/generated');
mkdirSync(generated, { recursive: true });

for (const [name, prelude] of Object.entries(PRELUDES)) {
  const [, client = ''] = /import \{ (\w+)/.exec(prelude) ?? [];
  const recipes = codeBlocksOf('docs/how-to.md').filter(({ code }) =>
    code.includes(`: ${client})`),
  );
  if (recipes.length !== 1)
    throw new Error(`docs/how-to.md has ${recipes.length} recipes with a ${client}.`);
  writeFileSync(`${generated}/${name}.ts`, `${COMMON.trim()}${prelude}\n\n${recipes[0]!.code}`);
}
