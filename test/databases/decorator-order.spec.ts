import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { compiled } from '../support/compiled.js';

/** A process of its own: nestjs-cls requires Nest, which Jest can only import on Node 20. */
const PROGRAM = compiled('test/databases/programs/decorator-order.ts');

async function readByTwoCallers(outer: 'lock' | 'transaction'): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, outer]);
  return JSON.parse(stdout);
}

describe('@WithMutex beside @Transactional()', () => {
  it('lets the next caller read what was committed, when it is above', async () => {
    expect(await readByTwoCallers('lock')).toEqual([1, 0]);
  });

  it('is released before the commit when it is below: the last chair is there twice', async () => {
    expect(await readByTwoCallers('transaction')).toEqual([1, 1]);
  });
});
