import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { beatOf, SignOfLife } from '../../../lib/core/worker/sign-of-life.js';
import { Session } from '../../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../../lib/zookeeper/connection/transport.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import type {
  SessionMessage,
  SessionProof,
} from '../../../lib/zookeeper/session-worker/messages.js';
import { SessionMirror } from '../../../lib/zookeeper/session-worker/session-mirror.js';
import { StandbySession } from '../../../lib/zookeeper/session-worker/standby-session.js';
import { VirtualClock } from '../../support/time.js';

const TIMEOUT = 12_000;
const TICK = 2_000;
const MAX_STALL = 60_000;
const SESSION = { id: 'a1', password: 'secret', timeout: TIMEOUT };
const CONNECTED = { ...SESSION, isConnected: true };
const INTERRUPTED = { ...SESSION, isConnected: false };

/** A server that answers after 10 ms, and the links to it. */
class Servers implements Transport {
  readonly log: string[] = [];
  readonly links: OpenOptions[] = [];
  listener?: LinkListener;
  isSilent = false;
  granted = TIMEOUT;

  constructor(private readonly clock: VirtualClock) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    this.links.push(options);
    this.log.push('opened');
    this.listener = listener;
    const session = { ...SESSION, timeout: this.granted };
    this.#later(() => listener.onConnected(session));
    return {
      request: (_: Request, reply: Reply) => this.#later(() => reply(ReturnCode.OK)),
      detach: () => void this.log.push('dropped'),
      close: () => void this.log.push('closed with its session'),
    };
  }

  async close(): Promise<void> {
    this.log.push('transport closed');
  }

  #later(fn: () => void): void {
    this.clock.setTimer(() => this.isSilent || fn(), 10);
  }
}

