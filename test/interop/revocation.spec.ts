import { expect, it } from '@jest/globals';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('A revocable lock', (stage) => {
  const RECIPES = ['mutex', 'write', 'read'];

  it.each(RECIPES)('held by Node (%s) is released when Java asks for it', async (recipe) => {
    const lock = `${recipe}:${stage.path}`;
    const [node, java] = [stage.node.actor(), stage.other.actor()];
    await node.acquire(lock);
    await node.makeRevocable(lock);
    const [holder] = await java.participants(lock);
    await java.revoke(holder!);
    expect(await node.revoked(lock)).toBe(true);
    await java.revoke(holder!);
    expect(await node.revoked(lock)).toBe(true);
    await node.release(lock);
    expect(await java.acquire(lock)).toBe(true);
  });

  it.each(RECIPES)('held by Java (%s) is released when Node asks for it', async (recipe) => {
    const lock = `${recipe}:${stage.path}`;
    const [node, java] = [stage.node.actor(), stage.other.actor()];
    await java.makeRevocable(lock);
    await java.acquire(lock);
    const [holder] = await node.participants(lock);
    await node.revoke(holder!);
    expect(await java.revoked(lock)).toBe(true);
    await java.release(lock);
    expect(await node.acquire(lock)).toBe(true);
  });

  it('reports a request of Java from before a listener was added', async () => {
    const lock = `mutex:${stage.path}`;
    const [node, java] = [stage.node.actor(), stage.other.actor()];
    await node.acquire(lock);
    const [holder] = await java.participants(lock);
    await java.revoke(holder!);
    await node.makeRevocable(lock);
    expect(await node.revoked(lock)).toBe(true);
  });

  it('reports a request of Java from the time when Node waited', async () => {
    const lock = `mutex:${stage.path}`;
    const [node, java] = [stage.node.actor(), stage.other.actor()];
    await java.acquire(lock);
    const granted = node.acquire(lock);
    await stage.stranger.queue(stage.path, 2);
    const [, waiter] = await java.participants(lock);
    await java.revoke(waiter!);
    await java.release(lock);
    expect(await granted).toBe(true);
    await node.makeRevocable(lock);
    expect(await node.revoked(lock)).toBe(true);
  });
});
