import { LockConnectionError, LockLostError } from '../../../lib/core/errors/index.js';
import { AtomicNode } from '../../../lib/zookeeper/atomic/atomic-node.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { LockHold } from '../../../lib/zookeeper/locks/lock-hold.js';
import { mocks, type PlantedBug, replace } from './plant.js';

/** Makes a change with a lost answer return that, whatever became of it. */
function takeLostFor(outcome: boolean): void {
  replace(AtomicNode.prototype, 'replace', (change) => async (...asked) => {
    try {
      return await change(...asked);
    } catch (error) {
      if (error instanceof ZooKeeperError && error.maybeDone) return outcome;
      throw error;
    }
  });
}

/** Bugs of distributed counters, and of writes under a lock. */
export const WRITE_BUGS: readonly PlantedBug[] = [
  {
    bug: 'is changed again when an answer is lost',
    plant: () => takeLostFor(false),
    violation: /is made twice/,
    seeds: { 'distributed atomic long': 2, 'distributed atomic integer': 3 },
  },
  {
    bug: 'considers a change made when its answer is lost',
    plant: () => takeLostFor(true),
    violation: /says that it was made, and was not/,
    seeds: { 'distributed atomic long': 2, 'distributed atomic integer': 2 },
  },
  {
    bug: 'is set although it has changed since it was read',
    plant: () =>
      replace(
        SessionConnection.prototype,
        'setData',
        (setData) => (path, data) => setData(path, data),
      ),
    violation: /no client has made/,
    seeds: { 'distributed atomic long': 1, 'distributed atomic integer': 1 },
  },
  {
    bug: 'does not look again when it was cut off',
    plant: () => mocks.spyOn(SessionConnection.prototype, 'exists').mockResolvedValue(undefined),
    violation: /takes it for/,
    seeds: { 'shared count': 1 },
  },
  {
    bug: 'uses what was read last, however old',
    plant: () => {
      let zxid = 0;
      replace(SessionConnection.prototype, 'getData', (getData) => async (...asked) => {
        const { data, stat } = await getData(...asked);
        return { data, stat: { ...stat, mzxid: (zxid += 1_000_000) } };
      });
    },
    violation: /which was never there/,
    seeds: { 'shared count': 1 },
  },
  {
    bug: 'is carried out without a look for the node of the lock',
    plant: () =>
      replace(SessionConnection.prototype, 'multi', (multi) => async (operations) => {
        const checks = operations.filter(({ op }) => op === 'check');
        const answers: readonly unknown[] = await multi(operations.slice(checks.length));
        return [...checks.map(() => undefined), ...answers] as never;
      }),
    violation: /writes behind hold/,
    seeds: { 'guarded write under a mutex': 31, 'guarded write under a read/write lock': 31 },
  },
  {
    bug: 'is sent again when its answer was lost',
    plant: () =>
      replace(
        SessionConnection.prototype,
        'multi',
        (multi) => (operations) =>
          multi(operations).catch((error) => {
            if (!(error instanceof ZooKeeperError) || !error.maybeDone) throw error;
            throw new ZooKeeperError(error.rc, error.operation, error.path);
          }),
      ),
    violation: /is carried out twice|is refused, and is there/,
    seeds: { 'guarded write under a mutex': 3, 'guarded write under a read/write lock': 8 },
  },
  {
    bug: 'says that nothing was written when it does not know',
    plant: () =>
      replace(
        LockHold.prototype,
        'guard',
        (guard, { hold }) =>
          (...asked) =>
            guard(...asked).catch((error) => {
              throw error instanceof LockConnectionError
                ? new LockLostError('?', hold.context)
                : error;
            }),
      ),
    violation: /is refused, and is there/,
    seeds: { 'guarded write under a mutex': 3, 'guarded write under a read/write lock': 3 },
  },
];