describe('The worker that keeps a session', () => {
  let clock: VirtualClock;
  let servers: Servers;
  let sign: SignOfLife;
  let proofs: SessionProof[];
  let failures: string[];
  let standby: StandbySession;

  beforeEach(() => {
    clock = new VirtualClock();
    servers = new Servers(clock);
    sign = new SignOfLife();
    proofs = [];
    failures = [];
    standby = new StandbySession({
      ...{ clock, sign, maxStall: MAX_STALL, transport: servers, tickTime: TICK },
      servers: { size: 1, next: async () => ({ host: 'played', port: 0 }) },
      confirm: (proof) => proofs.push(proof),
      failed: (reason) => failures.push(reason),
    });
    standby.receive(CONNECTED);
  });

  /** The main thread lives for so long. */
  async function live(ms: number): Promise<void> {
    for (const end = clock.now() + ms; clock.now() < end;) {
      sign.give(clock);
      await clock.advance(100);
    }
  }

  it('does nothing while the main thread lives, nor while it has no session', async () => {
    await live(10 * TIMEOUT);
    standby.receive(null);
    await clock.advance(MAX_STALL / 2);
    expect([servers.log, proofs]).toEqual([[], []]);
    expect(clock.isIdle).toBe(true);
  });

  it('attaches to the session in time, proves that the leader knows it, and leaves it when the main thread is connected again', async () => {
    await live(5_000);
    const stalledAt = clock.now();
    await clock.runUntil(() => servers.log.length > 0);
    expect(clock.now() - stalledAt).toBeLessThan(TIMEOUT / 2);
    expect(servers.links).toEqual([
      expect.objectContaining({ credentials: expect.objectContaining(SESSION) }),
    ]);
    await clock.advance(3 * TIMEOUT);
    const times = proofs.map(({ sentAt }) => sentAt);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times).size).toBe(times.length);
    expect(clock.now() - times.at(-1)!).toBeLessThan(TIMEOUT / 2);
    expect(servers.log).toEqual(['opened']);
    standby.receive(CONNECTED);
    expect(servers.log).toEqual(['opened', 'dropped']);
    await live(2 * TIMEOUT);
    expect(servers.log).toEqual(['opened', 'dropped']);
    expect(proofs.every(({ id, timeout }) => id === 'a1' && timeout === TIMEOUT)).toBe(true);
  });

  it('keeps it while the main thread lives, but is not connected again yet, for `maxStall` at most', async () => {
    await live(1_000);
    const stalledAt = clock.now();
    await clock.runUntil(() => proofs.length > 0);
    await live(TIMEOUT);
    standby.receive(INTERRUPTED);
    await live(TIMEOUT);
    expect(servers.log).toEqual(['opened']);
    expect(clock.now() - proofs.at(-1)!.sentAt).toBeLessThan(TIMEOUT / 2);
    await live(MAX_STALL);
    expect(servers.log).toEqual(['opened', 'dropped']);
    expect(proofs.at(-1)!.sentAt).toBeLessThanOrEqual(stalledAt + MAX_STALL);
  });

  it.each([null, { ...INTERRUPTED, id: 'b2' }])(
    'leaves it when the main thread has lost it, and has %j',
    async (session) => {
      await live(1_000);
      await clock.runUntil(() => proofs.length > 0);
      sign.give(clock);
      standby.receive(session);
      expect(servers.log).toEqual(['opened', 'dropped']);
    },
  );

  it('does not attach again where the main thread, which lives, has cut it off', async () => {
    await live(1_000);
    await clock.runUntil(() => proofs.length > 0);
    await live(1_000);
    servers.listener!.onDisconnected('the session has another connection');
    await live(MAX_STALL);
    expect(servers.log).toEqual(['opened', 'dropped']);
    await clock.advance(TIMEOUT); // the next stall
    expect(servers.log).toEqual(['opened', 'dropped', 'opened']);
  });

  it('takes no sign of life for a proof of the leader, whenever it is given', async () => {
    servers.isSilent = true;
    await live(1_000);
    const { at } = sign;
    let reads = 0;
    jest.spyOn(sign, 'at', 'get').mockImplementation(() => at + reads++); // the main thread wakes up between any two
    await clock.advance(TIMEOUT);
    expect([servers.log[0], proofs]).toEqual(['opened', []]);
  });

  it('leaves it when there was no sign of life for `maxStall`, and takes it over at the next stall', async () => {
    await live(1_000);
    const stalledAt = clock.now();
    await clock.runUntil(() => servers.log.includes('dropped'));
    expect(clock.now() - stalledAt).toBeLessThan(MAX_STALL + 1_000);
    await clock.advance(10 * MAX_STALL);
    expect(servers.log).toEqual(['opened', 'dropped']);
    await live(1_000);
    await clock.advance(TIMEOUT);
    expect(servers.log).toEqual(['opened', 'dropped', 'opened']);
  });

  it('neither ends the session nor opens another when the servers are silent, or have expired it', async () => {
    await live(1_000);
    await clock.advance(TIMEOUT);
    servers.isSilent = true;
    await clock.advance(TIMEOUT);
    servers.isSilent = false;
    await live(1_000);
    await clock.advance(TIMEOUT / 2);
    servers.listener!.onExpired('the servers have expired the session');
    await clock.advance(MAX_STALL / 2);
    expect(new Set(servers.log)).toEqual(new Set(['opened', 'dropped']));
    expect(servers.links.every(({ credentials }) => credentials?.id === 'a1')).toBe(true);
  });

  it('attaches no more where its first attempt failed and the main thread lives again', async () => {
    servers.isSilent = true;
    await live(1_000);
    await clock.runUntil(() => servers.log.length > 0);
    const opened = () => servers.log.filter((line) => line === 'opened').length;
    sign.give(clock);
    servers.listener!.onDisconnected('hung up');
    await live(2 * TIMEOUT);
    expect(opened()).toBe(1);
  });

  /** A stall in which the worker has tried once to connect, and will not get through. */
  async function failOnce(): Promise<void> {
    servers.isSilent = true;
    await live(1_000);
    await clock.runUntil(() => servers.log.length > 0);
    servers.listener!.onDisconnected('hung up');
  }

  it('says why it could not connect when the session is lost in the stall, once', async () => {
    await failOnce();
    await clock.advance(TIMEOUT / 2);
    expect(failures).toEqual([]);
    await clock.advance(TIMEOUT / 2);
    expect(failures).toEqual([expect.stringContaining('played:0: ')]);
    await live(1_000);
    standby.receive(null);
    expect(failures).toHaveLength(1);
  });

  it.each<[string, SessionMessage]>([
    ['none', null],
    ['another', { ...CONNECTED, id: 'b2' }],
  ])(
    'says why it could not connect when the main thread has %s after the stall',
    async (_, next) => {
      await failOnce();
      await clock.advance(TIMEOUT / 3);
      sign.give(clock);
      await clock.advance(beatOf(TIMEOUT)); // it has noticed the sign
      expect(failures).toEqual([]);
      standby.receive(next);
      expect(failures).toEqual([expect.stringContaining('played:0: ')]);
    },
  );

  it('says nothing where it could not connect, but the session survived', async () => {
    await failOnce();
    await clock.advance(TIMEOUT / 3);
    sign.give(clock);
    standby.receive(INTERRUPTED); // its connection was interrupted
    await live(1_000);
    standby.receive(null);
    expect(failures).toEqual([]);
  });

  it('says nothing of attempts before one that succeeded', async () => {
    await failOnce();
    servers.isSilent = false;
    await clock.runUntil(() => proofs.length > 0);
    sign.give(clock);
    standby.receive(null);
    expect(failures).toEqual([]);
  });

  it('says nothing of an attempt that failed when the main thread lived again', async () => {
    servers.isSilent = true;
    await live(1_000);
    await clock.runUntil(() => servers.log.length > 0);
    sign.give(clock);
    servers.listener!.onDisconnected('hung up');
    await clock.advance(beatOf(TIMEOUT));
    standby.receive(null);
    expect(failures).toEqual([]);
  });
});

