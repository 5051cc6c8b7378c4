import type { LookupAddress } from 'node:dns';
import type { lookup } from 'node:dns/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import type { TransportLink } from '../../../lib/zookeeper/connection/transport.js';
import { seededRandom } from '../../support/seeded-random.js';
import { isSettled, VirtualClock } from '../../support/time.js';
import { VirtualWorld } from './world.js';

/** Longer by a round trip than an attempt to connect lasts, as when the first name server in `resolv.conf` is dead. */
const LATE = 5_010;
/** Longest time that a client which knows an address waits for a new one, in ms. */
const PATIENCE = 1_000;
/** Longest time from an address to the next one while none of them answers, in ms. */
const LONGEST_GAP = 6_000;
const NAMES = ['a', 'b', 'c'].map((host) => ({ host, port: 2181 }));

const ipv4 = (...hosts: number[]): LookupAddress[] =>
  hosts.map((host) => ({ address: `10.0.0.${host}`, family: 4 }));
const failure = (code: string) => Object.assign(new Error(`getaddrinfo ${code} a`), { code });

/** A name service that takes `delay` ms for each answer. */
class NameService {
  delay = 0;
  answer: (name: string) => LookupAddress[] | Error = (name) => ipv4(name.charCodeAt(0) - 96);
  readonly asked: string[] = [];

  constructor(private readonly clock: VirtualClock) {}

  readonly lookup = ((name: string) => {
    this.asked.push(name);
    const answer = this.answer(name);
    return new Promise((resolve, reject) => {
      const tell = () => (answer instanceof Error ? reject(answer) : resolve(answer));
      this.clock.setTimer(tell, this.delay);
    });
  }) as unknown as typeof lookup;
}

