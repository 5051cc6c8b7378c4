import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { LeaderTerm } from '../../lib/core/election/leader-term.js';
import { GuaranteedDelete } from '../../lib/zookeeper/nodes/guaranteed-delete.js';
import { LockHold } from '../../lib/zookeeper/locks/lock-hold.js';
import { ProtectedNode } from '../../lib/zookeeper/nodes/protected-node.js';
import { ZooKeeperElection } from '../../lib/zookeeper/locks/zookeeper-election.js';
import { LatchUser } from './elections/latch-user.js';
import { SelectorUser } from './elections/selector-user.js';
import { simulateElection } from './elections/simulate-election.js';
import { answerSyncBySelf } from './ensemble/answer-sync-by-self.js';
import { firstAccusation } from './first-accusation.js';

const latches = (seed: number) => simulateElection(seed, (options) => new LatchUser(options));
const selectors = (seed: number) => simulateElection(seed, (options) => new SelectorUser(options));

jest.setTimeout(600_000); // some need a hundred schedules

/** That the schedules find nothing counts only if they do find planted bugs. */
describe('The simulation of elections catches', () => {
  afterEach(() => void jest.restoreAllMocks());

  describe.each([
    ['latch', latches],
    ['selector', selectors],
  ])('a %s', (_, run) => {
    it('that leads on a node of an older session', async () => {
      jest.spyOn(ProtectedNode.prototype, 'belongsTo').mockReturnValue(true);
      jest.spyOn(ProtectedNode.prototype, 'mayExist', 'get').mockImplementation(function (
        this: ProtectedNode,
      ) {
        return this.path !== undefined || this.isUncertain;
      });
      expect(await firstAccusation(run, /granted to a node of another session/)).toBeDefined();
    });

    it('that continues while the connection is interrupted', async () => {
      jest.spyOn(ZooKeeperElection.prototype, 'isHealthy', 'get').mockReturnValue(true);
      const violation = /(leads although|begins to lead while) the connection is interrupted/;
      expect(await firstAccusation(run, violation)).toBeDefined();
    });

    it('that accepts the answer of a server that is cut off as proof that its session lives', async () => {
      answerSyncBySelf();
      const violation = /says that it is held without its node|outlives its session/;
      expect(await firstAccusation(run, violation, 1_000)).toBeDefined();
    });

    it('that does not ask the clock whether it leads', async () => {
      jest.spyOn(LeaderTerm.prototype, 'isExclusive').mockReturnValue(true);
      const violation = /says that it is held without its node|outlives its session/;
      expect(await firstAccusation(run, violation)).toBeDefined();
    });

    it('that forgets a node with an unanswered create when it is closed', async () => {
      const remove = GuaranteedDelete.prototype.remove;
      jest.spyOn(GuaranteedDelete.prototype, 'remove').mockImplementation(function (
        this: GuaranteedDelete,
        node,
      ) {
        return node.path === undefined ? Promise.resolve(false) : remove.call(this, node);
      });
      expect(await firstAccusation(run, /stands in the way/)).toBeDefined();
    });

    it('that is not notified when another client deletes its node', async () => {
      jest.spyOn(LockHold.prototype, 'nodeLost').mockReturnValue();
      expect(await firstAccusation(run, /says that it is held without its node/)).toBeDefined();
    });
  });

  describe('a latch', () => {
    it('that does not ask the servers after a reconnect whether it is still elected', async () => {
      jest.spyOn(LockHold.prototype, 'confirm').mockResolvedValue();
      const violation = /leads on a node that was gone before the connection was there/;
      expect(await firstAccusation(latches, violation)).toBeDefined();
    });

    it('that claims to lead until it learns otherwise', async () => {
      const leading = new WeakSet<LeaderLatch>();
      const tell = LeaderLatch.prototype.onLeadership;
      jest.spyOn(LeaderLatch.prototype, 'onLeadership').mockImplementation(function (
        this: LeaderLatch,
        listener,
      ) {
        this.onLeadershipLost(() => leading.delete(this));
        return tell.call(this, (leadership) => {
          leading.add(this);
          return listener(leadership);
        });
      });
      jest.spyOn(LeaderLatch.prototype, 'hasLeadership', 'get').mockImplementation(function (
        this: LeaderLatch,
      ) {
        return leading.has(this);
      });
      expect(await firstAccusation(latches, /says that it leads although/)).toBeDefined();
    });

    it('that releases its place while work runs under its leadership', async () => {
      const enter = LeaderLatch.prototype.enter;
      jest.spyOn(LeaderLatch.prototype, 'enter').mockImplementation(function (this: LeaderLatch) {
        const lease = enter.call(this);
        void lease?.hold.release(); // so it does not count
        return lease;
      });
      expect(await firstAccusation(latches, /without its node|too many/)).toBeDefined();
    });
  });
});
