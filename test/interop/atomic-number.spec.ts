import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';

const KINDS = [
  { kind: 'long', least: (-(2n ** 63n)).toString(), most: (2n ** 63n - 1n).toString() },
  { kind: 'integer', least: (-(2 ** 31)).toString(), most: (2 ** 31 - 1).toString() },
] as const;

for (const { kind, least, most } of KINDS)
  describeWithCurator(`A distributed atomic ${kind}`, (stage) => {
    const both = (way: (typeof stage.ways)[number]) =>
      [way.first(), way.second()].map((peer) => peer.atomicNumber(`${kind}:${stage.path}`));

    it.each(stage.ways)('is the same number for both where $title', async (way) => {
      const [first, second] = both(way);
      expect(await first!.get()).toBe('0');
      expect(await first!.change('increment')).toEqual(done('0', '1'));
      expect(await second!.change('add', '41')).toEqual(done('1', '42'));
      expect(await first!.change('subtract', '50')).toEqual(done('42', '-8'));
      expect(await second!.change('decrement')).toEqual(done('-8', '-9'));
      expect(await first!.change('trySet', '5')).toEqual(done('-9', '5'));
      expect(await second!.change('compareAndSet', '5', '6')).toEqual(done('5', '6'));
      const { succeeded, preValue } = await first!.change('compareAndSet', '5', '7');
      expect([succeeded, preValue]).toEqual([false, '6']);
      expect([await first!.get(), await second!.get()]).toEqual(['6', '6']);
    });

    it.each(stage.ways)('is created once, with any value, where $title', async (way) => {
      const [first, second] = both(way);
      expect(await first!.initialize(least)).toBe(true);
      expect(await second!.initialize('1')).toBe(false);
      expect(await second!.get()).toBe(least);
      await second!.forceSet(most);
      expect(await first!.get()).toBe(most);
      expect(await first!.change('add', least)).toEqual(done(most, '-1'));
      expect(await second!.get()).toBe('-1');
    });

    it('adds up concurrent additions of both', async () => {
      const users = [stage.node, stage.other, stage.node, stage.other].map((peer) =>
        peer.atomicNumber(`${kind}:${stage.path}`),
      );
      await Promise.all(users.map((user) => user.count(50)));
      expect(await users[0]!.get()).toBe('200');
      expect(await users[1]!.get()).toBe('200');
    });
  });

function done(preValue: string, postValue: string) {
  return { succeeded: true, preValue, postValue };
}
