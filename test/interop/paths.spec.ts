import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';
import { startNodePeer } from './support/start-node-peer.js';

describeWithCurator('The path of a lock', (stage) => {
  it('is that of a key below the base path, percent-encoded', async () => {
    const [node, java] = [stage.node.actor(), stage.other.actor()];
    expect(await node.acquire('mutex:order:7')).toBe(true);
    expect(await java.acquire('mutex:/locks/order%3A7', { wait: 300 })).toBe(false);
    await node.release('mutex:order:7');
    expect(await java.acquire('mutex:/locks/order%3A7')).toBe(true);
  });

  it('is below the chroot of the connect string', async () => {
    const peer = await startNodePeer(`${stage.connectString}/shop`);
    const [node, java] = [peer.actor(), stage.other.actor()];
    expect(await node.acquire('mutex:/seats')).toBe(true);
    expect(await java.acquire('mutex:/shop/seats', { wait: 300 })).toBe(false);
    await node.release('mutex:/seats');
    expect(await java.acquire('mutex:/shop/seats')).toBe(true);
    await peer.stop();
  });
});
