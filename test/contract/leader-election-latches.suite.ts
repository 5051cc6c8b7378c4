import { expect, it } from '@jest/globals';
import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { Leadership } from '../../lib/core/election/leader-term.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/** Leader latches on Redis: the interface is that of ZooKeeper, what is known of the others is not. */
export function leaderElectionLatchesSuite(stage: () => LockStage): void {
  const leads = ({ hasLeadership }: LeaderLatch) => hasLeadership;

  it('has one leader, and the next one when that has left, with a greater token', async () => {
    const { mine, theirs, key } = stage();
    const clients = [mine, theirs, await stage().client(), mine];
    const latches = clients.map(({ locks }, n) => locks.leaderLatch(key, { id: `candidate ${n}` }));
    for (const latch of latches) latch.start();
    const tokens: bigint[] = [];
    for (let left = latches.length; left > 0; left--) {
      const leader = await eventually('one leads', () => latches.find(leads));
      expect(latches.filter(leads)).toHaveLength(1);
      expect([leader.state, leader.leadership!.isHeld]).toEqual(['STARTED', true]);
      tokens.push(await leader.leadership!.fencingToken());
      const { leadership } = leader;
      await leader.close();
      expect([leader.hasLeadership, leadership!.isHeld]).toEqual([false, false]);
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
    expect(await stage().contenders()).toEqual([]);
  });

  it('notifies a listener of the beginning and of the end', async () => {
    const { mine, key } = stage();
    const latch = mine.locks.leaderLatch(key);
    const told: (Leadership | string)[] = [];
    latch.onLeadership((leadership) => told.push(leadership));
    latch.onLeadershipLost((error) => told.push(error === undefined ? 'closed' : 'lost'));
    latch.start();
    const leadership = await latch.awaitLeadership();
    await latch.close('NOTIFY_LEADER');
    expect(told).toEqual([leadership, 'closed']);
  });

  it('lets one wait for the leadership as one waits for a lock', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    expect(await first!.awaitLeadership({ wait: 10_000 })).toBe(first!.leadership);
    second!.start();
    const late = second!.awaitLeadership({ wait: 50 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    const abort = new AbortController();
    const aborted = second!.awaitLeadership({ signal: abort.signal });
    abort.abort();
    await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
    expect([first!.hasLeadership, second!.hasLeadership]).toEqual([true, false]);

    const waiting = second!.awaitLeadership();
    await first!.close();
    expect((await waiting).isHeld).toBe(true);
    await expect(first!.awaitLeadership()).rejects.toBeInstanceOf(ElectionClosedError);
    const closing = [second!.close(), second!.close()];
    await Promise.all(closing);
    expect(() => second!.start()).toThrow(ElectionClosedError);
    expect(await stage().contenders()).toEqual([]);
  });

  it('reports the leader as the only participant', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }, n) =>
      locks.leaderLatch(key, { id: `"Zürich" ⚖️ ${n}` }),
    );
    expect([await second!.participants(), await second!.leader()]).toEqual([[], undefined]);
    first!.start();
    await first!.awaitLeadership();
    const leader = { id: '"Zürich" ⚖️ 0', isLeader: true };
    await eventually('all know', async () => (await second!.leader())?.id === leader.id);
    second!.start();
    for (const latch of [first!, second!]) {
      expect(await latch.participants()).toEqual([leader]);
      expect(await latch.leader()).toEqual(leader);
    }
    await Promise.all([first!.close(), second!.close()]);
    await eventually('no participant leads', async () => (await second!.leader()) === undefined);
  });

  it('loses its leader when the client of the leader closes, and gets another one', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    const lost: unknown[] = [];
    first!.onLeadershipLost((error) => lost.push(error?.code));
    first!.start();
    const leadership = await first!.awaitLeadership();
    second!.start();
    const closing = mine.locks.close();
    expect([first!.hasLeadership, leadership.signal.aborted]).toEqual([false, true]);
    await closing;
    await second!.awaitLeadership({ wait: 20_000 });
    await eventually('it is closed', () => first!.state === 'CLOSED');
    expect(lost).toEqual(['LOCK_LOST']);
    await expect(first!.awaitLeadership()).rejects.toThrow(LockClientClosedError);
    await first!.close();
  });

  it('ends for a waiting latch when its client closes', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    await first!.awaitLeadership();
    second!.start();
    const refused = expect(second!.awaitLeadership()).rejects.toThrow(LockClientClosedError);
    await theirs.locks.close();
    await refused;
    await eventually('it is closed', () => second!.state === 'CLOSED');
    expect(first!.hasLeadership).toBe(true);
  });

  it('refuses wrong options, and the key of another kind', () => {
    const { mine, key } = stage();
    const { locks } = mine;
    expect(() => locks.leaderLatch('')).toThrow(LockKeyError);
    expect(() => locks.leaderLatch(key, { id: 7 as never })).toThrow(LockOptionsError);
    const policy = { errorPolicy: '' as never };
    expect(() => locks.leaderLatch(key, policy)).toThrow(LockOptionsError);
    const selectorOf = (lead: unknown) => () => locks.leaderSelector(`${key}.s`, lead as never);
    expect(selectorOf('lead')).toThrow(LockOptionsError);
    mine.lock(`${key}.lock`);
    expect(() => locks.leaderLatch(`${key}.lock`)).toThrow(LockKeyError);
    locks.leaderLatch(key);
    expect(() => locks.leaderSelector(key, () => {})).toThrow(LockKeyError);
  });
}
