import { expect, it } from '@jest/globals';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

/** What a mutex on ZooKeeper asks for, and what not, where its nodes would not show it. */
export function mutexRequestsSuite(stage: () => Stage): void {
  it('remove the nodes of 20 waiters before the client closes, though its session would take them along', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(key).acquire();
    const waiters = await Promise.all(Array.from({ length: 20 }, () => stage().queue(mine)));
    await mine.locks.close();
    expect(mine.requests.filter(({ op }) => op === 'delete')).toHaveLength(nodesMadeBy(mine));
    await Promise.allSettled(waiters.map(({ lease }) => lease));
  });

  it('watch nothing for a tryAcquire', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(key).acquire();
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    expect(mine.requests.filter((request) => 'watch' in request && request.watch)).toEqual([]);
  });

  /** How many lock nodes it has asked for. */
  const nodesMadeBy = ({ requests }: Client) =>
    requests.filter((it) => it.op === 'create' && it.mode === CreateMode.EPHEMERAL_SEQUENTIAL)
      .length;
}
