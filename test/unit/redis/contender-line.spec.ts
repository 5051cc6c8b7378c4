import { beforeEach, describe, expect, it } from '@jest/globals';
import { ContenderLine, type Place } from '../../../lib/redis/recipes/contender-line.js';
import { ContenderLines } from '../../../lib/redis/recipes/contender-lines.js';
import { isSettled } from '../../support/is-settled.js';

describe('A line of contenders', () => {
  let line: ContenderLine;
  let places: Place[];

  beforeEach(() => {
    line = new ContenderLine();
    places = [line.join(), line.join(), line.join()];
  });

  const first = () => places.map((place) => place.isFirst);

  it('has its first at once', async () => {
    expect(first()).toEqual([true, false, false]);
    expect(await isSettled(places[0]!.first())).toBe(true);
    expect(await isSettled(places[1]!.first())).toBe(false);
  });

  it('moves up in the order in which they came', async () => {
    places[0]!.leave();
    expect(await isSettled(places[1]!.first())).toBe(true);
    expect(await isSettled(places[2]!.first())).toBe(false);
    places[1]!.leave();
    expect(await isSettled(places[2]!.first())).toBe(true);
  });

  it('closes up behind one that gives up, and moves nobody who was behind it to the front', async () => {
    places[1]!.leave();
    expect(first()).toEqual([true, false, false]);
    places[0]!.leave();
    expect(await isSettled(places[2]!.first())).toBe(true);
    expect(await isSettled(places[1]!.first())).toBe(false);
  });

  it('is left once: who leaves again takes nobody along', () => {
    places[0]!.leave();
    places[0]!.leave();
    expect(first().slice(1)).toEqual([true, false]);
    places[1]!.leave();
    expect(first()[2]).toBe(true);
  });

  it('is empty when all have left, and begins anew', () => {
    for (const place of places) place.leave();
    expect(line.isEmpty).toBe(true);
    expect(line.join().isFirst).toBe(true);
  });
});

describe('The lines of a client', () => {
  it('are one for each lock', () => {
    const lines = new ContenderLines();
    const line = lines.of('orders');
    expect(lines.of('orders')).toBe(line);
    expect(lines.of('bills')).not.toBe(line);
    lines.tidy('orders');
    expect(lines.of('orders')).toBe(line);
  });

  it('are forgotten when nobody stands in them, where there are many', () => {
    const lines = new ContenderLines();
    const line = lines.of('orders');
    const place = line.join();
    for (let i = 0; i < 10_000; i++) lines.of(`${i}`);
    lines.tidy('orders');
    expect(lines.of('orders')).toBe(line);
    place.leave();
    lines.tidy('orders');
    expect(lines.of('orders')).not.toBe(line);
    lines.tidy('never joined');
  });

  it('know which locks others want, ten thousand of them', () => {
    const lines = new ContenderLines();
    for (let i = 0; i <= 10_000; i++) lines.setWanted(`lock ${i}`, true);
    expect([lines.isWanted('lock 0'), lines.isWanted('lock 1')]).toEqual([false, true]);
    lines.setWanted('lock 1', false);
    expect(lines.isWanted('lock 1')).toBe(false);
  });
});
