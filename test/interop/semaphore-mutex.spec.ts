import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';
import { excludingSuite } from './support/excluding.suite.js';

describeWithCurator('A semaphore mutex', (stage) => {
  excludingSuite(stage, {
    lock: (path) => `semaphoreMutex:${path}`,
    queue: (path) => `${path}/locks`,
    nodesOfHolder: 0,
  });

  it.each(stage.ways)(
    'is a semaphore of one permit to the other side while $title',
    async (way) => {
      await way.first().actor().acquire(`semaphoreMutex:${stage.path}`);
      const second = way.second().actor();
      expect(await second.acquire(`semaphore#1:${stage.path}`, { wait: 300 })).toBe(false);
    },
  );
});
