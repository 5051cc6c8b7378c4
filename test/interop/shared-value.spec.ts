import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithCurator } from './support/describe-with-curator.js';
import type { ValueActor } from './support/value-actor.js';

const KINDS = [
  { kind: 'count', values: ['7', '-2147483648', '2147483647', '0'] },
  { kind: 'value', values: ['seven', 'ü', 'eight', 'nought'] },
] as const;

for (const { kind, values } of KINDS)
  describeWithCurator(`A shared ${kind}`, (stage) => {
    const [a, b, c, d] = values;
    const sees = (actor: ValueActor, value: string) =>
      eventually(`it is ${value}`, async () => (await actor.get()) === value);
    const hears = async (actor: ValueActor, told: readonly string[]) => {
      await eventually(
        'all changes are reported',
        async () => (await actor.heard()).length >= told.length,
      );
      expect(await actor.heard()).toEqual(told);
    };

    it.each(stage.ways)(
      'keeps the first seed, and notifies listeners of changes where $title',
      async (way) => {
        const [first, second] = [way.first(), way.second()].map((peer) =>
          peer.sharedValue(`${kind}:${stage.path}`),
        );
        await first!.start(a);
        await second!.start(b);
        expect([await first!.get(), await second!.get()]).toEqual([a, a]);
        await first!.set(c);
        await sees(second!, c);
        await second!.set(d);
        await sees(first!, d);
        await hears(second!, [c, d]);
        await hears(first!, [c, d]);
      },
    );

    it.each(stage.ways)('does not overwrite an unseen value where $title', async (way) => {
      const [first, second] = [way.first(), way.second()].map((peer) =>
        peer.sharedValue(`${kind}:${stage.path}`),
      );
      await first!.start(a);
      await second!.start(a);
      expect(await first!.trySet(b)).toBe(true);
      await sees(second!, b);
      expect(await second!.trySet(c)).toBe(true);
      await sees(first!, c);
      // Both at once: one of them succeeds; or one after the other, if the second has seen the first by then.
      const tried = await Promise.all([first!.trySet(b), second!.trySet(d)]);
      expect(tried).toContain(true);
      const set = [b, d].filter((_, n) => tried[n]);
      const last = await eventually('both see the last one', async () => {
        const [seen, other] = await Promise.all([first!.get(), second!.get()]);
        return seen === other && seen !== c && seen;
      });
      expect(set).toContain(last);
    });

    it.each(stage.ways)('is set by both in turns, again and again, where $title', async (way) => {
      const [first, second] = [way.first(), way.second()].map((peer) =>
        peer.sharedValue(`${kind}:${stage.path}`),
      );
      await first!.start('0');
      await second!.start('0');
      for (let n = 1; n <= 20; n += 2) {
        expect(await first!.trySet(String(n))).toBe(true);
        await sees(second!, String(n));
        expect(await second!.trySet(String(n + 1))).toBe(true);
        await sees(first!, String(n + 1));
      }
    });
  });
