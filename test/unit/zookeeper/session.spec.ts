import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { Session } from '../../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  Reply,
  Request,
  Transport,
} from '../../../lib/zookeeper/connection/transport.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { VirtualClock } from '../../support/time.js';

const TIMEOUT = 10_000;
const TICK = 2_000;

describe('A session', () => {
  let clock: VirtualClock;
  let ends: { at: number; reason: string }[];

  beforeEach(() => {
    clock = new VirtualClock();
    ends = [];
  });

  function begin(timeout = TIMEOUT, sentAt = clock.now()): Session {
    const session = new Session('a1', 'secret', timeout, clock, sentAt, TICK);
    session.onEnd((reason) => ends.push({ at: clock.now(), reason }));
    return session;
  }

  async function expectEndAt(ms: number): Promise<void> {
    await clock.advance(TIMEOUT);
    expect(ends.map(({ at }) => at)).toEqual([ms]);
  }

  it('reports its end before the servers can expire it', async () => {
    begin();
    await clock.advance(TIMEOUT);
    expect(ends).toEqual([
      { at: 9_500, reason: 'no proof for 9500 ms that the servers still keep it' },
    ]);
  });

  it('has ended at the first look after the machine has slept for so long, and no timer has fired', () => {
    const session = begin();
    clock.sleep(9_400);
    expect(session.isAlive).toBe(true);
    clock.sleep(100);
    expect(session.isAlive).toBe(false);
    expect(ends).toHaveLength(1);
    expect(begin(Infinity).isAlive).toBe(true); // embedded: its servers have slept too
  });

  it('counts from when the answered request was sent, not from its answer', async () => {
    await clock.advance(3_000);
    begin(TIMEOUT, 1_000);
    await expectEndAt(10_500);
  });

  describe('with answered requests', () => {
    /** A request that is sent now and answered after `ms`. */
    async function exchange(session: Session, byLeader: boolean, ms = 0): Promise<void> {
      const sentAt = clock.now();
      await clock.advance(ms);
      session.answered(sentAt, byLeader);
    }

    it('lives as long as the leader answers', async () => {
      const session = begin();
      for (let left = 20; left > 0; left--) {
        await exchange(session, true, 100);
        await clock.advance(1_400);
      }
      expect(session.isAlive).toBe(true);
      expect(session.confirmedAt).toBe(25_500);
      await clock.advance(TIMEOUT);
      // The last was sent at 28,500; of those that were answered a tick before, the last at 25,500.
      expect(ends.map(({ at }) => at)).toEqual([25_500 + 9_500]);
    });

    it('is not kept alive by answers that the leader need not know of', async () => {
      const session = begin();
      for (let left = 90; left > 0; left--) {
        await exchange(session, false, 50);
        await clock.advance(50);
      }
      await expectEndAt(9_500);
    });

    it.each([
      [TICK - 1, 9_500],
      [TICK, 3_000 + 9_500],
    ])(
      'counts from a read that was answered %d ms before the leader was asked',
      async (ms, end) => {
        const session = begin();
        await clock.advance(3_000);
        await exchange(session, false);
        await clock.advance(ms);
        await exchange(session, true, 500);
        await expectEndAt(end);
      },
    );

    it('does not count from a read with a late answer', async () => {
      const session = begin();
      await clock.advance(3_000);
      const sentAt = clock.now();
      await clock.advance(1_500);
      session.answered(sentAt, false);
      await clock.advance(1_000);
      await exchange(session, true); // sent a tick after the read, but not after its answer
      await expectEndAt(9_500);
    });

    it('is not shortened by a late answer to an early request', async () => {
      const session = begin();
      await clock.advance(2_000);
      await exchange(session, false);
      await clock.advance(3_000);
      session.answered(5_000, true);
      session.answered(1_000, true);
      await expectEndAt(2_000 + 9_500);
    });

    it('remembers few of many requests, and each long enough', async () => {
      const session = begin();
      for (let left = 600; left > 0; left--) {
        await exchange(session, true, 5);
        await clock.advance(5);
      }
      await clock.advance(TIMEOUT);
      const { at } = ends[0]!;
      expect(at).toBeGreaterThanOrEqual(5_990 - TICK - TICK / 8 - 10 + 9_500);
      expect(at).toBeLessThanOrEqual(5_990 - TICK + 9_500);
    });

    it('has two ticks at least, so that the lag is half of it at most', async () => {
      const session = begin(2_000);
      await exchange(session, false);
      await clock.advance(1_000);
      await exchange(session, true);
      expect(session.patience).toBe(1_000);
      await expectEndAt(1_900);
    });
  });

  describe('that is attached to again', () => {
    it('counts from the request for that', async () => {
      const session = begin();
      await clock.advance(5_000);
      session.attached(TIMEOUT, 4_000);
      await expectEndAt(13_500);
    });

    it('lives by a smaller timeout from then on', async () => {
      const session = begin();
      await clock.advance(1_000);
      session.attached(4_000, 900);
      expect([session.timeout, session.patience]).toEqual([4_000, 2_000]);
      await expectEndAt(900 + 3_800);
    });

    it('does not live by a greater one: the server before may have promised the smaller', async () => {
      const session = begin(4_000);
      await clock.advance(1_000);
      session.attached(TIMEOUT, 1_000);
      await expectEndAt(1_000 + 3_800);
    });

    it('ends at once when a smaller one is over already', async () => {
      const session = begin();
      await clock.advance(5_000);
      session.attached(4_000, 1_000);
      expect(session.isAlive).toBe(false);
    });

    it('does not count from what the server before has answered', async () => {
      const session = begin();
      await clock.advance(3_000);
      session.answered(3_000, false);
      session.attached(TIMEOUT, 3_000);
      await clock.advance(TICK);
      session.answered(clock.now(), true);
      await expectEndAt(3_000 + 9_500);
    });
  });

  it('is over by the clock even when the timer has not fired, and reports that at that moment', () => {
    const session = begin();
    clock.stall(9_499);
    expect(session.isAlive).toBe(true);
    clock.stall(1);
    expect(ends).toEqual([]);
    expect(session.isAlive).toBe(false);
    expect(ends).toHaveLength(1);
  });

  it('is never revived by an answer that comes after its end', async () => {
    const session = begin();
    clock.stall(9_500);
    session.answered(9_400, true);
    expect(session.isAlive).toBe(false);
    session.answered(clock.now(), true);
    session.attached(TIMEOUT, clock.now());
    await clock.advance(TIMEOUT);
    expect(session.isAlive).toBe(false);
    expect(ends).toHaveLength(1);
  });

  it('ends once, for the first reason, and leaves no timer', () => {
    const session = begin();
    session.end('the servers have expired it');
    session.end('closed');
    expect(ends).toEqual([{ at: 0, reason: 'the servers have expired it' }]);
    expect([session.isAlive, clock.isIdle]).toEqual([false, true]);
  });

  it('notifies late listeners at once, and none that was removed', () => {
    const session = begin();
    let heard = 0;
    session.onEnd(() => (heard += 1))();
    session.end('closed');
    expect(heard).toBe(0);
    session.onEnd(() => (heard += 1));
    expect(heard).toBe(1);
  });

  it('has ended already when its listeners are notified', () => {
    const session = begin();
    const seen: boolean[] = [];
    session.onEnd(() => seen.push(session.isAlive));
    session.end('closed');
    expect(seen).toEqual([false]);
  });

  it('lives for ever, without a timer, where it cannot expire', () => {
    const session = begin(Infinity);
    expect(clock.isIdle).toBe(true);
    clock.stall(Number.MAX_SAFE_INTEGER);
    expect(session.isAlive).toBe(true);
  });
});

