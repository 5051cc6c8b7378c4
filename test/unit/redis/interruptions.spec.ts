import { describe, expect, it } from '@jest/globals';
import { FakeNode } from './fake-node.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { connectionOf } from './connection-of.js';

/** A cluster with so many nodes. */
function clusterOf(count: number) {
  const nodes = Array.from({ length: count }, () => new FakeNode());
  const cluster = Object.assign(new FakeNode(), {
    isCluster: true,
    slots: [],
    nodes: () => nodes,
    duplicate: () => cluster,
  });
  return { cluster, nodes };
}

describe('The interruptions of a connection', () => {
  it('are counted from the start, each time that it closes', () => {
    const node = new FakeNode();
    const connection = connectionOf(node, new VirtualClock());
    expect(connection.interruptions.count).toBe(0);
    node.becomes('ready');
    expect(connection.interruptions.count).toBe(0);
    node.becomes('close');
    expect(connection.interruptions.count).toBe(1);
    node.becomes('ready');
    node.becomes('close');
    expect(connection.interruptions.count).toBe(2);
  });

  it('are known before a command that is rejected because of them', async () => {
    const node = new FakeNode();
    const connection = connectionOf(node, new VirtualClock());
    const counted = connection.read('get', 'a').catch(() => connection.interruptions.count);
    node.becomes('close');
    node.last.fail();
    expect(await counted).toBe(1);
  });

  it('of a cluster are those of any node: one that was there, came later, or goes', () => {
    const { cluster, nodes } = clusterOf(2);
    const connection = connectionOf(cluster, new VirtualClock());
    nodes[1]!.becomes('close');
    expect(connection.interruptions.count).toBe(1);

    const another = new FakeNode();
    cluster.emit('+node', another);
    expect(connection.interruptions.count).toBe(1);
    another.becomes('close');
    expect(connection.interruptions.count).toBe(2);

    cluster.emit('-node', nodes[0]);
    expect(connection.interruptions.count).toBe(3);
  });
});
