import { expect, it, jest } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockLostError } from '../../lib/core/errors/index.js';
import type { Leadership } from '../../lib/core/election/leader-term.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import type { Stage } from './stage.js';

const EACH = 4;

/** What the listeners are notified of, and when. */
export function leaderLatchListenersSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it('of each leadership and each loss, and not of its own closing (Curator: testCallbackSanity)', async () => {
    const { mine, theirs } = stage();
    const turns = Array.from({ length: EACH }, (_, n) => leadTwice(n % 2 ? mine : theirs));
    for (const told of await Promise.all(turns)) expect(told).toEqual(['leads', 'lost', 'leads']);
  });

  it('outside of the locks of the callers that start or close it', async () => {
    const { mine, key } = stage();
    const latch = latches.of(mine);
    const scopes: unknown[] = [];
    latch.onLeadership(() => scopes.push(currentLease()));
    latch.onLeadershipLost(() => scopes.push(currentLease()));
    await mine.locks.mutex(`${key}-of-the-starter`).using(async () => {
      mine.locks.on('acquired', () => scopes.push(currentLease())); // of the election itself
      latch.start();
      await latch.awaitLeadership();
      await latch.close('NOTIFY_LEADER');
    });
    expect(scopes).toEqual([undefined, undefined, undefined]);
  });

  it('of its own closing, where it is closed with NOTIFY_LEADER (Curator: testCallbackNotifyLeader)', async () => {
    const { mine, theirs } = stage();
    const turns = Array.from({ length: EACH }, (_, n) =>
      leadTwice(n % 2 ? mine : theirs, n < 2 ? 'SILENT' : 'NOTIFY_LEADER'),
    );
    const silent = ['leads', 'lost', 'leads'];
    const notified = [...silent, 'lost'];
    expect(await Promise.all(turns)).toEqual([silent, silent, notified, notified]);
  });

  it('of no closing where it did not lead (Curator: testCallbackDontNotify)', async () => {
    const { mine, theirs } = stage();
    const [leader, waiting] = [await latches.leading(mine), await latches.queued(theirs)];
    const [byLeader, byWaiting] = [latches.toldBy(leader), latches.toldBy(waiting)];
    await waiting.close('NOTIFY_LEADER');
    await leader.close('NOTIFY_LEADER');
    await leader.close('NOTIFY_LEADER');
    expect([byLeader, byWaiting]).toEqual([['lost'], []]);
    expect([leader.state, waiting.state]).toEqual(['CLOSED', 'CLOSED']);
  });

  it('of the leadership, and of the reason of its loss, once its state shows it', async () => {
    const { mine, stranger, key } = stage();
    const latch = latches.of(mine);
    const begun = new Deferred<Leadership>();
    const ended = new Deferred<LockLostError | undefined>();
    latch.onLeadership((leadership) => {
      expect(latch.leadership).toBe(leadership);
      begun.resolve(leadership);
    });
    latch.onLeadershipLost((error) => {
      expect([latch.hasLeadership, latch.leadership]).toEqual([false, undefined]);
      ended.resolve(error);
    });
    latch.start();
    const { signal } = await begun.promise;
    const [node] = await latches.areQueued(1);
    await stranger.delete(node!);
    const error = await ended.promise;
    expect(error).toBeInstanceOf(LockLostError);
    expect(error).toMatchObject({
      key,
      client: 'contract',
      why: 'its node was deleted',
    });
    expect(signal.reason).toBe(error);
    await latch.awaitLeadership(); // by another node
  });

  it('as long as they listen, and not of the leadership that there is already', async () => {
    const { mine } = stage();
    const latch = await latches.leading(mine);
    const told: string[] = [];
    const stops = [
      latch.onLeadership(() => told.push('first leads')),
      latch.onLeadershipLost(() => told.push('first lost')),
    ];
    latch.onLeadership(() => told.push('second leads'));
    latch.onLeadershipLost(() => told.push('second lost'));
    await evict();
    await eventually('the listeners are called', () => told.includes('second leads'));
    expect(told).toEqual(['first lost', 'second lost', 'first leads', 'second leads']);
    for (const stop of stops) stop();
    told.length = 0;
    await evict();
    await eventually('the second listener is called again', () => told.includes('second leads'));
    expect(told).toEqual(['second lost', 'second leads']);
  });

  it('and warns of those that fail, which has no other effect', async () => {
    const { mine, theirs } = stage();
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const latch = latches.of(mine);
      latch.onLeadership(() => {
        throw new Error('it threw');
      });
      latch.onLeadership(() => Promise.reject(new Error('it rejected')));
      latch.onLeadershipLost(() => {
        throw new Error('it threw again');
      });
      const told = latches.toldBy(latch);
      latch.start();
      await latch.awaitLeadership();
      const next = await latches.queued(theirs);
      await latch.close('NOTIFY_LEADER');
      await next.awaitLeadership();
      expect(told).toEqual(['leads', 'lost']);
      const warnings = warn.mock.calls.map(([message]) => String(message)).sort();
      const about = `A listener of the election ${JSON.stringify(stage().key)} failed: Error: `;
      const reasons = ['it rejected', 'it threw', 'it threw again'];
      expect(warnings).toEqual(reasons.map((reason) => about + reason));
    } finally {
      warn.mockRestore();
    }
  });

  /** Another client deletes the leader's node. */
  async function evict(): Promise<void> {
    const [node] = await stage().queueIn(stage().path);
    await stage().stranger.delete(node!);
  }

  /** Starts a latch; its node is deleted when it leads first, and it closes when it leads again. Returns what it reports. */
  async function leadTwice(
    client: Client,
    mode?: 'SILENT' | 'NOTIFY_LEADER',
  ): Promise<readonly string[]> {
    const latch = latches.of(client);
    const told = latches.toldBy(latch);
    const closed = new Deferred();
    let hasLed = false;
    latch.onLeadership(async () => {
      if (hasLed) return closed.resolve(latch.close(mode));
      hasLed = true;
      return evict();
    });
    latch.start();
    await closed.promise;
    expect(latch.state).toBe('CLOSED');
    return told;
  }
}