describe('The main thread', () => {
  it('shares each change of its session, and of whether it is connected to it', () => {
    const sent: SessionMessage[] = [];
    const port = { send: (it: SessionMessage) => sent.push(it), next: () => undefined, close() {} };
    let changed = () => {};
    const onStateChange = (listener: () => void) => void (changed = listener);
    const connection = { session: SESSION as object | undefined, isConnected: true, onStateChange };
    new SessionMirror(new VirtualClock()).open(port, connection as never);
    connection.isConnected = false;
    changed();
    connection.session = undefined;
    changed();
    expect(sent).toEqual([CONNECTED, INTERRUPTED, null]);
  });
});

describe('A session that another thread keeps', () => {
  it('lives on by what that has proved, is as short as the shorter timeout, and never comes back', async () => {
    const clock = new VirtualClock();
    let proof: [timeout: number, sentAt: number] | undefined;
    const catchUp = () => {
      if (proof) session.confirmed(...proof);
    };
    const session = new Session('a1', 'secret', TIMEOUT, clock, 0, TICK, catchUp);
    proof = [TIMEOUT, 20_000];
    clock.stall(25_000);
    expect([session.isAlive, session.confirmedAt]).toEqual([true, 20_000]);
    proof = [4_000, 24_000];
    expect([session.safeForMs, session.timeout]).toEqual([0.95 * 4_000 - 1_000, 4_000]);
    proof = undefined;
    clock.stall(10_000);
    expect(session.isAlive).toBe(false);
    session.confirmed(TIMEOUT, clock.now());
    expect(session.isAlive).toBe(false);
  });
});

describe('The option `renewalWorker` on ZooKeeper', () => {
  const create = (options: object) =>
    createZooKeeperLockClient('unit', {
      connect: 'zk-1:2181',
      ...options,
    });

  it.each<[object, string, RegExp]>([
    [{ renewalWorker: true }, 'renewalWorker', /\{ maxStall: 60_000 \}/],
    [{ renewalWorker: { maxStall: 29_999 } }, 'renewalWorker.maxStall', /`sessionTimeout`, 30000/],
    [
      { renewalWorker: { maxStall: 60_000 }, errorPolicy: 'standard' },
      'errorPolicy',
      /'session', or none/,
    ],
    [
      {
        renewalWorker: { maxStall: 60_000 },
        auth: [{ scheme: 'digest', auth: 'a:b', refresh: () => undefined }],
      },
      'renewalWorker',
      /cannot be copied/,
    ],
  ])('is refused in %j', async (options, option, message) => {
    const created = create(options);
    await expect(created).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option });
    await expect(created).rejects.toThrow(message);
  });
});
