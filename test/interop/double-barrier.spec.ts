import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';
import { doubleBarrierRound } from './support/double-barrier-round.js';

describeWithCurator('A double barrier', (stage) => {
  const member = (name: string, quantity: number) =>
    `doubleBarrier#${quantity}#${name}:${stage.path}`;

  it.each(stage.ways)(
    'blocks both until all have entered, and until all have left, where $title',
    async (way) => {
      const members = [way.first(), way.second(), way.first(), way.second()].map((peer, n) =>
        peer.barrier(member(`m${n}`, 4)),
      );
      await doubleBarrierRound(members, stage.path, stage.stranger);
    },
  );

  it.each(stage.ways)('admits no member while one is missing where $title', async (way) => {
    const [first, second] = [way.first(), way.second()].map((peer, n) =>
      peer.barrier(member(`m${n}`, 3)),
    );
    const entered = first!.enter(2_000);
    expect(await second!.enter(300)).toBe(false);
    expect(await entered).toBe(false);
    // A Curator member that has stopped waiting stays counted for as long as its session lives; ours does not.
    const [left] = await stage.stranger.queue(stage.path, 1);
    const stat = await stage.stranger.connection.exists(`${stage.path}/${left}`);
    expect(stat!.ephemeralOwner).toBe(await stage.other.actor().session());
  });
});
