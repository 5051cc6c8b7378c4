import type { Clock } from '../../../lib/core/clock.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { LockHold } from '../../../lib/zookeeper/locks/lock-hold.js';
import { GuaranteedDelete } from '../../../lib/zookeeper/nodes/guaranteed-delete.js';
import { ProtectedNode } from '../../../lib/zookeeper/nodes/protected-node.js';
import { SessionMirror } from '../../../lib/zookeeper/session-worker/session-mirror.js';
import {
  StandbySession,
  type StandbySessionSettings,
} from '../../../lib/zookeeper/session-worker/standby-session.js';
import { FollowerLink } from '../ensemble.js';
import { mocks, type PlantedBug, replace } from './plant.js';

const WITHOUT_NODE = /says that it is held without its node/;
const WITHOUT_NODE_OR_SESSION = /says that it is held without its node|outlives its session/;

/** Bugs of what a client believes of its session and its nodes. */
export const SESSION_BUGS: readonly PlantedBug[] = [
  {
    bug: 'does not watch what it holds for a long time',
    plant: () => mocks.spyOn(LockHold.prototype, 'watch').mockReturnValue(),
    violation: WITHOUT_NODE,
    seeds: { mutex: 24, 'read/write lock': 5, semaphore: 3, 'semaphore mutex': 3 },
  },
  {
    bug: 'accepts the answer of a server that is cut off as proof that its session lives',
    plant: () =>
      // followers answer `sync` as they answer reads: so an answered read counts as a proof
      replace(FollowerLink.prototype, 'request', (request) => (sent, reply) => {
        if (sent.op !== 'sync') return request(sent, reply);
        request({ op: 'exists', path: '/', watch: false }, (rc) => reply(rc));
      }),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: {
      ...{ mutex: 22, 'read/write lock': 51, semaphore: 107, 'semaphore mutex': 429 },
      ...{ latch: 309, selector: 1740 },
    },
  },
  {
    bug: 'ends the session that it keeps for another thread',
    plant: () =>
      replace(StandbySession.prototype, 'receive', (receive, standby) => {
        const { settings } = standby as unknown as { settings: StandbySessionSettings };
        const open = settings.transport.open.bind(settings.transport);
        settings.transport.open = (options, listener) => {
          const link = open(options, listener);
          return Object.assign(link, { detach: () => link.close() });
        };
        return receive;
      }),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'kept session': 13 },
  },
  {
    bug: 'takes an answer to the thread that keeps its session for a proof that the leader knows it',
    plant: () =>
      replace(SessionMirror.prototype, 'open', (open, mirror) => (port, connection) => {
        const { clock } = mirror as unknown as { clock: Clock };
        const next = () => {
          const proof = port.next();
          return proof && { ...proof, sentAt: clock.now() };
        };
        open({ ...port, next }, connection);
      }),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'kept session': 1747 },
  },
  {
    bug: 'forgets nodes with an unanswered create',
    plant: () =>
      replace(
        GuaranteedDelete.prototype,
        'remove',
        (remove) => (node) => (node.path === undefined ? Promise.resolve(false) : remove(node)),
      ),
    violation: /stands in the way|leaves its node behind/,
    seeds: {
      ...{ mutex: 1, 'read/write lock': 1, semaphore: 1, 'semaphore mutex': 1 },
      ...{ latch: 1, selector: 1 },
    },
  },
  {
    bug: 'is granted to a node of an older session',
    plant: () => {
      mocks.spyOn(ProtectedNode.prototype, 'belongsTo').mockReturnValue(true);
      mocks.spyOn(ProtectedNode.prototype, 'mayExist', 'get').mockImplementation(function (
        this: ProtectedNode,
      ) {
        return this.path !== undefined || this.isUncertain;
      });
    },
    violation: /granted to a node of another session/,
    seeds: { mutex: 11, 'read/write lock': 11, latch: 4, selector: 6 },
  },
  {
    bug: 'does not warn when the servers are silent',
    plant: () => replace(SessionConnection.prototype, 'onDoubt', () => () => {}),
    violation: /lost without a warning/,
    seeds: { mutex: 3, 'kept session': 3 },
  },
];
