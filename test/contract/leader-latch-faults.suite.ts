import { describe, expect, it } from '@jest/globals';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { LockConnectionError, LockLostError } from '../../lib/core/errors/index.js';
import { Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/time.js';
import { LeaderLatchStage } from './backends/recipes.js';
import { nextEvent } from './backends/stage.js';
import { Client, type Stage } from './backends/zookeeper.js';

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

const POLICIES = ['standard', 'session'] as const;
/** For a test in which servers start again, on a busy machine; milliseconds. */
const LONG_PATIENCE = 90_000;

/** The connection is interrupted, or the session ends. */
export function leaderLatchOutagesSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  describe.each(POLICIES)('with the error policy %j', (errorPolicy) => {
    it(
      'leads after an outage as before, by the same node (Curator: testSessionErrorPolicy)',
      async () => {
        const { mine, theirs } = stage();
        const latch = await latches.leading(mine, { errorPolicy });
        const other = await latches.queued(theirs, { errorPolicy });
        const [told, byOther] = [latches.toldBy(latch), latches.toldBy(other)];
        const queue = await latches.areQueued(2);
        const { leadership } = latch;
        const { signal } = leadership!;
        const token = await leadership!.fencingToken();
        const isOver = errorPolicy === 'standard';

        await stage().down();
        expect([latch.hasLeadership, signal.aborted]).toEqual([!isOver, isOver]);
        expect(told).toEqual(isOver ? ['lost'] : []);
        if (isOver) {
          expect(signal.reason).toBeInstanceOf(LockLostError);
          expect(signal.reason.why).toMatch(/^the connection is SUSPENDED \(.+\)$/);
        }

        await stage().up();
        const again = await latch.awaitLeadership();
        expect(told).toEqual(isOver ? ['lost', 'leads'] : []);
        expect(again === leadership).toBe(!isOver);
        expect(leadership!.isHeld).toBe(!isOver);
        expect(await again.fencingToken()).toBe(token);
        expect(await latches.areQueued(2)).toEqual(queue);
        expect([other.hasLeadership, byOther]).toEqual([false, []]);
      },
      LONG_PATIENCE,
    );

    it(
      'stops leading at the end of its session, and stands again (Curator: TestLeaderLatch testErrorPolicies)',
      async () => {
        const { mine, theirs } = stage();
        const latch = await latches.leading(mine, { errorPolicy });
        const other = await latches.queued(theirs, { errorPolicy });
        const told = latches.toldBy(latch);
        const [node, second] = await latches.areQueued(2);
        await stage().expire(mine);
        // An attempt to end the session may come too late: with `standard` it has then lost, and got back, its leadership.
        const ended = told.splice(0);
        expect(ended.at(-1)).toBe('lost');
        if (errorPolicy !== 'standard') expect(ended).toEqual(['lost']);
        await other.awaitLeadership();
        const queue = await eventually('it stands again', async () => {
          const found = await latches.areQueued(2);
          return !found.includes(node!) && found;
        });
        expect(queue[0]).toBe(second);
        await other.close();
        await latch.awaitLeadership();
        expect(told).toEqual(['leads']);
      },
      LONG_PATIENCE,
    );

    it(
      'does not lead after an outage when its node is gone',
      async () => {
        const { mine, theirs, stranger } = stage();
        const latch = await latches.leading(mine, { errorPolicy });
        const other = await latches.queued(theirs, { errorPolicy });
        const told = latches.toldBy(latch);
        const [node] = await latches.areQueued(2);
        await stage().down();
        const deleted = eventually(
          'the node is deleted',
          async () => {
            await stranger.delete(node!); // with the first request that goes out again
            return true;
          },
          { within: 30_000 },
        );
        await stage().up();
        await deleted;
        await other.awaitLeadership();
        await eventually('it stands again', async () => (await latches.areQueued(2))[1] !== node);
        expect(latch.hasLeadership).toBe(false);
        expect(told.at(-1)).toBe('lost');
      },
      LONG_PATIENCE,
    );
  });

  it(
    'has no leader without servers, and then one (Curator: testLostConnection)',
    async () => {
      const { mine, theirs } = stage();
      const all: LeaderLatch[] = [];
      for (const client of [mine, theirs, mine, theirs, mine])
        all.push(await latches.queued(client));
      await stage().down();
      expect(all.filter(({ hasLeadership }) => hasLeadership)).toEqual([]);
      await stage().up();
      expect(await latches.leaderOf(all)).toBe(all[0]);
      await stage().expire(mine);
      expect(await latches.leaderOf(all)).toBe(all[1]);
      await latches.areQueued(5);
    },
    LONG_PATIENCE,
  );

  it(
    'never leads beside another when a client ends its session early (Curator: testSessionInterruptionDoNotCauseBrainSplit)',
    async () => {
      const { mine, theirs } = stage();
      const [leader, other] = [await latches.leading(mine), await latches.queued(theirs)];
      const [told, byOther] = [latches.toldBy(leader), latches.toldBy(other)];
      const [old] = await latches.areQueued(2);
      mine.connection.session!.end('given up by the test');
      expect([leader.hasLeadership, told]).toEqual([false, ['lost']]);
      await other.awaitLeadership();
      await eventually('it stands again', async () => (await latches.areQueued(2))[0] !== old);
      await stage().caughtUp(mine);
      expect([leader.hasLeadership, told]).toEqual([false, ['lost']]);
      expect([other.hasLeadership, byOther]).toEqual([true, ['leads']]);
    },
    LONG_PATIENCE,
  );

  it(
    'does not lead by its old node when its session ends while it waits',
    async () => {
      const { mine, theirs } = stage();
      const [leader, other] = [await latches.leading(mine), await latches.queued(theirs)];
      const [, old] = await latches.areQueued(2);
      await stage().expire(theirs);
      await eventually('it stands again', async () => !(await latches.areQueued(2)).includes(old!));
      await leader.close();
      const leadership = await other.awaitLeadership();
      const [node] = await latches.areQueued(1);
      const { czxid, ephemeralOwner } = (await stage().stranger.exists(node!))!;
      expect(await leadership.fencingToken()).toBe(BigInt(czxid));
      expect(ephemeralOwner).toBe(theirs.connection.session!.id);
    },
    LONG_PATIENCE,
  );
}

