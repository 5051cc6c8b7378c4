import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';
import { excludingSuite } from './support/excluding.suite.js';

describeWithCurator('A mutex', (stage) => {
  excludingSuite(stage, {
    lock: (path) => `mutex:${path}`,
    queue: (path) => path,
    nodesOfHolder: 1,
  });

  it.each(stage.ways)('has the same participants for both while $title', async (way) => {
    const lock = `mutex:${stage.path}`;
    const [holder, waiter] = [way.first().actor(), way.second().actor()];
    await holder.acquire(lock);
    const granted = waiter.acquire(lock);
    const queue = await stage.stranger.queue(stage.path, 2);
    const participants = queue.map((name) => `${stage.path}/${name}`);
    // Other actors are asked, because the waiter is busy.
    expect(await way.first().actor().participants(lock)).toEqual(participants);
    expect(await way.second().actor().participants(lock)).toEqual(participants);
    await holder.release(lock);
    await granted;
  });
});
