import { describe, expect, it } from '@jest/globals';
import { newPermitHolder, permitIdsOf } from '../../../lib/redis/locks/permit-holder.js';

describe('A holder of permits', () => {
  it.each([1, 2, 16, 300])('of %i has as many ids, each 16 bytes and another one', (permits) => {
    const ids = permitIdsOf(newPermitHolder(permits));
    expect(ids).toHaveLength(permits);
    expect(new Set(ids).size).toBe(permits);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('has the same ids whenever they are asked for', () => {
    const holder = newPermitHolder(3);
    expect(permitIdsOf(holder)).toEqual(permitIdsOf(holder));
  });

  it('has no id of another holder', () => {
    const ids = Array.from({ length: 100 }, () => permitIdsOf(newPermitHolder(5))).flat();
    expect(new Set(ids).size).toBe(500);
  });

  it('says how many permits it has in its last four bytes, the first byte first', () => {
    expect(newPermitHolder(1)).toMatch(/^[0-9a-f]{24}00000001$/);
    expect(newPermitHolder(0x0102)).toMatch(/00000102$/);
    expect(newPermitHolder(2 ** 31 - 1)).toMatch(/7fffffff$/);
  });

  it('has ids that say which one they are', () => {
    const holder = `${'ab'.repeat(12)}00000002`;
    expect(permitIdsOf(holder)).toEqual([
      `${'ab'.repeat(12)}00000000`,
      `${'ab'.repeat(12)}00000001`,
    ]);
  });
});
