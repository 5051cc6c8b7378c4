import { beforeEach, describe, expect, it } from '@jest/globals';
import { type LinePlace, WaitingLines } from '../../../lib/core/collections/waiting-line.js';

describe('A line of acquires', () => {
  let lines: WaitingLines<string>;
  beforeEach(() => {
    lines = new WaitingLines(2);
  });

  const joined = (count: number) => Array.from({ length: count }, () => lines.join('lock'));
  const first = (places: readonly LinePlace<string>[]) => places.map(({ isFirst }) => isFirst);

  it('gives as many of them their turn as it is wide, in the order in which they came', async () => {
    const places = joined(4);
    expect(first(places)).toEqual([true, true, false, false]);
    const turn = new Promise<void>((resolve) => places[2]!.onFirst(resolve)).then(() => 'third');
    places[1]!.leave();
    expect(await turn).toBe('third');
    expect(first(places)).toEqual([true, true, true, false]);
    places[0]!.leave();
    expect(places[3]!.isFirst).toBe(true);
  });

  it('closes up where one leaves that waits, and where one leaves twice', () => {
    const places = joined(5);
    places[2]!.leave();
    places[3]!.leave();
    places[3]!.leave();
    places[0]!.leave();
    places[0]!.leave();
    expect(places[4]!.isFirst).toBe(true);
  });

  it('is gone when all have left, and another lock has one of its own', () => {
    const places = joined(3);
    const other = lines.join('other');
    for (const place of places) place.leave();
    expect([lines.has('lock'), lines.has('other')]).toEqual([false, true]);
    other.leave();
    expect(lines.has('other')).toBe(false);
    expect(first(joined(3))).toEqual([true, true, false]);
  });

  it('hands on to the next one alone, which then has its turn', () => {
    const line = new WaitingLines<string>();
    const [holder, next, last] = [line.join('lock'), line.join('lock'), line.join('lock')];
    const taken: string[] = [];
    next.onHandOff((handed) => taken.push(`next ${handed}`) > 0);
    last.onHandOff((handed) => taken.push(`last ${handed}`) > 0);
    expect(holder.handOff('hold')).toBe(true);
    expect(taken).toEqual(['next hold']);
    expect([holder.isInLine, next.isFirst, last.isFirst]).toEqual([false, true, false]);
    expect(holder.handOff('again')).toBe(false);
  });

  it('hands nothing on that the next one does not take', () => {
    const line = new WaitingLines<string>();
    const [holder, next] = [line.join('lock'), line.join('lock')];
    expect(holder.handOff('hold')).toBe(false);
    next.onHandOff(() => false);
    expect(holder.handOff('hold')).toBe(false);
    expect([holder.isInLine, next.isFirst]).toEqual([true, false]);
    expect(line.join('other').handOff('hold')).toBe(false);
  });
});
