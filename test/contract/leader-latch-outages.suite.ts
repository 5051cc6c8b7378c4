import { describe, expect, it } from '@jest/globals';
import { LockLostError } from '../../lib/core/errors/index.js';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { eventually } from '../support/eventually.js';
import { Client } from './client.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import type { Stage } from './stage.js';

const POLICIES = ['standard', 'session'] as const;
/** For a test in which servers start again, on a busy machine; milliseconds. */
const PATIENCE = 90_000;

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
      PATIENCE,
    );

    it(
      'stops leading at the end of its session, and stands again (Curator: testErrorPolicies)',
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
      PATIENCE,
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
      PATIENCE,
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
    PATIENCE,
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
    PATIENCE,
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
    PATIENCE,
  );

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
    PATIENCE,
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
    PATIENCE,
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
      PATIENCE,
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
      PATIENCE,
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
