import { LinePlace, WaitingLines } from '../../../lib/core/collections/waiting-line.js';
import { Tenure } from '../../../lib/core/hand-off.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import { KeptLock } from '../../../lib/core/kept-lock.js';
import { SharedHold } from '../../../lib/core/shared-hold.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type {
  Watcher,
  WatchEvent,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { writeGuarded } from '../../../lib/zookeeper/locks/guarded-operations.js';
import { LockHold } from '../../../lib/zookeeper/locks/lock-hold.js';
import { NextCaller } from '../../../lib/zookeeper/locks/next-caller.js';
import { OwnedNode } from '../../../lib/zookeeper/nodes/owned-node.js';
import type { RecipeContext } from '../../../lib/zookeeper/recipe-context.js';
import { mocks, type PlantedBug, replace } from './plant.js';

const WITHOUT_NODE = /says that it is held without its node/;
const WITHOUT_NODE_OR_SESSION = /says that it is held without its node|outlives its session/;

const contextOf = (hold: LockHold) => (hold as unknown as { context: RecipeContext }).context;

/** A caller who has not had its turn stays in the line for ever. */
function keepPlaces(): void {
  replace(LinePlace.prototype, 'leave', (leave, place) => () => {
    if (place.isFirst) leave();
  });
}

/** Makes a client hear only of some of what happens to the children of nodes that it watches. */
function hearOfChildren(isHeard: (event: WatchEvent) => boolean): void {
  replace(SessionConnection.prototype, 'getChildren', (list) => (path, watcher) => {
    const partial: Watcher = (event) => void (isHeard(event) && watcher!(event));
    return list(path, watcher && partial);
  });
}

