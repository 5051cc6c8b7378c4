import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type {
  LinkListener,
  Reply,
  Request,
  Transport,
} from '../../../lib/zookeeper/connection/transport.js';
import { VirtualClock } from '../../support/virtual-clock.js';

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
    expect(server.openedAt).toEqual([0, 1_000]);
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
