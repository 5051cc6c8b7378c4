import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { DOCUMENT, documentOfExplorations } from './support/table-of-explorations.js';

it('The table of what is explored is what the runs count: `npm run docs:tests`', async () => {
  expect(await documentOfExplorations()).toBe(readFileSync(DOCUMENT, 'utf8'));
});
