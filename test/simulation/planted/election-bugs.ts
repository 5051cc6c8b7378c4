import { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import { LeaderTerm } from '../../../lib/core/election/leader-term.js';
import { LockHold } from '../../../lib/zookeeper/locks/lock-hold.js';
import { ZooKeeperElection } from '../../../lib/zookeeper/locks/zookeeper-election.js';
import { mocks, type PlantedBug, replace } from './plant.js';

const WITHOUT_NODE = /says that it is held without its node/;
const WITHOUT_NODE_OR_SESSION = /says that it is held without its node|outlives its session/;

/** Bugs of leaders. */
export const ELECTION_BUGS: readonly PlantedBug[] = [
  {
    bug: 'continues while the connection is interrupted',
    plant: () => mocks.spyOn(ZooKeeperElection.prototype, 'isHealthy', 'get').mockReturnValue(true),
    violation: /(leads although|begins to lead while) the connection is interrupted/,
    seeds: { latch: 3, selector: 3 },
  },
  {
    bug: 'does not ask the clock whether it leads',
    plant: () => mocks.spyOn(LeaderTerm.prototype, 'isExclusive').mockReturnValue(true),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { latch: 84, selector: 52 },
  },
  {
    bug: 'is not notified when another client deletes its node',
    plant: () => mocks.spyOn(LockHold.prototype, 'nodeLost').mockReturnValue(),
    violation: WITHOUT_NODE,
    seeds: { latch: 5, selector: 4 },
  },
  {
    bug: 'does not ask the servers after a reconnect whether it is still elected',
    plant: () => mocks.spyOn(LockHold.prototype, 'confirm').mockResolvedValue(),
    violation: /leads on a node that was gone before the connection was there/,
    seeds: { latch: 17 },
  },
  {
    bug: 'claims to lead until it learns otherwise',
    plant: () => {
      const leading = new WeakSet<LeaderLatch>();
      replace(LeaderLatch.prototype, 'onLeadership', (tell, latch) => (listener) => {
        latch.onLeadershipLost(() => leading.delete(latch));
        return tell((leadership) => {
          leading.add(latch);
          return listener(leadership);
        });
      });
      mocks.spyOn(LeaderLatch.prototype, 'hasLeadership', 'get').mockImplementation(function (
        this: LeaderLatch,
      ) {
        return leading.has(this);
      });
    },
    violation: /says that it leads although/,
    seeds: { latch: 7 },
  },
  {
    bug: 'releases its place while work runs under its leadership',
    plant: () =>
      replace(LeaderLatch.prototype, 'enter', (enter) => () => {
        const lease = enter();
        void lease?.hold.release(); // so neither it counts, nor the work under it
        if (lease) lease.hold.use = lease.hold.endUse = () => {};
        return lease;
      }),
    violation: /without its node|too many/,
    seeds: { latch: 46 },
  },
];