/** What a client does that reaches no server. */
export function leaderLatchOfflineSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it(
    'closes at once while there are no servers, and leaves nothing when they are back',
    async () => {
      const { mine, theirs } = stage();
      const [leader, waiting] = [await latches.leading(mine), await latches.queued(theirs)];
      await stage().down();
      await Promise.all([leader.close('NOTIFY_LEADER'), waiting.close()]);
      expect([leader.state, waiting.state]).toEqual(['CLOSED', 'CLOSED']);
      await stage().up();
      await latches.areQueued(0);
    },
    LONG_PATIENCE,
  );

  it(
    'closes at once while the servers are silent',
    async () => {
      const { mine, theirs } = stage();
      const [leader, waiting] = [await latches.leading(mine), await latches.queued(theirs)];
      stage().freeze();
      const starting = latches.started(theirs);
      try {
        await Promise.all([waiting.close(), starting.close()]);
        void leader.close(); // which waits for an answer to the deletion
        expect(leader.hasLeadership).toBe(false);
      } finally {
        stage().thaw();
      }
      await leader.close();
      await latches.areQueued(0);
    },
    LONG_PATIENCE,
  );

  describe('without a connection at its start', () => {
    it(
      'leads as soon as there is one (Curator: testNoServerAtStart)',
      async () => {
        await stage().down();
        const client = await offline();
        try {
          const latch = latches.of(client);
          const told = latches.toldBy(latch);
          latch.start();
          expect(latch.state).toBe('STARTED');
          await stage().up();
          await latch.awaitLeadership();
          expect(told).toEqual(['leads']);
          await latches.areQueued(1);
        } finally {
          await client.locks.close();
        }
      },
      LONG_PATIENCE,
    );

    it(
      'closes without having sent anything (Curator: testProperCloseWithoutConnectionEstablished)',
      async () => {
        await stage().down();
        const client = await offline();
        try {
          const latch = latches.started(client);
          const waiting = expect(latch.awaitLeadership()).rejects.toMatchObject({
            code: 'LOCK_ELECTION_CLOSED',
          });
          await latch.close();
          await waiting;
          await stage().up();
          await eventually('it is connected', () => client.connection.isConnected, {
            within: 20_000,
          });
          expect(client.requests).toEqual([]);
          expect(await stage().nodes()).toEqual([]);
        } finally {
          await client.locks.close();
        }
      },
      LONG_PATIENCE,
    );

    /** A client that has begun to connect. */
    async function offline(): Promise<Client> {
      const { transport, servers } = await stage().backend.connect();
      const client = new Client(transport, servers, {});
      client.connection.start();
      return client;
    }
  });
}
