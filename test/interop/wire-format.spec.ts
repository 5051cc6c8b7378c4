import { expect, it } from '@jest/globals';
import { znodesBelow } from './support/znodes-below.js';
import type { Peer } from './support/peer.js';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('What stands for a lock', (stage, release) => {
  const recipes = ['mutex', 'read', 'write', 'semaphore#1', 'semaphoreMutex'];

  it.each(recipes)('looks the same from both (%s)', async (recipe) => {
    const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
    await stage.node.actor().acquire(`${recipe}:${ours}`);
    await stage.other.actor().acquire(`${recipe}:${theirs}`);
    expect(await nodesBelow(ours)).toEqual(await nodesBelow(theirs));
  });

  if (release !== '5.4.0')
    it('looks the same from both after a downgrade', async () => {
      const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
      await downgrade(stage.node, ours);
      await downgrade(stage.other, theirs);
      const nodes = await nodesBelow(ours);
      expect(nodes).toMatchObject([{ name: '/_c_UUID-__READ__0000000000' }]);
      expect(nodes).toEqual(await nodesBelow(theirs));
    });

  async function downgrade(peer: Peer, path: string): Promise<void> {
    const actor = peer.actor();
    await actor.acquire(`write:${path}`);
    await actor.acquire(`read:${path}`);
    await actor.release(`write:${path}`);
  }

  /** What can be seen of the nodes, but for their UUIDs. */
  async function nodesBelow(path: string): Promise<unknown[]> {
    const { connection } = stage.stranger;
    await connection.sync(path);
    const nodes = (await znodesBelow(path, connection)).map(async (node) => {
      const { data, stat } = await connection.getData(node);
      return {
        name: node
          .slice(path.length)
          .replace(/_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-/, '_c_UUID-'),
        data: data.toString('latin1'),
        isEphemeral: stat.ephemeralOwner !== '0',
      };
    });
    return Promise.all(nodes);
  }
});
