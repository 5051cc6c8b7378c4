import { afterAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../lib/core/clock.js';
import { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../lib/embedded/embedded-transport.js';
import { ServerList, type Servers } from '../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import type { Answers, Request, Transport } from '../../lib/zookeeper/connection/transport.js';
import {
  CreateMode,
  type Operation,
  Permission,
  type Stat,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode, type ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import { useZooKeeper } from '../support/fixtures.js';
import { seededRandom } from '../support/seeded-random.js';
import { byTier } from '../support/tier.js';
import { eventually } from '../support/time.js';
import { type Driver, transportOf } from '../support/zookeeper-driver.js';

const REQUESTS = byTier({ quick: 0, standard: 1_000, long: 100_000 });
const SEED = Number(process.env.DRIVERS_SEED ?? 1);
const MODES = Object.values(CreateMode);
const EVERYBODY = { scheme: 'world', id: 'anyone' };
const LISTS = [
  [{ perms: Permission.ALL, ...EVERYBODY }],
  [{ perms: Permission.ALL - Permission.DELETE, ...EVERYBODY }],
  [{ perms: Permission.ALL, scheme: 'digest', id: 'x' }],
  [],
];

/** One connection with a directory of its own, and another around it, as numbers are counted in that. */
class Candidate {
  readonly events: string[] = [];
  readonly #zxids = new Map<number, number>();

  private constructor(
    readonly name: string,
    readonly connection: SessionConnection,
  ) {}

  static async connect(name: string, transport: Transport, servers: Servers): Promise<Candidate> {
    const options = { transport, servers, sessionTimeout: 30_000, clock: systemClock };
    const connection = new SessionConnection(options);
    connection.start();
    await eventually('connected', () => connection.isConnected);
    for (const path of [`/${name}`, `/${name}/base`])
      await connection.create(path, Buffer.alloc(0), CreateMode.PERSISTENT);
    return new Candidate(name, connection);
  }

  /** Carries out a request that `random` decides, and returns what a caller can see of the outcome. */
  async ask(random: () => number, isAlone: boolean): Promise<unknown> {
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const { connection } = this;
    const path = this.#path(pick);
    const version = pick([-1, -1, 0, 1, 2]);
    const data = Buffer.alloc(pick([0, 1, 300]), 'x');
    const watcher = pick([undefined, (it: { type: string; path: string }) => this.#fired(it)]);
    // The servers check a request that comes right behind a setAcl against the old list, or the new one: that depends.
    const changes = isAlone
      ? (['setAcl', 'setAcl'] as const)
      : (['create', 'create', 'delete', 'setData'] as const);
    const op = pick([...changes, 'create', 'read', 'read', 'sync'] as const);
    const [mode, list] = [pick(MODES), pick(LISTS)];
    const read = pick(['exists', 'getData', 'getChildren'] as const);
    const requests = {
      create: () => connection.create(path, data, mode),
      delete: () => connection.delete(path, version),
      setData: () => connection.setData(path, data, version),
      setAcl: () => connection.setAcl(path, list),
      sync: () => connection.sync(path),
      read: () => connection[read](path, watcher),
    };
    const details: Partial<Record<typeof op, number>> = {
      create: mode,
      setAcl: LISTS.indexOf(list),
    };
    const detail = details[op] ?? version;
    const request = `${op === 'read' ? read : op} ${this.#relative(path)} ${detail}`;
    const outcome = await requests[op]().then(
      (answer: unknown) => this.#shown(answer),
      ({ code, maybeDone }: ZooKeeperError) => ({ code, maybeDone }),
    );
    return { request, outcome };
  }

  /** The same with a transaction. */
  async askAtOnce(random: () => number): Promise<unknown> {
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const isValid = random() < 0.9;
    const operations = Array.from({ length: pick([0, 1, 2, 2, 3, 5]) }, (): Operation => {
      const [path, version] = [this.#path(pick, isValid), pick([-1, -1, -1, 0, 1])];
      const data = Buffer.alloc(pick([0, 1, 300]), 'x');
      const op = pick(['create', 'create', 'create', 'setData', 'check', 'delete'] as const);
      if (op === 'create') return { op, path, data, mode: pick(MODES) };
      return op === 'setData' ? { op, path, data, version } : { op, path, version };
    });
    const outcome = await this.connection.multi(operations).then(
      (answers) => answers.map((answer) => this.#shown(answer)),
      ({ code, operation, maybeDone }: ZooKeeperError) => ({ code, operation, maybeDone }),
    );
    const request = operations.map(({ op, path }) => `${op} ${this.#relative(path)}`);
    return { request, outcome };
  }

  #path(pick: <T>(items: readonly T[]) => T, isValid = false): string {
    const depth = pick([0, 1, 1, 1, 2]);
    const names = Array.from({ length: depth }, () => pick(['a', 'b', 'ü', '€-', 'a b']));
    const path = [`/${this.name}/base`, ...names].join('/');
    return isValid ? path : path + pick(['', '', '', '', '', '/', '/.']);
  }

  #relative(path: string): string {
    return path.slice(`/${this.name}/base`.length);
  }

  #fired({ type, path }: { type: string; path: string }): void {
    this.events.push(`${type} ${this.#relative(path)}`);
  }

  /** Without what may differ: ids and times, and the name of the directory. */
  #shown(answer: unknown): unknown {
    if (Array.isArray(answer)) return (answer as string[]).sort();
    if (typeof answer !== 'object' || answer === null) return answer;
    if ('path' in answer) return this.#relative(String(answer.path)); // native knows no more of it
    if ('data' in answer && 'stat' in answer)
      return { data: String(answer.data), ...this.#stat(answer.stat as Stat) };
    return this.#stat(answer as Stat);
  }

  /** Of transactions only which are the same. */
  #stat({ version, numChildren, ephemeralOwner, czxid, mzxid }: Stat): object {
    const isMine = ephemeralOwner === this.connection.session!.id;
    const number = (zxid: number) => {
      if (!this.#zxids.has(zxid)) this.#zxids.set(zxid, this.#zxids.size);
      return this.#zxids.get(zxid);
    };
    const owner = ephemeralOwner === '0' ? 'nobody' : isMine;
    return { version, numChildren, owner, czxid: number(czxid), mzxid: number(mzxid) };
  }
}

/** A bare link, without anything that would repeat a request or remember a watch. */
async function linkOf(transport: Transport, servers: Servers) {
  const events: string[] = [];
  let isUp = false;
  const options = { address: await servers.next(), sessionTimeout: 30_000, auth: [] };
  const link = transport.open(options, {
    onConnected: () => (isUp = true),
    onDisconnected: (reason) => events.push(reason),
    onExpired: (reason) => events.push(reason),
    onWatch: (type, path) => events.push(`${type} ${path}`),
  });
  await eventually('connected', () => isUp);
  const ask = (request: Request) =>
    new Promise<{ rc: number; answer?: Answers[keyof Answers] }>((resolve) =>
      link.request(request, (rc, answer) => resolve({ rc, answer })),
    );
  return { ask, events };
}

/** Has each candidate carry out the same requests, and expects the same outcomes and events. */
async function compare(
  candidates: readonly Candidate[],
  ask: (candidate: Candidate, random: () => number, isAlone: boolean) => Promise<unknown>,
): Promise<void> {
  const seeds = seededRandom(SEED);
  for (let n = 0; n < REQUESTS;) {
    const burst = Math.floor(seeds() * 8); // these are under way together
    const round = Array.from({ length: 1 + burst }, () => Math.floor(seeds() * 2 ** 31));
    const [first, ...others] = await Promise.all(
      candidates.map(async (it) =>
        Promise.all(round.map((seed) => ask(it, seededRandom(seed), round.length === 1))),
      ),
    );
    for (const other of others) expect(other).toEqual(first);
    n += round.length;
  }
  const [first, ...others] = candidates.map(({ events }) => events.sort());
  expect(first!.length).toBeGreaterThan(REQUESTS / 100);
  for (const events of others) expect(events).toEqual(first);
}

describe('The drivers and the embedded tree', () => {
  const server = useZooKeeper({ containerCheckIntervalMs: 3_600_000 });
  const all: Candidate[] = [];
  const list = () => new ServerList([server()], Math.random, systemClock);
  const onServer = async (driver: Driver, name = `${driver}`) =>
    Candidate.connect(name, await transportOf(driver), list());
  const embedded = () =>
    Candidate.connect('tree', new EmbeddedTransport(new EmbeddedServer()), embeddedServers);
  const together = async (...candidates: Promise<Candidate>[]) => {
    const connected = await Promise.all(candidates);
    all.push(...connected);
    return connected;
  };

  afterAll(() => Promise.all(all.map(({ connection }) => connection.close())));

  it(`give the same answers and events to ${REQUESTS} random requests (seed ${SEED})`, async () => {
    const candidates = await together(onServer('native'), onServer('wire'), embedded());
    await compare(candidates, (it, random, isAlone) => it.ask(random, isAlone));
  }, 600_000);

  it(`and with transactions among them, which native has not (seed ${SEED})`, async () => {
    const candidates = await together(onServer('wire', 'multi'), embedded());
    await compare(candidates, (it, random, isAlone) =>
      random() < 0.5 ? it.askAtOnce(random) : it.ask(random, isAlone),
    );
  }, 600_000);

  describe('without a client above them', () => {
    const transports: readonly [string, () => Promise<readonly [Transport, Servers]>][] = [
      [
        'native',
        async () => [await transportOf('native'), new ServerList([server()], () => 0, systemClock)],
      ],
      [
        'wire',
        async () => [await transportOf('wire'), new ServerList([server()], () => 0, systemClock)],
      ],
      ['embedded', async () => [new EmbeddedTransport(new EmbeddedServer()), embeddedServers]],
    ];

    /** Number of watches that the server keeps; it does not count those on children. */
    const watchCount = async () =>
      Number(/Total watches:(\d+)/.exec(await server().fourLetterWord('wchs'))![1]);

    it.each(transports)(
      'remove a watch of one kind, and say whether there was one; native cannot: %s',
      async (name, make) => {
        const [transport, servers] = await make();
        const { ask, events } = await linkOf(transport, servers);
        const path = `/watched-${name}`;
        const { OK, NOWATCHER, UNIMPLEMENTED } = ReturnCode;
        await ask({ op: 'create', path, data: Buffer.alloc(0), mode: CreateMode.PERSISTENT });
        const before = await watchCount();
        await ask({ op: 'getData', path, watch: true });
        await ask({ op: 'getChildren', path, watch: true });
        await ask({ op: 'exists', path: `${path}/none`, watch: true });
        const removals = [
          { op: 'removeWatches', path: `${path}/none`, kind: 'child' },
          { op: 'removeWatches', path: `${path}/none`, kind: 'data' },
          { op: 'removeWatches', path, kind: 'data' },
          { op: 'removeWatches', path, kind: 'data' },
        ] as const;
        const codes = (await Promise.all(removals.map(ask))).map(({ rc }) => rc);
        const isNative = name === 'native';
        expect(codes).toEqual(
          isNative ? Array(4).fill(UNIMPLEMENTED) : [NOWATCHER, OK, OK, NOWATCHER],
        );
        expect((await watchCount()) - before).toBe(isNative ? 2 : 0);
        await ask({ op: 'setData', path, data: Buffer.from('x'), version: -1 });
        await ask({ op: 'delete', path, version: -1 });
        expect(events).toEqual(
          isNative ? [`changed ${path}`, `deleted ${path}`] : [`deleted ${path}`],
        );
        await transport.close();
      },
    );
  });
});
