import { expect, it } from '@jest/globals';
import { LockConnectionError, LockLostError } from '../../lib/core/errors/index.js';
import { Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/eventually.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import { nextEvent } from './next-event.js';
import type { Stage } from './stage.js';

/** Another client meddles with the znodes. */
export function leaderLatchFaultsSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it("reports the loss, and stands again behind the next leader, when an operator deletes the leader's node", async () => {
    const { mine, theirs, stranger } = stage();
    const [leader, other] = [await latches.leading(mine), await latches.queued(theirs)];
    const told = latches.toldBy(leader);
    const { leadership } = leader;
    const { signal } = leadership!;
    const token = await leadership!.fencingToken();
    const [node, second] = await latches.areQueued(2);
    await stranger.delete(node!);
    const next = await other.awaitLeadership();
    await eventually('its listener is called', () => told.length > 0);
    expect([leadership!.isHeld, leader.hasLeadership]).toEqual([false, false]);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(await next.fencingToken()).toBeGreaterThan(token);
    const queue = await latches.areQueued(2);
    expect(queue[0]).toBe(second);
    expect(queue[1]).not.toBe(node);
    expect(told).toEqual(['lost']);
    await other.close();
    await leader.awaitLeadership();
    expect(told).toEqual(['lost', 'leads']);
  });

  it('stands again, behind the others, when its node is deleted while it waits', async () => {
    const { mine, theirs, stranger } = stage();
    const leader = await latches.leading(mine);
    const [second, third] = [await latches.queued(theirs), await latches.queued(mine)];
    const [, victim, last] = await latches.areQueued(3);
    await stranger.delete(victim!);
    const queue = await eventually('it has another', async () => {
      const found = await latches.areQueued(3);
      return !found.includes(victim!) && found;
    });
    expect(queue[1]).toBe(last);
    expect([leader, second, third].map(({ hasLeadership }) => hasLeadership)).toEqual([
      true,
      false,
      false,
    ]);
    await leader.close();
    await third.awaitLeadership();
    await third.close();
    await second.awaitLeadership();
  });

  it('makes the directory again when it is deleted with all nodes, and one latch leads (Curator: testGetChildrenHitsNoNode)', async () => {
    const { mine, theirs, stranger, path } = stage();
    const all = [await latches.leading(mine), await latches.queued(theirs)];
    const made = (await stranger.exists(path))!.czxid;
    await eventually('the directory is gone', async () => {
      const nodes = (await stage().nodes()).map((node) => `${path}/${node}`);
      await Promise.all([...nodes, path].map((each) => stranger.delete(each))); // fails where a latch was faster
      return true;
    });
    await latches.areQueued(2);
    expect((await stranger.exists(path))!.czxid).not.toBe(made);
    for (const client of [mine, theirs]) await stage().caughtUp(client);
    const leader = await latches.leaderOf(all);
    await leader.close();
    await all.find((latch) => latch !== leader)!.awaitLeadership();
  });

  it('never leads beside another when the nodes of both are deleted, in either order (Curator: testResettingOfLeadershipAfterConcurrentLeadershipChange)', async () => {
    const { mine, stranger } = stage();
    const all = [await latches.leading(mine), await latches.queued(mine)];
    let most = 0;
    for (const latch of all)
      latch.onLeadership(() => {
        const leaders = all.filter(({ hasLeadership }) => hasLeadership);
        most = Math.max(most, leaders.length);
      });
    for (const order of [
      [0, 1],
      [1, 0],
      [0, 1],
    ]) {
      const queue = await latches.areQueued(2);
      await Promise.all(order.map((n) => stranger.delete(queue[n]!)));
      await eventually('both stand again', async () => {
        const found = await latches.areQueued(2);
        return !found.some((node) => queue.includes(node));
      });
      await latches.leaderOf(all);
    }
    expect(most).toBe(1);
  });

  it('reports that it may not list them, goes on trying, and leaves none (Curator: testAclErrorWithLeader)', async () => {
    const { mine, theirs, key } = stage();
    await (await latches.leading(mine)).close(); // makes the directory
    await permit(Permission.CREATE | Permission.DELETE | Permission.ADMIN);
    const failed = nextEvent(theirs.locks, 'failed');
    const latch = latches.started(theirs);
    const refused = expect(latch.awaitLeadership()).rejects;
    await refused.toMatchObject({ code: 'LOCK_CONNECTION', key, client: 'contract' });
    const { error, recipe } = await failed;
    expect(recipe).toBe('leaderLatch');
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(String(error)).toContain('NOAUTH');
    await expect(latch.participants()).rejects.toMatchObject({ code: 'NOAUTH' });
    expect([latch.state, latch.hasLeadership]).toEqual(['STARTED', false]);
    await permit(Permission.ALL);
    await eventually('it leads', () => latch.hasLeadership);
    await latches.areQueued(1);
  });

  it('closes at once when it may not list them', async () => {
    const { mine, theirs } = stage();
    await (await latches.leading(mine)).close();
    await permit(Permission.CREATE | Permission.DELETE | Permission.ADMIN);
    const [latch, other] = [latches.started(theirs), latches.started(theirs)];
    for (const each of [latch, other]) {
      const failure = each.awaitLeadership({ wait: 60_000 });
      await expect(failure).rejects.toBeInstanceOf(LockConnectionError);
    }
    await latch.close(); // it pauses
    await theirs.locks.close();
    await eventually('it knows', () => other.state === 'CLOSED');
    await permit(Permission.ALL);
    await latches.areQueued(0);
  });

  async function permit(perms: number): Promise<void> {
    const { stranger, path, mine } = stage();
    await stranger.setAcl(path, [{ perms, scheme: 'world', id: 'anyone' }]);
    await stage().caughtUp(mine);
  }
}