describe('A list of names', () => {
  let clock: VirtualClock;
  let names: NameService;
  let list: ServerList;
  const listOf = (servers: readonly { host: string; port: number }[], seed = 7) =>
    new ServerList(servers, seededRandom(seed), clock, names.lookup);
  const next = async (from = list) => (await clock.runUntil(from.next())).host;

  beforeEach(() => {
    clock = new VirtualClock();
    names = new NameService(clock);
    list = listOf([NAMES[0]!]);
  });

  it('takes the last known address when the answer is late, and the answer once it has come', async () => {
    expect(await next()).toBe('10.0.0.1');
    names.delay = LATE;
    names.answer = () => ipv4(9);
    const start = clock.now();
    expect(await next()).toBe('10.0.0.1');
    expect(clock.now() - start).toBe(PATIENCE);
    await clock.advance(LATE);
    names.answer = () => ipv4(1);
    expect(await next()).toBe('10.0.0.9');
    expect(names.asked).toHaveLength(3);
  });

  it('waits for half of the time that an attempt has, where that is less', async () => {
    await next();
    names.delay = LATE;
    const start = clock.now();
    await clock.runUntil(list.next(700));
    expect(clock.now() - start).toBe(350);
  });

  it('leaves no timer behind when the answer is in time', async () => {
    await next();
    await next();
    expect(clock.isIdle).toBe(true);
  });

  it.each(['EAI_AGAIN', 'EAI_FAIL', 'ETIMEOUT'])(
    'takes the last known address when the name service fails by %s',
    async (code) => {
      await next();
      names.answer = () => failure(code);
      const start = clock.now();
      expect(await next()).toBe('10.0.0.1');
      expect(clock.now()).toBe(start);
      expect(clock.isIdle).toBe(true);
    },
  );

  it('forgets the addresses of a name that does not exist any more, also when that is said late', async () => {
    await next();
    names.answer = () => failure('ENOTFOUND');
    await expect(next()).rejects.toThrow('ENOTFOUND');
    names.answer = () => failure('EAI_AGAIN');
    await expect(next()).rejects.toThrow('EAI_AGAIN');

    names.answer = () => ipv4(1);
    await next();
    names.answer = () => failure('ENOTFOUND');
    names.delay = LATE;
    expect(await next()).toBe('10.0.0.1');
    await clock.advance(LATE);
    names.answer = () => failure('EAI_AGAIN');
    await expect(next()).rejects.toThrow('EAI_AGAIN');
  });

  it('takes the first late answer, whichever name was asked for', async () => {
    list = listOf([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
      { host: 'c', port: 3 },
    ]);
    names.delay = LATE;
    const first = list.next();
    await clock.advance(5_000); // its caller has given up
    const second = await clock.runUntil(list.next());
    expect(clock.now()).toBe(LATE);
    expect([second.name, second.port]).toEqual([
      names.asked[0],
      names.asked[0]!.charCodeAt(0) - 96,
    ]);
    expect(await first).toEqual(second);
    const third = await clock.runUntil(list.next());
    expect(third.name).toBe(names.asked[1]); // it was not tried yet
    expect(new Set([second.name, third.name, (await clock.runUntil(list.next())).name])).toEqual(
      new Set(['a', 'b', 'c']),
    );
  });

  it('takes an answer that came between two attempts', async () => {
    list = listOf(NAMES);
    names.delay = LATE;
    const given = list.next(5_000);
    await clock.advance(LATE + 1);
    const start = clock.now();
    expect(await clock.runUntil(list.next(5_000))).toEqual(await given);
    expect([clock.now(), names.asked.length]).toEqual([start, 1]);
  });

  it('ignores that an earlier name failed late, and rejects when its own fails', async () => {
    list = listOf(NAMES);
    names.delay = LATE;
    names.answer = () => failure('EAI_AGAIN');
    const outcomes = [list.next().catch((error: Error) => error)];
    await clock.advance(5_000);
    outcomes.push(list.next().catch((error: Error) => error));
    await clock.advance(5_000);
    expect(await isSettled(outcomes[0]!)).toBe(true);
    expect(await isSettled(outcomes[1]!)).toBe(false);
    await clock.advance(10);
    expect(await isSettled(outcomes[1]!)).toBe(true);
    expect((await Promise.all(outcomes)).map(String)).toEqual(
      Array(2).fill('Error: getaddrinfo EAI_AGAIN a'),
    );
  });

  it('goes through all addresses of a name', async () => {
    names.answer = () => ipv4(1, 2, 3);
    const tried = [await next(), await next(), await next()];
    expect(tried.sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(names.asked).toEqual(['a']);
  });

  it('asks again when it was connected meanwhile: the addresses left over may be those of servers that are gone', async () => {
    names.answer = () => ipv4(1, 2, 3);
    await next();
    await clock.advance(60_000);
    names.answer = () => ipv4(4, 5, 6);
    const tried = [await next(), await next(), await next()];
    expect(tried.sort()).toEqual(['10.0.0.4', '10.0.0.5', '10.0.0.6']);
    expect(names.asked).toEqual(['a', 'a']);
  });

  it('goes through all addresses of a name, however long each attempt lasts', async () => {
    names.answer = () => ipv4(1, 2, 3);
    const tried: string[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      tried.push(await next());
      await clock.advance(LONGEST_GAP);
    }
    expect(tried.sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(names.asked).toEqual(['a']);
  });

  it('asks again after a pause, and goes on with the addresses and names that were given', async () => {
    names.answer = () => ipv4(1, 2);
    for (let seed = 0; seed < 20; seed++) {
      names.asked.length = 0;
      const given = [...NAMES.slice(0, 2), { host: '10.0.0.8', port: 2181 }];
      const lists = listOf(given, seed);
      const tried: (string | undefined)[] = [];
      for (let attempt = 0; attempt < 3; attempt++) {
        const { host, name = host } = await clock.runUntil(lists.next());
        tried.push(name);
        await clock.advance(60_000);
      }
      expect(tried.sort()).toEqual(['10.0.0.8', 'a', 'b']);
      expect(names.asked.sort()).toEqual(['a', 'b']);
    }
  });

  it('tries the address that was just lost after the others of its family', async () => {
    const ipv6 = { address: 'fd00::1', family: 6 };
    names.answer = () => [...ipv4(1, 2, 3), ipv6];
    for (let seed = 0; seed < 20; seed++) {
      const lists = listOf([NAMES[0]!], seed);
      const lost = await next(lists);
      await clock.advance(60_000);
      const tried = [await next(lists), await next(lists), await next(lists), await next(lists)];
      expect([tried.indexOf(lost), tried[3]]).toEqual([2, ipv6.address]);
    }
  });

  it('knows the addresses that a name has now, and the one that was tried last', async () => {
    names.answer = () => ipv4(1, 2);
    expect(list.known).toEqual(['a:2181']);
    await next();
    expect(list.known.sort()).toEqual(['10.0.0.1:2181', '10.0.0.2:2181', 'a:2181']);
    for (let move = 3; move < 100; move++) {
      names.answer = () => ipv4(move);
      await clock.advance(60_000);
      await next();
    }
    expect(list.known).toEqual(['a:2181', '10.0.0.99:2181']);
    names.delay = LATE;
    names.answer = () => ipv4(100);
    await next();
    await clock.advance(LATE);
    expect(list.known).toEqual(['a:2181', '10.0.0.100:2181', '10.0.0.99:2181']);
  });

  it('spreads clients over the addresses of one name, in the family that the name service prefers', async () => {
    const ipv6 = { address: 'fd00::1', family: 6 };
    names.answer = () => [...ipv4(1, 2, 3), ipv6];
    const tried = new Map<string, number>();
    for (let seed = 0; seed < 100; seed++) {
      const lists = listOf([NAMES[0]!], seed);
      const host = await next(lists);
      tried.set(host, (tried.get(host) ?? 0) + 1);
      for (let others = 0; others < 2; others++) await next(lists);
      expect(await next(lists)).toBe(ipv6.address);
    }
    expect([...tried.keys()].sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    for (const count of tried.values()) expect(count).toBeGreaterThan(20);
  });
});

/** A link to an address at which there is nothing. */
const SILENT: TransportLink = { request: () => {}, detach: () => {}, close: () => {} };

describe('A client of servers with names', () => {
  const SESSION = { sessionTimeout: 30_000, tickTime: 2_000 };
  let world: VirtualWorld;
  let names: NameService;
  const servers = () => new ServerList(NAMES, seededRandom(7), world.clock, names.lookup);

  beforeEach(() => {
    world = new VirtualWorld({ tickTime: SESSION.tickTime });
    names = new NameService(world.clock);
  });

  it('connects with the first late answer of the name service', async () => {
    names.delay = LATE;
    const { locks } = await world.join({ ...SESSION, servers: servers(), connectTimeout: 15_000 });
    expect(world.clock.now()).toBeLessThan(LATE + 100);
    await world.clock.runUntil(locks.close());
  });

  it.each([
    ['is late', LATE, undefined],
    ['does not answer', 3_600_000, undefined],
    ['fails by EAI_AGAIN', 0, 'EAI_AGAIN'],
    ['fails by EAI_AGAIN, late', LATE, 'EAI_AGAIN'],
  ])(
    'keeps its session and its lock when the connection is cut while the name service %s',
    async (_, delay, code) => {
      const { clock } = world;
      const { locks, connection, network } = await world.join({ ...SESSION, servers: servers() });
      const { session } = connection;
      const lease = await clock.runUntil(locks.mutex('a').acquire());
      const states: string[] = [];
      connection.onStateChange((state) => states.push(state));
      names.delay = delay;
      if (code !== undefined) names.answer = () => failure(code);
      network.cut();
      await clock.advance(120_000);
      expect(states).toEqual(['SUSPENDED', 'RECONNECTED']);
      expect([connection.session === session, lease.isHeld]).toEqual([true, true]);
      await clock.runUntil(locks.close());
    },
  );

  it('keeps its session when all servers have got other addresses since it connected', async () => {
    const { clock } = world;
    const [old, fresh] = [ipv4(1, 2, 3), ipv4(4, 5, 6)];
    const gone = new Set<string>();
    names.answer = () => old;
    const { locks, connection, network } = await world.join({
      sessionTimeout: 10_000,
      tickTime: SESSION.tickTime,
      servers: new ServerList([NAMES[0]!], seededRandom(7), clock, names.lookup),
      through: (direct) => ({
        open: (options, listener) => {
          const isGone = gone.has(options.address.host);
          return isGone ? SILENT : direct.open(options, listener);
        },
        close: () => direct.close(),
      }),
    });
    const { session } = connection;
    const states: string[] = [];
    connection.onStateChange((state) => states.push(state));
    await clock.advance(60_000);
    names.answer = () => fresh;
    for (const { address } of old) gone.add(address);
    network.cut();
    await clock.advance(60_000);
    expect(states).toEqual(['SUSPENDED', 'RECONNECTED']);
    expect(connection.session).toBe(session);
    await clock.runUntil(locks.close());
  });
});
