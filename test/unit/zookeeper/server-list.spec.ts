import { describe, expect, it } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import type { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { reconnectDelay } from '../../../lib/zookeeper/connection/session-connection.js';
import { ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import { seededRandom } from '../../support/seeded-random.js';

const SERVERS = [1, 2, 3, 4].map((i) => ({ host: `10.0.0.${i}`, port: 2181 }));

describe('A list of servers', () => {
  it('goes through all of them in every round', async () => {
    const list = new ServerList(SERVERS, seededRandom(7));
    for (let round = 0; round < 3; round++) {
      const tried = await Promise.all(SERVERS.map(() => list.next()));
      expect(new Set(tried)).toEqual(new Set(SERVERS));
    }
  });

  it('tries all others before it comes back to the one tried last', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const list = new ServerList(SERVERS.slice(0, 2), seededRandom(seed));
      const tried = await Promise.all(Array.from({ length: 20 }, () => list.next()));
      expect(tried.filter((server, n) => server === tried[n - 1])).toEqual([]);
    }
  });

  it('spreads clients over all servers', async () => {
    const random = seededRandom(7);
    const first = await Promise.all(
      Array.from({ length: 100 }, () => new ServerList(SERVERS, random).next()),
    );
    for (const server of SERVERS)
      expect(first.filter((each) => each === server).length).toBeGreaterThan(10);
  });

  it('asks a name service that hangs once only, however often it is tried', async () => {
    let asked = 0;
    let tell!: (addresses: LookupAddress[]) => void;
    const answer = new Promise<LookupAddress[]>((resolve) => (tell = resolve));
    const hanging = (() => {
      asked += 1;
      return answer;
    }) as unknown as typeof lookup;
    const list = new ServerList([{ host: 'zk', port: 2181 }], Math.random, hanging);
    const tries = [list.next(), list.next(), list.next()];
    expect(asked).toBe(1);
    tell([{ address: '10.0.0.1', family: 4 }]);
    expect((await Promise.all(tries)).map(({ host }) => host)).toEqual(Array(3).fill('10.0.0.1'));
    await list.next();
    expect(asked).toBe(2);
  });

  it('resolves names to addresses', async () => {
    const list = new ServerList([{ host: 'localhost', port: 2182 }], Math.random);
    const { host, port } = await list.next();
    expect([isIP(host) > 0, port]).toEqual([true, 2182]);
  });
});

describe('The delay before a reconnect', () => {
  it('is nothing in the first round, then grows up to a second, half of it random', () => {
    expect([-3, -2, -1].map((failures) => reconnectDelay(failures, () => 0.5))).toEqual([0, 0, 0]);
    expect([0, 1, 2, 5, 6, 60].map((failures) => reconnectDelay(failures, () => 0))).toEqual([
      10, 20, 40, 320, 500, 500,
    ]);
    const longest = reconnectDelay(60, () => 1 - Number.EPSILON);
    expect(longest).toBeGreaterThan(999);
    expect(longest).toBeLessThanOrEqual(1_000);
  });
});
