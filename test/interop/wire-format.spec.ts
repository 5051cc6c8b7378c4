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

  it.each(['latch#web-1', 'latch#', 'selector#web-1', 'selector#'])(
    'looks the same from both (%s)',
    async (recipe) => {
      const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
      const [node, java] = [
        stage.node.election(`${recipe}:${ours}`),
        stage.other.election(`${recipe}:${theirs}`),
      ];
      await Promise.all([node.start(), java.start()]);
      expect(await Promise.all([node.leads(), java.leads()])).toEqual([true, true]);
      const nodes = await nodesBelow(ours);
      expect(nodes).toHaveLength(1);
      expect(nodes).toEqual(await nodesBelow(theirs));
    },
  );

  it.each(['count', 'value'])('looks the same from both (shared %s)', async (kind) => {
    const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
    for (const [peer, path] of [
      [stage.node, ours],
      [stage.other, theirs],
    ] as const) {
      const [first, second] = [1, 2].map((n) => peer.sharedValue(`${kind}:${path}/${n}`));
      await first!.start('-7'); // the seed
      await second!.start('1');
      await second!.set('1000000');
      expect(await second!.trySet('-2147483648')).toBe(true);
    }
    const nodes = await nodesBelow(ours);
    expect(nodes).toHaveLength(2);
    expect(nodes).toEqual(await nodesBelow(theirs));
  });

  it.each(['long', 'integer'])('looks the same from both (atomic %s)', async (kind) => {
    const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
    for (const [peer, path] of [
      [stage.node, ours],
      [stage.other, theirs],
    ] as const) {
      const numbers = [1, 2, 3].map((n) => peer.atomicNumber(`${kind}:${path}/${n}`));
      await numbers[0]!.change('subtract', '2147483647');
      await numbers[1]!.initialize('258');
      await numbers[2]!.forceSet('-1');
    }
    const nodes = await nodesBelow(ours);
    expect(nodes).toHaveLength(3);
    expect(nodes).toEqual(await nodesBelow(theirs));
  });

  it('looks the same from both (barrier)', async () => {
    const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
    await stage.node.barrier(`barrier:${ours}/1`).set();
    await stage.other.barrier(`barrier:${theirs}/1`).set();
    const nodes = await nodesBelow(ours);
    expect(nodes).toHaveLength(1);
    expect(nodes).toEqual(await nodesBelow(theirs));
  });

  it('looks the same from both (double barrier)', async () => {
    const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
    expect(await stage.node.barrier(`doubleBarrier#1#m:${ours}`).enter()).toBe(true);
    expect(await stage.other.barrier(`doubleBarrier#1#m:${theirs}`).enter()).toBe(true);
    const nodes = await nodesBelow(ours);
    expect(nodes).toMatchObject([{ name: '/UUID' }, { name: '/ready' }]);
    expect(nodes).toEqual(await nodesBelow(theirs));
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

  /** What can be seen of the nodes, except their UUIDs. */
  async function nodesBelow(path: string): Promise<unknown[]> {
    const { connection } = stage.stranger;
    await connection.sync(path);
    const nodes = (await znodesBelow(path, connection)).map(async (node) => {
      const { data, stat } = await connection.getData(node);
      return {
        name: node.slice(path.length).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, 'UUID'),
        data: data.toString('latin1'),
        isEphemeral: stat.ephemeralOwner !== '0',
      };
    });
    return Promise.all(nodes);
  }
});