const CREDENTIALS = { id: 'a1', password: 'secret', timeout: 10_000 };

/** A server that the test plays. */
class PlayedServer implements Transport {
  /** When it was connected to. */
  readonly openedAt: number[] = [];
  connected: (listener: LinkListener) => void = () => {};
  answer: (request: Request, reply: Reply) => void = (_, reply) => reply(ReturnCode.OK);

  constructor(private readonly clock: VirtualClock) {}

  open(_: unknown, listener: LinkListener) {
    this.openedAt.push(this.clock.now());
    this.clock.setTimer(() => this.connected(listener), 0);
    return {
      request: (request: Request, reply: Reply) => this.answer(request, reply),
      detach: () => {},
      close: () => {},
    };
  }

  async close(): Promise<void> {}
}

describe('The session of a client', () => {
  let clock: VirtualClock;
  let server: PlayedServer;
  let connection: SessionConnection;

  function connect(sessionTimeout: number): void {
    connection = new SessionConnection({
      transport: server,
      servers: { size: 1, next: async () => ({ host: 'played', port: 0 }) },
      sessionTimeout,
      clock,
      random: () => 0.5,
    });
    connection.start();
  }

  beforeEach(() => {
    clock = new VirtualClock();
    server = new PlayedServer(clock);
  });
  afterEach(() => connection.close());

  it('is not asked for every few ms at a server that takes it and hangs up', async () => {
    server.connected = (listener) => {
      listener.onConnected(CREDENTIALS);
      clock.setTimer(() => listener.onDisconnected('hung up'), 5);
    };
    connect(10_000);
    await clock.advance(10_000);
    expect(server.openedAt.length).toBeGreaterThan(10);
    expect(server.openedAt.length).toBeLessThan(40);
  });

  it('is asked for at once again where the link had lasted', async () => {
    server.connected = (listener) => {
      listener.onConnected(CREDENTIALS);
      clock.setTimer(() => listener.onDisconnected('hung up'), 2_000);
    };
    connect(10_000);
    await clock.advance(9_000);
    expect(server.openedAt.map((at) => Math.round(at / 1_000))).toEqual([0, 2, 4, 6, 8]);
  });

  it('has a second for its first attempt, however short it is to be: the servers may grant more', async () => {
    connect(300);
    await clock.advance(1_900);
    expect(server.openedAt).toEqual([0, 1_005]);
  });

  it('is doubtful again where it was attached to again, and the leader is silent at once', async () => {
    const doubts: number[] = [];
    let isSilent = false;
    server.connected = (listener) => listener.onConnected(CREDENTIALS);
    server.answer = (_, reply) => {
      if (!isSilent) clock.setTimer(() => reply(ReturnCode.OK), 10);
    };
    connect(10_000);
    connection.onDoubt(() => doubts.push(clock.now()));
    await clock.runUntil(() => connection.isConnected);
    isSilent = true; // it takes every connection, and answers nothing
    await clock.advance(60_000);
    const opened = server.openedAt.filter((at) => at < 60_000 - 7_000);
    expect(opened.length).toBeGreaterThan(5);
    expect(connection.state).toBe('SUSPENDED');
    expect(doubts.length).toBe(0);
    server.connected = () => {};
    await clock.runUntil(() => doubts.length > 0, 10_000);
    server.connected = (listener) => listener.onConnected(CREDENTIALS);
    await clock.runUntil(() => connection.session!.safeForMs > 9_000, 4_000);
    server.connected = () => {};
    await clock.runUntil(() => doubts.length > 1, 8_000);
    expect(connection.session!.isAlive).toBe(true);
  });

  it.each([4_000, 6_000, 10_000, 30_000, 60_000])(
    'of %d ms is not doubtful while the leader answers, then once, and before it ends',
    async (timeout) => {
      const doubts: number[] = [];
      const losses: number[] = [];
      let isSilent = false;
      server.connected = (listener) => {
        if (!isSilent) listener.onConnected({ ...CREDENTIALS, timeout });
      };
      server.answer = (_, reply) => {
        if (!isSilent) clock.setTimer(() => reply(ReturnCode.OK), 50);
      };
      connect(timeout);
      connection.onDoubt(() => doubts.push(clock.now()));
      connection.onStateChange((state) => {
        if (state === 'LOST') losses.push(clock.now());
      });
      await clock.advance(10 * timeout);
      expect(doubts).toEqual([]);
      for (let time = 1; time <= 2; time++) {
        isSilent = true;
        await clock.runUntil(() => doubts.length === time, timeout);
        expect(connection.session!.safeForMs).toBeGreaterThan(timeout / 10);
        isSilent = false;
        await clock.advance(4 * timeout);
        expect([doubts.length, losses]).toEqual([time, []]);
      }
      isSilent = true;
      await clock.advance(timeout);
      expect([doubts.length, losses.length]).toEqual([3, 1]);
    },
  );

  describe('in a process whose event loop turns once in a while', () => {
    /** What has arrived, and is not read yet. */
    let arrived: (() => void)[];

    beforeEach(() => {
      arrived = [];
      server.answer = (_, reply) => void arrived.push(() => reply(ReturnCode.OK));
    });

    /** The links whose server takes each step, one in each turn, before it accepts the session. */
    function takeSteps(steps: number): void {
      const step = (listener: LinkListener, left: number) =>
        void arrived.push(() => {
          if (left === 0) return listener.onConnected({ ...CREDENTIALS, timeout: 40_000 });
          listener.onProgress!();
          step(listener, left - 1);
        });
      server.connected = (listener) => step(listener, steps);
    }

    /** The timers that are due fire, then what has arrived is read, and the process works for so long. */
    async function turn(ms: number): Promise<void> {
      await clock.advance(0);
      for (const read of arrived.splice(0)) read();
      await clock.advance(0);
      clock.stall(ms);
    }

    it.each([
      [1_300, 6],
      [2_600, 6],
      [5_500, 3],
    ])(
      'is attached to in one attempt, with turns of %d ms and a server that is well, in %d steps',
      async (ms, steps) => {
        takeSteps(steps);
        connect(40_000);
        for (let turns = 0; turns < 10; turns++) await turn(ms);
        expect([server.openedAt, connection.state]).toEqual([[0], 'CONNECTED']);
      },
    );

    it('is tried elsewhere in the turn after a limit, where the server answers nothing', async () => {
      connect(40_000);
      while (server.openedAt.length < 2) await turn(2_600);
      expect(server.openedAt[1]).toBeLessThan(5_000 + 2 * 2_600);
    });
  });

  it('is tried elsewhere a limit after the last step of a server that has fallen silent', async () => {
    server.connected = (listener) => {
      listener.onProgress!();
      clock.setTimer(() => listener.onProgress!(), 4_000);
    };
    connect(30_000);
    await clock.runUntil(() => server.openedAt.length > 1);
    expect(server.openedAt[1]).toBeGreaterThanOrEqual(9_000);
    expect(server.openedAt[1]).toBeLessThan(9_100);
    server.connected = () => {};
    await clock.runUntil(() => server.openedAt.length > 3);
    expect(server.openedAt[3]! - server.openedAt[2]!).toBeLessThan(5_100);
  });

  it('is not used up by a server that takes each step just before its limit', async () => {
    let cut = () => {};
    server.connected = (listener) => {
      cut = () => listener.onDisconnected('hung up');
      listener.onConnected({ ...CREDENTIALS, timeout: 6_000 });
    };
    server.answer = (_, reply) => reply(ReturnCode.OK);
    connect(6_000);
    await clock.runUntil(() => connection.isConnected);
    server.connected = (listener) => {
      const step = () => {
        listener.onProgress!();
        clock.setTimer(step, 1_900);
      };
      step();
    };
    cut();
    await clock.runUntil(() => server.openedAt.length > 2);
    expect(connection.session?.isAlive).toBe(true);
  });

  it('has all of its time for the sync again once it is attached to', async () => {
    let cut = () => {};
    let attached = 0;
    const attach = (listener: LinkListener) => {
      attached += 1;
      cut = () => listener.onDisconnected('hung up');
      listener.onConnected({ ...CREDENTIALS, timeout: 6_000 });
    };
    server.connected = attach;
    connect(6_000);
    await clock.runUntil(() => connection.isConnected);
    server.connected = () => {};
    cut();
    await clock.runUntil(() => connection.session!.safeForMs < 500);
    server.connected = attach;
    server.answer = (_, reply) => clock.setTimer(() => reply(ReturnCode.OK), 1_500);
    await clock.runUntil(() => connection.isConnected);
    expect(attached).toBe(2);
  });

  it.each<[string, (given: LinkListener) => void]>([
    ['takes another step', (given) => given.onProgress!()],
    ['is accepted', (given) => given.onConnected(CREDENTIALS)],
  ])('is tried elsewhere also if a link %s after it was given up', async (_, late) => {
    const links: LinkListener[] = [];
    server.connected = (listener) => void links.push(listener);
    connect(30_000);
    await clock.runUntil(() => links.length === 2);
    late(links[0]!);
    expect(connection.session).toBeUndefined();
    await clock.runUntil(() => links.length === 3, 5_100);
  });

  it('is none the worse for a request that the driver throws on', async () => {
    server.connected = (listener) => listener.onConnected(CREDENTIALS);
    server.answer = ({ op }, reply) => {
      if (op === 'getData') throw new TypeError('not a path');
      reply(ReturnCode.OK);
    };
    connect(10_000);
    await clock.runUntil(() => connection.isConnected);
    const thrown = expect(connection.getData('/')).rejects.toThrow('not a path');
    await clock.advance(30_000);
    await thrown;
    expect([connection.state, server.openedAt.length]).toEqual(['CONNECTED', 1]);
  });
});
