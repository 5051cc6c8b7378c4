import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../../../lib/core/clock.js';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import type { Reply, SessionCredentials } from '../../../lib/zookeeper/connection/transport.js';
import type { AuthInfo } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { ZooKeeperSaslOptions } from '../../../lib/zookeeper/wire/digest-md5.js';
import { FrameReader } from '../../../lib/zookeeper/wire/frame-reader.js';
import { JuteReader, JuteWriter, ProtocolError } from '../../../lib/zookeeper/wire/jute.js';
import { readAnswer, readConnectResponse, readEvent } from '../../../lib/zookeeper/wire/records.js';
import { RequestTable } from '../../../lib/zookeeper/wire/request-table.js';
import { WireTransport } from '../../../lib/zookeeper/wire/wire-transport.js';
import { WireLink } from '../../../lib/zookeeper/wire/wire-link.js';
import { seededRandom } from '../../support/seeded-random.js';
import { Deferred, VirtualClock } from '../../support/time.js';
import { byTier } from '../../support/tier.js';

const FRAMES = byTier({ quick: 20_000, standard: 20_000, long: 1_000_000 });
const LINKS = byTier({ quick: 300, standard: 300, long: 10_000 });
/** Messages that arrive at once. */
const MANY = 200;
const SEED = Number(process.env.WIRE_SEED ?? 1);

const record = (write: (writer: JuteWriter) => void): Buffer => {
  const writer = new JuteWriter();
  write(writer);
  return writer.take();
};
const framed = (write: (writer: JuteWriter) => void): Buffer =>
  record((writer) => void writer.frame(Infinity, write));

const stat = (writer: JuteWriter) => {
  for (const long of [7n, 8n, 1_700_000_000_000n, 1_700_000_000_001n]) writer.long(long);
  writer.int(1).int(2).int(3).long(-2n).int(4).int(5).long(9n);
};
const connectResponse = (writer: JuteWriter) =>
  void writer.int(0).int(10_000).long(-2n).buffer(Buffer.alloc(16, 255)).boolean(false);
const answers = {
  create: record((writer) => stat(writer.text('/locks/é-0000000001'))),
  exists: record(stat),
  setData: record(stat),
  getData: record((writer) => stat(writer.buffer(Buffer.from('data')))),
  getChildren: record((writer) => writer.vector(['a', 'ü', ''], (w, name) => w.text(name))),
  multi: record((writer) => {
    const part = (type: number, isEnd = false) =>
      writer
        .int(type)
        .boolean(isEnd)
        .int(isEnd ? -1 : 0);
    stat(part(15).text('/a'));
    stat(part(5));
    for (const type of [13, 2]) part(type);
    part(-1, true);
  }),
};
const operations = [
  { op: 'create', path: '/a', data: Buffer.alloc(0), mode: 0 },
  { op: 'setData', path: '/a', data: Buffer.alloc(0), version: 0 },
  { op: 'check', path: '/a', version: 1 },
  { op: 'delete', path: '/a', version: 1 },
] as const;
const requestOf = (op: keyof typeof answers) => ({ op, operations });
const event = record((writer) => writer.int(2).int(3).text('/locks/a'));

