import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import { AtomicNode } from '../../lib/zookeeper/atomic/atomic-node.js';
import { simulateCounter } from './counters/simulate-counter.js';
import { firstAccusation } from './first-accusation.js';

const longs = (seed: number) => simulateCounter(seed, 64);
const counts = (seed: number) => simulateCounter(seed, 32);

/** Makes a change with a lost answer return that, whatever became of it. */
function takeLostFor(outcome: boolean): void {
  const replace = AtomicNode.prototype.replace;
  jest.spyOn(AtomicNode.prototype, 'replace').mockImplementation(async function (
    this: AtomicNode,
    ...change
  ) {
    try {
      return await replace.apply(this, change);
    } catch (error) {
      if (error instanceof ZooKeeperError && error.maybeDone) return outcome;
      throw error;
    }
  });
}

jest.setTimeout(600_000); // some need a hundred schedules

/** That the schedules find nothing counts only if they do find planted bugs. */
describe('The simulation of counters catches', () => {
  afterEach(() => void jest.restoreAllMocks());

  describe.each([
    ['long', longs],
    ['integer', counts],
  ])('a distributed atomic %s', (_, run) => {
    it('that is changed again when an answer is lost', async () => {
      takeLostFor(false);
      expect(await firstAccusation(run, /is made twice/)).toBeDefined();
    });

    it('that considers a change made when its answer is lost', async () => {
      takeLostFor(true);
      expect(await firstAccusation(run, /says that it was made, and was not/)).toBeDefined();
    });

    it('that is set although it has changed since it was read', async () => {
      const setData = SessionConnection.prototype.setData;
      jest.spyOn(SessionConnection.prototype, 'setData').mockImplementation(function (
        this: SessionConnection,
        path,
        data,
      ) {
        return setData.call(this, path, data);
      });
      expect(await firstAccusation(run, /no client has made/)).toBeDefined();
    });
  });

  describe('a shared count', () => {
    it('that does not look again when it was cut off', async () => {
      jest.spyOn(SessionConnection.prototype, 'exists').mockResolvedValue(undefined);
      expect(await firstAccusation(counts, /takes it for/)).toBeDefined();
    });

    it('that uses what was read last, however old', async () => {
      const getData = SessionConnection.prototype.getData;
      let zxid = 0;
      jest.spyOn(SessionConnection.prototype, 'getData').mockImplementation(async function (
        this: SessionConnection,
        ...asked
      ) {
        const { data, stat } = await getData.apply(this, asked);
        return { data, stat: { ...stat, mzxid: (zxid += 1_000_000) } };
      });
      expect(await firstAccusation(counts, /which was never there/)).toBeDefined();
    });
  });
});
