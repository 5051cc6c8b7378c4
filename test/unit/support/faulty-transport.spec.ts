import { beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import {
  type Created,
  CreateMode,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { Request, SessionCredentials } from '../../../lib/zookeeper/connection/transport.js';
import { FaultyTransport } from '../../support/transports.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualClock } from '../../support/time.js';
import { create, exists, open } from '../embedded/embedded-client.js';

const { CONNECTIONLOSS } = ReturnCode;
describe('FaultyTransport', () => {
  let clock: VirtualClock;
  let server: EmbeddedServer;
  let transport: FaultyTransport;
  let heard: string[];
  let opened: ReturnType<typeof open>;

  const connect = (asked?: SessionCredentials) =>
    open(
      transport,
      { sessionTimeout: 2_000, credentials: asked },
      { heard, prefix: () => `${clock.now()}: ` },
    );
  const send = (request: Request) => opened.send(request);
  const has = (path: string) => server.tree.get(path) !== undefined;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new EmbeddedServer({ clock, tickTime: 500 });
    const embedded = new EmbeddedTransport(server, (fn) => clock.setTimer(fn, 0));
    transport = new FaultyTransport(embedded, clock);
    transport.latency = () => 5;
    heard = [];
    opened = connect();
    await clock.advance(10);
    expect(heard).toEqual(['10: connected']);
    heard.length = 0;
  });

  it('lets a request take effect when it arrives, and its reply come later still', async () => {
    send(create('/a'));
    await clock.advance(4);
    expect(has('/a')).toBe(false);
    await clock.advance(1);
    expect(has('/a')).toBe(true);
    expect(heard).toEqual([]);
    await clock.advance(5);
    expect(heard).toEqual(['20: create 0']);
  });

  it('keeps the order of requests and replies, however long each takes', async () => {
    const random = seededRandom(7);
    transport.latency = () => random() * 100;
    const paths = Array.from({ length: 50 }, (_, n) => `/n${n}`);
    const replies: unknown[] = [];
    for (const path of paths)
      opened.link.request(create(path), (_, answer) => replies.push((answer as Created).path));
    await clock.runUntil(() => replies.length === 50, 1_000);
    expect(replies).toEqual(paths);
  });

  it('cuts: requests and replies under way are lost', async () => {
    send(create('/arrived'));
    await clock.advance(5);
    send(create('/underway'));
    transport.cut();
    await clock.advance(5);
    expect(heard).toEqual([
      '20: disconnected: the connection was cut',
      `20: create ${CONNECTIONLOSS}`,
      `20: create ${CONNECTIONLOSS}`,
    ]);
    expect([has('/arrived'), has('/underway')]).toEqual([true, false]);
  });

  it('cuts right after requests were sent that the server still reads', async () => {
    send(create('/a'));
    send(create('/b'));
    transport.cut('processed');
    expect([has('/a'), has('/b')]).toEqual([true, true]);
    await clock.advance(5);
    expect(heard.slice(1)).toEqual([
      `15: create ${CONNECTIONLOSS}`,
      `15: create ${CONNECTIONLOSS}`,
    ]);
  });

  it.each([
    ['lost', false],
    ['unanswered', true],
  ] as const)('cuts at a request, which is %s', async (fate, isDone) => {
    transport.once(fate, ({ path }) => path === '/b');
    send(create('/a'));
    send(create('/b'));
    send(create('/c'));
    await clock.advance(20);
    expect([has('/a'), has('/b'), has('/c')]).toEqual([true, isDone, false]);
    expect(heard.at(0)).toBe('20: disconnected: the connection was cut');
  });

  it('leaves the session to its timeout after a cut', async () => {
    send(create('/a'));
    await clock.advance(10);
    transport.cut();
    const { credentials } = opened.said;
    await clock.advance(2_000 - 20);
    expect(has('/a')).toBe(true);
    opened = connect(credentials);
    await clock.advance(2_000);
    expect(has('/a')).toBe(true);
    await clock.advance(1_000);
    expect(has('/a')).toBe(false);
    opened = connect(credentials);
    await clock.advance(10);
    expect(heard.at(-1)).toContain('expired');
  });

  it('refuses connections', async () => {
    transport.isRefusing = true;
    opened = connect();
    send(exists('/'));
    await clock.advance(20);
    expect(heard).toEqual(['20: disconnected: connection refused', `20: exists ${CONNECTIONLOSS}`]);
  });

  it('partitions: nothing arrives while the session expires, all comes out afterwards', async () => {
    send(create('/a'));
    send(exists('/a', true));
    await clock.advance(10);
    heard.length = 0;
    transport.partition();
    send(create('/b'));
    await clock.advance(3_000);
    expect(has('/a')).toBe(false);
    expect(heard).toEqual([]);
    transport.heal();
    await clock.advance(10);
    expect(heard).toEqual([
      '3020: deleted /a',
      '3020: disconnected: the session has expired',
      `3020: create ${CONNECTIONLOSS}`,
    ]);
    expect(has('/b')).toBe(false);
  });

  it('does not report a cut during a partition before it is healed', async () => {
    transport.partition();
    transport.cut();
    await clock.advance(1_000);
    expect(heard).toEqual([]);
    transport.heal();
    expect(heard).toEqual(['1010: disconnected: the connection was cut']);
  });

  it('sends what was under way, then the end, when it is closed', async () => {
    send(create('/stays', CreateMode.PERSISTENT));
    send(create('/a'));
    opened.link.close();
    await clock.advance(5);
    expect([has('/stays'), has('/a')]).toEqual([true, false]);
    expect(heard).toEqual([`10: create ${CONNECTIONLOSS}`, `10: create ${CONNECTIONLOSS}`]);
  });

  it('answers nothing while the server is frozen', async () => {
    server.freeze();
    send(create('/a'));
    await clock.advance(10_000);
    expect(heard).toEqual([]);
    server.thaw();
    await clock.advance(5);
    expect(heard).toEqual(['10015: create 0']);
  });
});

describe('The numbers of seededRandom', () => {
  const take = (seed: number, count: number) => Array.from({ length: count }, seededRandom(seed));

  it('are the same for the same seed, and others for another', () => {
    expect(take(42, 100)).toEqual(take(42, 100));
    expect(take(42, 100)).not.toEqual(take(43, 100));
  });

  it('are spread evenly over [0, 1)', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const number of take(1, 10_000)) tenths[Math.floor(number * 10)]! += 1;
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