describe('Jute', () => {
  it('is read as it was written', () => {
    const reader = new JuteReader(
      record((writer) =>
        writer
          .int(-5)
          .long(-(2n ** 63n))
          .boolean(true)
          .text('é€😀')
          .buffer(Buffer.from([1, 2])),
      ),
    );
    expect([reader.int(), reader.long(), reader.boolean()]).toEqual([-5, -(2n ** 63n), true]);
    expect([reader.text(), reader.buffer()]).toEqual(['é€😀', Buffer.from([1, 2])]);
    expect(reader.rest).toBe(0);
  });

  it('is written to any length', () => {
    const texts = Array.from({ length: 2_000 }, (_, n) => 'é'.repeat(n));
    const reader = new JuteReader(record((writer) => writer.vector(texts, (w, it) => w.text(it))));
    expect(reader.vector(4, (it) => it.text())).toEqual(texts);
  });

  it('takes back a frame that cannot be written, and what is before it stays', () => {
    const writer = new JuteWriter();
    writer.frame(Infinity, (it) => void it.text('before'));
    const tooLarge = () => writer.frame(Infinity, (it) => void it.text('half').int(2 ** 31));
    expect(tooLarge).toThrow(RangeError);
    writer.frame(Infinity, (it) => void it.text('after'));
    const frames = new FrameReader().push(writer.take());
    expect(frames.map((bytes) => new JuteReader(bytes).text())).toEqual(['before', 'after']);
  });

  it('has answers with stats, in which ids of sessions are unsigned', () => {
    expect(readAnswer(new JuteReader(answers.getData), { op: 'getData' })).toEqual({
      data: Buffer.from('data'),
      stat: {
        czxid: 7,
        mzxid: 8,
        ctime: new Date(1_700_000_000_000),
        mtime: new Date(1_700_000_000_001),
        version: 1,
        ephemeralOwner: 'fffffffffffffffe',
        numChildren: 5,
      },
    });
  });

  it('has an answer to each operation of a multi, or the first error that is to blame', () => {
    const read = (bytes: Buffer) => readAnswer(new JuteReader(bytes), { op: 'multi', operations });
    const made = { path: '/a', czxid: 7 };
    const changed = expect.objectContaining({ version: 1 });
    expect(read(answers.multi)).toEqual({ answers: [made, changed, undefined, undefined] });
    const refused = (codes: number[], ends = true) =>
      record((writer) => {
        for (const rc of codes) writer.int(-1).boolean(false).int(rc).int(rc);
        if (ends) writer.int(-1).boolean(true).int(-1);
      });
    expect(read(refused([0, 0, -103, -2]))).toEqual({ failed: 2, rc: -103 });
    expect(() => read(refused([0, 0, -2, -2]))).toThrow(ProtocolError); // no reason
    expect(() => read(refused([0, -103, -2]))).toThrow(ProtocolError); // too few
    expect(() => read(refused([0, -103, -2, -2, -2]))).toThrow(ProtocolError); // too many
    expect(() => read(refused([0, -103, -2, -2], false))).toThrow(ProtocolError);
  });

  it('has null for what is empty', () => {
    const nothing = record((writer) => writer.int(-1));
    expect(new JuteReader(nothing).buffer()).toEqual(Buffer.alloc(0));
    expect(new JuteReader(nothing).text()).toBe('');
    expect(new JuteReader(nothing).vector(4, (it) => it.int())).toEqual([]);
  });

  it.each([
    ['a text', (reader: JuteReader) => reader.text()],
    ['a buffer', (reader: JuteReader) => reader.buffer()],
    ['a list', (reader: JuteReader) => reader.vector(4, (it) => it.int())],
  ])('makes nothing of the announced length of %s that has not arrived', (_, read) => {
    for (const length of [5, 2 ** 31 - 1]) {
      const reader = new JuteReader(record((writer) => writer.int(length).int(0)));
      expect(() => read(reader)).toThrow(ProtocolError);
    }
  });
});

