import { beforeEach, describe, expect, it } from '@jest/globals';
import { ContenderLines } from '../../../lib/redis/recipes/contender-lines.js';
import { LinePlace } from '../../../lib/redis/recipes/line-place.js';
import type { LockCommands } from '../../../lib/redis/recipes/lock-commands.js';

describe('A place in the line of a process', () => {
  let lines: ContenderLines;
  const come = (line: LockCommands['line'], mayWait = true) =>
    new LinePlace(lines, { raw: 'door', line }, mayWait);

  beforeEach(() => {
    lines = new ContenderLines();
  });

  it('is taken at once where one holder keeps all others out', async () => {
    const first = come('contenders');
    const second = come('contenders');
    expect([first.isFirst, second.isFirst]).toEqual([true, false]);
    const turn = second.first();
    first.leave();
    expect(await turn).toBe(true);
  });

  it('is taken by those who have to wait, where there is room for many', async () => {
    const first = come('waiters');
    const second = come('waiters');
    expect([first.isFirst, second.isFirst]).toEqual([true, true]);
    expect(await first.first()).toBe(false);
    const turn = second.first();
    first.leave();
    expect(await turn).toBe(true); // what it was answered before is out of date
  });

  it('is behind those who wait already, but for who may not wait', () => {
    void come('waiters').first();
    expect(come('waiters').isFirst).toBe(false);
    expect(come('waiters', false).isFirst).toBe(true);
  });

  it('is not needed where the server keeps the order', async () => {
    const places = [come('nobody'), come('nobody')];
    expect(await Promise.all(places.map((place) => place.first()))).toEqual([false, false]);
    expect(lines.isEmpty('door')).toBe(true);
  });

  it('is left once, and makes way for the next', () => {
    const first = come('contenders');
    const second = come('contenders');
    first.leave();
    first.leave();
    expect(second.isFirst).toBe(true);
    second.leave();
    expect(lines.isEmpty('door')).toBe(true);
  });
});
