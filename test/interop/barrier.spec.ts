import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('A barrier', (stage) => {
  it.each(stage.ways)('blocks the other side where $title', async (way) => {
    const [setter, waiter] = [way.first(), way.second()].map((peer) =>
      peer.barrier(`barrier:${stage.path}`),
    );
    expect(await waiter!.wait()).toBe(true);
    await setter!.set();
    expect(await waiter!.wait(300)).toBe(false);
    const waiters = [way.first(), way.second(), way.first(), way.second()].map((peer) =>
      peer.barrier(`barrier:${stage.path}`).wait(),
    );
    expect(await waiter!.wait(300)).toBe(false);
    await setter!.remove();
    expect(await Promise.all(waiters)).toEqual([true, true, true, true]);
  });

  it.each(stage.ways)('is set and removed by either side where $title', async (way) => {
    const [first, second] = [way.first(), way.second()].map((peer) =>
      peer.barrier(`barrier:${stage.path}`),
    );
    await first!.set();
    await second!.set();
    expect([await first!.wait(200), await second!.wait(200)]).toEqual([false, false]);
    await second!.remove();
    await first!.remove();
    expect([await first!.wait(), await second!.wait()]).toEqual([true, true]);
  });
});