describe('Frames', () => {
  it('are found wherever they are cut and joined', () => {
    const random = seededRandom(SEED);
    const sent = Array.from({ length: 2_000 }, (_, n) =>
      Buffer.alloc(Math.floor(random() ** 8 * 10_000), n),
    );
    const stream = Buffer.concat(
      sent.map((bytes) => Buffer.concat([record((writer) => writer.int(bytes.length)), bytes])),
    );
    const reader = new FrameReader();
    const received: Buffer[] = [];
    for (let at = 0; at < stream.length;) {
      const end = at + 1 + Math.floor(random() ** 6 * 30_000);
      received.push(...reader.push(stream.subarray(at, end)));
      at = end;
    }
    expect(received.length).toBe(sent.length);
    expect(received.every((bytes, n) => bytes.equals(sent[n]!))).toBe(true);
  });

  it.each([-1, -(2 ** 31), 64 * 1024 * 1024 + 1, 2 ** 31 - 1, 0x48545450])(
    'have no length of %d',
    (length) => {
      const header = record((writer) => writer.int(length));
      expect(() => new FrameReader().push(header)).toThrow(ProtocolError);
    },
  );

  it('of a large announced length take no memory before they arrive', () => {
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 100 }, () => new FrameReader());
    for (const reader of readers) reader.push(record((writer) => writer.int(64 * 1024 * 1024)));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('Requests', () => {
  it('are numbered from 1, and again from 1 after the largest number', () => {
    const numbers: number[] = [];
    for (const last of [0, 2 ** 31 - 3]) {
      const table = new RequestTable(last);
      for (let n = 0; n < 4; n++) {
        numbers.push(table.nextXid);
        table.add(() => {});
      }
    }
    expect(numbers).toEqual([1, 2, 3, 4, 2 ** 31 - 2, 2 ** 31 - 1, 1, 2]);
  });

  it('are answered in order, or not at all', () => {
    const table = new RequestTable();
    const answered: number[] = [];
    for (let n = 1; n <= 3; n++) table.add((rc) => answered.push(rc));
    const nothing = new JuteReader(Buffer.alloc(0));
    table.answer(1, -101, nothing);
    expect(() => table.answer(3, 0, nothing)).toThrow(ProtocolError);
    expect(answered).toEqual([-101]);
    expect(() => new RequestTable().answer(1, 0, nothing)).toThrow(ProtocolError);
  });
});

interface LinkSettings {
  readonly auth?: AuthInfo[];
  readonly sasl?: ZooKeeperSaslOptions;
  /** Whether the socket is ready only at `secureConnect`, which is for the test to emit. */
  readonly isTls?: boolean;
}

/** A link to a server that says what the test wants. */
function link(
  replies: unknown[] = [],
  clock: Clock = systemClock,
  { auth = [], sasl, isTls = false }: LinkSettings = {},
) {
  const sent: Buffer[] = [];
  const socket = new Duplex({
    allowHalfOpen: false,
    read: () => {},
    write: (bytes: Buffer, _, done) => {
      sent.push(bytes);
      done();
    },
  }) as Duplex & Partial<Pick<Socket, 'setNoDelay'>>;
  socket.setNoDelay = () => socket as Socket;
  const events: unknown[] = [];
  const context = { clock, sasl, seen: { zxid: 0 }, onClosed: () => {} };
  let steps = 0;
  const listener = {
    onProgress: () => void (steps += 1),
    onConnected: (it: object) => events.push(['connected', it]),
    onDisconnected: (reason: string) => events.push(['disconnected', reason]),
    onExpired: () => events.push(['expired']),
    onWatch: (...it: unknown[]) => events.push(it),
  };
  const options = { address: { host: '', port: 0 }, sessionTimeout: 10_000, auth };
  const made = new WireLink(
    socket as Socket,
    isTls ? 'secureConnect' : 'connect',
    options,
    listener,
    context,
  );
  socket.emit('connect');
  const ends = () => events.filter((it) => /^(disconnected|expired)$/.test((it as string[])[0]!));
  const ask = () => {
    const reply: Reply = (rc, answer) => replies.push([rc, answer]);
    made.request({ op: 'getData', path: '/a', watch: true }, reply);
    made.request({ op: 'getChildren', path: '/a', watch: true }, reply);
    made.request({ op: 'exists', path: '/a', watch: true }, reply);
    made.request({ op: 'create', path: '/a', data: Buffer.alloc(0), mode: 1 }, reply);
  };
  const stepsTaken = () => steps;
  return { made, socket, sent, events, ends, ask, seen: context.seen, stepsTaken };
}
const turnsUntil = async (isDone: () => boolean) => {
  for (let turns = 0; ; turns++) {
    if (isDone()) return turns;
    await new Promise((resolve) => setImmediate(resolve));
  }
};
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const message = (xid: number, body: Buffer, rc = 0, zxid = BigInt(Math.max(0, xid))) => {
  const header = record((writer) =>
    writer
      .int(16 + body.length)
      .int(xid)
      .long(zxid)
      .int(rc),
  );
  return Buffer.concat([header, body]);
};
const conversation = () => [
  framed(connectResponse),
  message(-1, event, 0, -1n),
  message(-2, Buffer.alloc(0), 0, 90n),
  message(1, answers.getData),
  message(2, answers.getChildren),
  message(3, Buffer.alloc(0), -101),
  message(4, answers.create),
];

describe('A link', () => {
  it('delivers the answers and the events, and remembers the latest transaction of an answer', async () => {
    const replies: [number, unknown][] = [];
    const { socket, events, ask, seen } = link(replies);
    const [welcome, ...rest] = conversation();
    socket.push(welcome);
    await settled();
    ask();
    socket.push(Buffer.concat(rest));
    await settled();
    expect(events).toEqual([
      ['connected', { id: 'fffffffffffffffe', password: 'FF'.repeat(16), timeout: 10_000 }],
      ['deleted', '/locks/a'],
    ]);
    expect(replies.map(([rc]) => rc)).toEqual([0, 0, -101, 0]);
    expect(replies[3]![1]).toEqual({ path: '/locks/é-0000000001', czxid: 7 });
    expect(seen).toEqual({ session: 'fffffffffffffffe', zxid: 4 }); // not 90: a ping proves nothing
    socket.destroy();
  });

  it('reports each step to a session that may be used, and nothing else that the server sends', async () => {
    const auth = [{ scheme: 'digest', auth: 'ann:secret' }];
    const sasl = { username: 'ann', password: 'secret' };
    const { socket, stepsTaken } = link([], systemClock, { auth, sasl, isTls: true });
    const token = (text: string) => record((writer) => void writer.buffer(Buffer.from(text)));
    const ping = message(-2, Buffer.alloc(0));
    const taken = [stepsTaken()];
    socket.emit('secureConnect');
    taken.push(stepsTaken());
    for (const sent of [
      framed(connectResponse),
      ping,
      message(-4, Buffer.alloc(0)),
      ping,
      message(
        1,
        token('realm="zk-sasl-md5",nonce="OA6MG9tEQGm2hh",charset=utf-8,algorithm=md5-sess'),
      ),
      ping,
      message(2, token('rspauth=0')),
    ]) {
      socket.push(sent);
      await settled();
      taken.push(stepsTaken());
    }
    expect(taken).toEqual([1, 2, 3, 3, 4, 4, 5, 5, 6]);
    socket.destroy();
  });

  it.each<[string, Buffer[], RegExp]>([
    ['the session', [], /before it accepted the session: it may have no quorum/],
    ['the credentials', [framed(connectResponse)], /before it accepted the credentials/],
  ])('reports that the server hung up before it accepted %s', async (_, sent, reason) => {
    const { socket, ends } = link([], systemClock, { auth: [{ scheme: 'digest', auth: 'a:b' }] });
    for (const each of sent) socket.push(each);
    await settled();
    socket.destroy();
    await settled();
    expect(ends()).toEqual([['disconnected', expect.stringMatching(reason)]]);
  });

  it.each([
    ['ECONNRESET', /too many connections.* \(read ECONNRESET\)$/],
    ['EPIPE', /too many connections.* \(read EPIPE\)$/],
    ['ENETUNREACH', /^read ENETUNREACH$/],
  ])('says why the server may have reset the connection: %s', async (code, reason) => {
    const { socket, ends } = link([], systemClock);
    socket.destroy(Object.assign(new Error(`read ${code}`), { code }));
    await settled();
    expect(ends()).toEqual([['disconnected', expect.stringMatching(reason)]]);
  });

  it('delivers a message when all that the one before has settled has run', async () => {
    const { socket, made } = link();
    socket.push(framed(connectResponse));
    await settled();
    const order: string[] = [];
    const follow = (n: number) => () => {
      order.push(`answer ${n}`);
      void Promise.resolve()
        .then(() => {})
        .then(() => order.push(`what follows ${n}`));
    };
    for (const n of [1, 2]) made.request({ op: 'sync', path: '/' }, follow(n));
    const path = record((writer) => writer.text('/'));
    socket.push(Buffer.concat([message(1, path), message(2, path)]));
    await settled();
    expect(order).toEqual(['answer 1', 'what follows 1', 'answer 2', 'what follows 2']);
    socket.destroy();
  });

  it('delivers many messages in several turns of the event loop, in order, and sends what they cause in each', async () => {
    const { socket, made, sent } = link();
    socket.push(framed(connectResponse));
    await settled();
    sent.length = 0;
    const order: number[] = [];
    const ask = (n: number) =>
      made.request({ op: 'sync', path: '/' }, () => {
        order.push(n);
        if (n < MANY) ask(n + MANY);
      });
    for (let n = 0; n < MANY; n++) ask(n);
    await settled();
    const answers = Array.from({ length: 2 * MANY }, (_, n) =>
      message(
        n + 1,
        record((writer) => writer.text('/')),
      ),
    );
    socket.push(Buffer.concat(answers.slice(0, MANY))); // what follows is kept by the stream, and emitted in one turn
    for (let n = MANY; n < 2 * MANY; n += 5) socket.push(Buffer.concat(answers.slice(n, n + 5)));
    const turns = await turnsUntil(() => order.length === 2 * MANY);
    await settled();
    expect(order).toEqual(Array.from({ length: 2 * MANY }, (_, n) => n));
    expect(turns).toBeGreaterThan(MANY / 32);
    expect(sent.length).toBeGreaterThan(MANY / 32);
    expect(sent.length).toBeLessThan(MANY / 4); // together in each turn
    expect(socket.isPaused()).toBe(false);
    socket.destroy();
  });

  it('delivers nothing more after its end, whatever has arrived', async () => {
    const { socket, made, events } = link();
    socket.push(framed(connectResponse));
    await settled();
    events.length = 0;
    socket.push(Buffer.concat(Array.from({ length: MANY }, () => message(-1, event, 0, -1n))));
    await turnsUntil(() => socket.isPaused()); // the server has to wait
    made.close();
    const before = events.length;
    expect(before).toBeGreaterThan(0);
    await turnsUntil(() => !socket.isPaused()); // it has to hear that the server hangs up
    expect(before).toBeLessThan(MANY);
    expect(events).toHaveLength(before);
    socket.destroy();
  });

  describe('that was closed', () => {
    let clock: VirtualClock;
    let socket: Duplex;

    beforeEach(async () => {
      clock = new VirtualClock();
      const closing = link([], clock);
      socket = closing.socket;
      socket.push(framed(connectResponse));
      await settled();
      closing.made.close();
    });
    afterEach(() => expect(clock.isIdle).toBe(true));

    it('gives its socket up when the server falls silent', async () => {
      await clock.advance(2_000);
      socket.push(Buffer.alloc(1));
      await clock.advance(2_499);
      expect(socket.destroyed).toBe(false);
      await clock.advance(1);
      expect(socket.destroyed).toBe(true);
    });

    it('gives its socket up after 10 s when the server goes on sending', async () => {
      await clock.advance(500);
      for (; clock.now() < 9_500; await clock.advance(1_000)) {
        expect(socket.destroyed).toBe(false);
        socket.push(Buffer.alloc(1));
      }
      socket.push(Buffer.alloc(1));
      await clock.advance(499);
      expect(socket.destroyed).toBe(false);
      await clock.advance(1);
      expect(socket.destroyed).toBe(true);
    });

    it('leaves no timer behind when the server hangs up', async () => {
      socket.push(null);
      await settled();
      expect(socket.destroyed).toBe(true);
    });
  });

  it('sends the requests of one turn together', async () => {
    const { socket, sent, ask } = link();
    socket.push(framed(connectResponse));
    await settled();
    sent.length = 0;
    ask();
    await settled();
    expect(sent).toHaveLength(1);
    expect(new FrameReader().push(sent[0]!)).toHaveLength(4);
    socket.destroy();
  });

  it('refuses a request that the server would hang up at, and sends nothing of it', async () => {
    const replies: [number, unknown][] = [];
    const { socket, made, sent } = link();
    socket.push(framed(connectResponse));
    await settled();
    sent.length = 0;
    const set = (length: number) =>
      made.request(
        { op: 'setData', path: '/a', data: Buffer.alloc(length), version: -1 },
        (rc, it) => replies.push([rc, it]),
      );
    expect(() => set(0xfffff)).toThrow(LockOptionsError);
    await settled();
    expect(sent).toEqual([]);
    set(1_000_000);
    await settled();
    socket.push(message(1, answers.setData));
    await settled();
    expect(replies.map(([rc]) => rc)).toEqual([0]);
    socket.destroy();
  });

  it('sends nothing of a request that cannot be written, and goes on with the next', async () => {
    const codes: number[] = [];
    const { socket, made, sent } = link();
    socket.push(framed(connectResponse));
    await settled();
    sent.length = 0;
    const set = (version: number) =>
      made.request({ op: 'setData', path: '/a', data: Buffer.alloc(1), version }, (rc) =>
        codes.push(rc),
      );
    expect(() => set(2 ** 31)).toThrow(RangeError);
    set(2 ** 31 - 1);
    await settled();
    expect(new FrameReader().push(Buffer.concat(sent))).toHaveLength(1);
    socket.push(message(1, answers.setData));
    await settled();
    expect(codes).toEqual([0]);
    socket.destroy();
  });

  it.each([
    ['an answer out of order', message(2, answers.getData)],
    ['an answer to nothing', message(99, Buffer.alloc(0))],
    [
      'an unknown event',
      message(
        -1,
        record((writer) => writer.int(9).int(3).text('/a')),
      ),
    ],
    ['a verdict on no credentials', message(-4, Buffer.alloc(0))],
    ['an answer that is cut short', message(1, answers.getData.subarray(0, 9))],
    ['a frame without a header', framed((writer) => writer.int(1))],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('ends at %s', async (_, bytes) => {
    const { socket, ends, ask } = link();
    socket.push(framed(connectResponse));
    await settled();
    ask();
    socket.push(bytes);
    socket.push(bytes);
    await settled();
    expect(ends()).toEqual([
      ['disconnected', expect.stringContaining("does not speak ZooKeeper's protocol")],
    ]);
    expect(socket.destroyed).toBe(true);
  });
});

describe('A transport', () => {
  /** What each connection has asked for: the session, and the latest transaction that its client has seen. */
  const greetings: [session: string, zxid: bigint][] = [];
  const connections = new Set<Socket>();
  let server: Server;
  let transport: WireTransport;

  /** The next session, and the next transaction. */
  let granted = 0n;
  let zxid = 100n;

  /** A server that grants each session that is asked for, and answers each request with a new transaction. */
  const serve = (socket: Socket) => {
    const frames = new FrameReader();
    let isWelcome = false;
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      for (const frame of frames.push(bytes)) {
        const reader = new JuteReader(frame);
        const xid = reader.int();
        if (isWelcome) {
          socket.write(message(xid, record(stat), 0, ++zxid));
          continue;
        }
        isWelcome = true;
        const seen = reader.long();
        reader.int();
        const session = reader.long();
        greetings.push([session.toString(16), seen]);
        const id = session || ++granted;
        socket.write(
          framed(
            (it) => void it.int(0).int(10_000).long(id).buffer(Buffer.alloc(16)).boolean(false),
          ),
        );
      }
    });
  };

  beforeEach(async () => {
    greetings.length = 0;
    transport = new WireTransport({ clock: systemClock });
    server = createServer(serve).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    for (const socket of connections) socket.destroy();
    await transport.close();
    await promisify(server.close.bind(server))();
  });

  /** Attaches to a session, or opens one, and makes a request. */
  async function visit(credentials?: SessionCredentials): Promise<SessionCredentials> {
    const { port } = server.address() as AddressInfo;
    const up = new Deferred<SessionCredentials>();
    const failed = (reason: string) => up.reject(new Error(reason));
    const link = transport.open(
      { address: { host: '127.0.0.1', port }, sessionTimeout: 10_000, auth: [], credentials },
      { onConnected: up.resolve, onDisconnected: failed, onExpired: failed, onWatch: () => {} },
    );
    const session = await up.promise;
    const answered = new Deferred<number>();
    link.request({ op: 'exists', path: '/a', watch: false }, answered.resolve);
    expect(await answered.promise).toBe(0);
    link.detach(undefined);
    return session;
  }

  it('tells a server the latest transaction that this session has seen, and none of another session', async () => {
    const first = await visit();
    await visit(first);
    const foreign = { ...first, id: 'f1' }; // as the worker that keeps the sessions of another thread
    await visit(foreign);
    await visit(foreign);
    const second = await visit();
    await visit(second);
    expect(greetings).toEqual([
      ['0', 0n],
      [first.id, 101n],
      ['f1', 0n],
      ['f1', 103n],
      ['0', 0n],
      [second.id, 105n],
    ]);
  });
});

describe('Nonsense', () => {
  /** A copy with one thing wrong. */
  const spoilt = (bytes: Buffer, random: () => number): Buffer => {
    const copy = Buffer.from(bytes);
    const at = Math.floor(random() * copy.length);
    const lengths = [-1, -2, 0, 1, 2 ** 31 - 1, -(2 ** 31), copy.length];
    switch (Math.floor(random() * 5)) {
      case 0:
        return copy.subarray(0, at);
      case 1:
        return Buffer.concat([copy, Buffer.alloc(1 + at, at)]);
      case 2:
        if (at + 4 <= copy.length)
          copy.writeInt32BE(lengths[Math.floor(random() * lengths.length)]!, at);
        return copy;
      case 3:
        return copy.fill(Math.floor(random() * 256), at);
      default:
        if (copy.length > 0) copy[at] = Math.floor(random() * 256);
        return copy;
    }
  };

  it(`is read as a record or refused, nothing else (${FRAMES} frames, seed ${SEED})`, () => {
    const random = seededRandom(SEED);
    const readers = [
      ...Object.entries(answers).map(
        ([op, bytes]) =>
          [
            bytes,
            (it: JuteReader) => readAnswer(it, requestOf(op as keyof typeof answers)),
          ] as const,
      ),
      [event, (it: JuteReader) => readEvent(it)] as const,
      [record(connectResponse), (it: JuteReader) => readConnectResponse(it)] as const,
    ];
    let refused = 0;
    for (let n = 0; n < FRAMES; n++) {
      const [bytes, read] = readers[Math.floor(random() * readers.length)]!;
      try {
        read(new JuteReader(spoilt(bytes, random)));
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(FRAMES / 10);
    expect(refused).toBeLessThan(FRAMES);
  });

  it(`ends a link at most once, and nothing hangs or throws (${LINKS} links, seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    let ended = 0;
    for (let n = 0; n < LINKS; n++) {
      const replies: unknown[] = [];
      const { socket, ends, ask, made } = link(replies);
      const [welcome, ...rest] = conversation();
      const isEarly = random() < 0.1;
      socket.push(isEarly ? spoilt(welcome!, random) : welcome);
      await settled();
      ask();
      const which = Math.floor(random() * rest.length);
      const stream = Buffer.concat(
        rest.map((bytes, i) => (i === which ? spoilt(bytes, random) : bytes)),
      );
      const cut = Math.floor(random() * stream.length);
      socket.push(stream.subarray(0, cut));
      socket.push(stream.subarray(cut));
      await settled();
      socket.push(null); // the server hangs up: now the link has ended in any case
      await settled();
      expect(ends()).toHaveLength(1);
      expect(replies.length).toBeLessThanOrEqual(4);
      ended += replies.length < 4 ? 1 : 0;
      made.detach();
    }
    expect(ended).toBeGreaterThan(LINKS / 10);
  });
});