/** Bugs of what several callers in a client share: nodes, grants, and their turns. */
export const HAND_OFF_BUGS: readonly PlantedBug[] = [
  {
    bug: 'goes on to the next caller although it is lost',
    plant: () => {
      mocks.spyOn(LockHold.prototype, 'lost').mockReturnValue();
      replace(LockHold.prototype, 'free', (free) => (_, hold) => free(false, hold));
    },
    violation: /was handed on although hold \d+ is lost/,
    seeds: { 'mutex that is handed on': 231 },
  },
  {
    bug: 'counts each hand-off as a grant of the servers',
    plant: () =>
      replace(
        LinePlace.prototype,
        'handOff',
        (handOff) => (handed: object) => handOff({ ...handed, tenure: undefined }),
      ),
    violation: /was handed on out of bounds/,
    seeds: { 'mutex that is handed on': 12 },
  },
  {
    bug: 'goes on with its token to the next caller',
    plant: () =>
      replace(LockHold.prototype, 'fencingToken', (_, held) => async () => {
        const stat = await contextOf(held).connection.exists(held.paths[0]!);
        if (held.hold.lost) throw held.hold.lost;
        return BigInt(stat!.czxid);
      }),
    violation: /has the token of hold/,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'goes on to the next caller while a guarded write is under way',
    plant: () =>
      replace(
        LockHold.prototype,
        'guard',
        (_, held) => (write, holds) =>
          writeGuarded(contextOf(held), write, holds as Parameters<typeof writeGuarded>[2]),
      ),
    violation: /writes behind hold/,
    seeds: { 'mutex that is handed on': 8 },
  },
  {
    bug: 'reports its loss to the first caller only',
    plant: () => {
      const guarded = new WeakSet<OwnedNode>();
      replace(OwnedNode.prototype, 'guard', (guard, watch) => (...asked) => {
        if (!guarded.has(watch)) guard(...asked);
        guarded.add(watch);
      });
    },
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'mutex that is handed on': 13 },
  },
  {
    bug: 'keeps the place of a caller who has given up',
    plant: () => keepPlaces(),
    violation: /does not get on/,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'goes on to a caller who has given up',
    plant: () => {
      keepPlaces();
      mocks.spyOn(WaitScope.prototype, 'isOver', 'get').mockReturnValue(false);
    },
    violation: /stands in the way/,
    seeds: { 'mutex that is handed on': 7 },
  },
  {
    bug: 'gives every caller a node of its own',
    plant: () =>
      replace(
        WaitingLines.prototype,
        'join',
        (join) => (name) => Object.assign(join(name), { isFirst: true }),
      ),
    violation: /queues although others of its client are ahead/,
    seeds: { 'mutex that is handed on': 1, 'read lock that is shared': 1 },
  },
  {
    bug: 'is kept however long others have waited',
    plant: () =>
      replace(SessionConnection.prototype, 'getChildren', (list) => (path) => list(path)), // without the watch
    violation: /stands in the way/,
    seeds: { 'mutex that is handed on': 14 },
  },
  {
    bug: 'is kept although the link is lost, and the watch for others with it',
    plant: () => hearOfChildren(({ type }) => type !== 'disconnected'),
    violation: /stands in the way/,
    seeds: { 'mutex that is handed on': 113 },
  },
  {
    bug: 'is kept again although others were seen to want it',
    plant: () =>
      replace(
        Tenure.prototype,
        'keepFor',
        (_, { since }) =>
          ({ keep = 0, for: ms }, now) =>
            Math.min(keep, since + ms - now),
      ),
    violation: /what others were seen to want/,
    seeds: { 'mutex that is handed on': 291 },
  },
  {
    bug: 'is kept, and given to the next caller, although its session has ended',
    plant: () => {
      hearOfChildren(({ type }) => type !== 'disconnected');
      replace(LockHold.prototype, 'nodeLost', (_, held) => (why) => {
        held.hold.markLost(why);
        if (held.hold.lost === undefined) held.isExclusive = () => true; // it is kept
      });
    },
    violation: /kept in another session/,
    seeds: { 'mutex that is handed on': 359 },
  },
  {
    bug: 'is both given back and handed on',
    plant: () =>
      replace(KeptLock.prototype, 'giveBack', (_, kept) => () => {
        const { hold } = kept as unknown as {
          hold: { place: LinePlace<object>; giveBack(): void };
        };
        hold.place.leave = () => {};
        hold.giveBack();
        hold.place.leave = LinePlace.prototype.leave;
      }),
    violation: WITHOUT_NODE,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'is released with the first of its callers',
    plant: () => {
      replace(SharedHold.prototype, 'leave', (leave) => (hold) => !leave(hold) && false);
    },
    violation: WITHOUT_NODE,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is not released when all of its callers have left',
    plant: () => {
      replace(SharedHold.prototype, 'leave', (leave) => (hold) => leave(hold) || true);
    },
    violation: /stands in the way/,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is shared although it is lost',
    plant: () => {
      mocks.spyOn(SharedHold.prototype, 'lose').mockReturnValue(false);
      replace(LockHold.prototype, 'mayGoOn', (mayGoOn, held) => () => {
        const { isExclusive } = held;
        held.isExclusive = () => true;
        const answer = mayGoOn();
        held.isExclusive = isExclusive;
        return answer;
      });
    },
    violation: /shares what (is lost|no caller has)/,
    seeds: { 'read lock that is shared': 27 },
  },
  {
    bug: 'is shared although its token was seen',
    plant: () => {
      replace(LockHold.prototype, 'mayGoOn', (_, held) => () => held.isExclusive());
    },
    violation: /shares the token that another caller has seen/,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is shared by any number',
    plant: () => mocks.spyOn(Tenure.prototype, 'mayGoOn').mockReturnValue(true),
    violation: /shares out of bounds/,
    seeds: { 'read lock that is shared': 3 },
  },
  {
    bug: 'is shared by those who come when its last caller has left',
    plant: () => {
      mocks.spyOn(SharedHold.prototype, 'leave').mockReturnValue(false);
    },
    violation: /shares what no caller has|without its node/,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is lost by one of its callers only',
    plant: () => {
      mocks.spyOn(NextCaller.prototype, 'sharers', 'get').mockReturnValue(undefined);
    },
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'read lock that is shared': 1 },
  },
];
