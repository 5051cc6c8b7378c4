import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import { CommandCorking, type Corkable } from '../../../lib/redis/connection/command-corking.js';
import type { RedisCluster } from '../../../lib/redis/connection/ioredis.js';
import { RedisConnection } from '../../../lib/redis/connection/redis-connection.js';
import { Refusals, serverWarning } from '../../../lib/redis/connection/refusals.js';
import { isSettled, VirtualClock } from '../../support/time.js';
import { connectionOf, FakeNode } from './fakes.js';

/** A socket as Node's: what is written while it is corked goes out in one packet when it is not any more. */
class Socket implements Corkable {
  writableCorked = 0;
  readonly packets: number[] = [];
  #held = 0;

  cork(): void {
    this.writableCorked += 1;
  }

  uncork(): void {
    this.writableCorked -= 1;
    if (this.writableCorked > 0 || this.#held === 0) return;
    this.packets.push(this.#held);
    this.#held = 0;
  }

  write(): void {
    if (this.writableCorked > 0) this.#held += 1;
    else this.packets.push(1);
  }
}

const endOfTurn = () => new Promise(setImmediate);

function write(packets: CommandCorking, socket: Socket, commands: number): void {
  for (let left = commands; left > 0; left--) {
    packets.next(socket);
    socket.write();
  }
}

describe('Corked commands', () => {
  it.each([
    [1, [1]],
    [2, [2]],
    [3, [2, 1]],
    [15, [2, 4, 8, 1]],
    [30, [2, 4, 8, 8, 8]],
  ])('puts %i commands of a turn into packets of %j', async (commands, sizes) => {
    const [packets, socket] = [new CommandCorking(), new Socket()];
    for (let turn = 1; turn <= 2; turn++) {
      write(packets, socket, commands);
      await endOfTurn();
    }
    expect(socket.packets).toEqual([...sizes, ...sizes]);
    expect(socket.writableCorked).toBe(0);
  });

  it('holds back nothing of a turn but for its end', async () => {
    const [packets, socket] = [new CommandCorking(), new Socket()];
    write(packets, socket, 1);
    expect(socket.packets).toEqual([]);
    await endOfTurn();
    expect(socket.packets).toEqual([1]);
  });

  it('writes the first command at once where the turn before had one only', async () => {
    const [packets, socket] = [new CommandCorking(), new Socket()];
    write(packets, socket, 1);
    await endOfTurn();
    write(packets, socket, 4);
    expect(socket.packets).toEqual([1, 1, 2]);
    await endOfTurn();
    expect(socket.packets).toEqual([1, 1, 2, 1]);
    write(packets, socket, 2);
    await endOfTurn();
    expect(socket.packets).toEqual([1, 1, 2, 1, 2]);
  });

  it('leaves no socket corked that another one has come in place of', async () => {
    const packets = new CommandCorking();
    const sockets = [new Socket(), new Socket()];
    for (const socket of sockets) write(packets, socket, 3);
    await endOfTurn();
    for (const { writableCorked, packets } of sockets)
      expect([writableCorked, packets.reduce((sum, size) => sum + size)]).toEqual([0, 3]);
  });

  it('does nothing without a socket', async () => {
    const packets = new CommandCorking();
    packets.next(undefined);
    await endOfTurn();
  });
});

/** A cluster with so many nodes. */
function clusterOf(count: number) {
  const nodes = Array.from({ length: count }, () => new FakeNode());
  const cluster = Object.assign(new FakeNode(), {
    isCluster: true,
    slots: [],
    nodes: () => nodes,
    duplicate: () => cluster,
  });
  return { cluster, nodes };
}

describe('The interruptions of a connection', () => {
  it('are counted from the start, each time that it closes', () => {
    const node = new FakeNode();
    const connection = connectionOf(node, new VirtualClock());
    expect(connection.interruptions.count).toBe(0);
    node.becomes('ready');
    expect(connection.interruptions.count).toBe(0);
    node.becomes('close');
    expect(connection.interruptions.count).toBe(1);
    node.becomes('ready');
    node.becomes('close');
    expect(connection.interruptions.count).toBe(2);
  });

  it('are known before a command that is rejected because of them', async () => {
    const node = new FakeNode();
    const connection = connectionOf(node, new VirtualClock());
    const counted = connection.read('get', 'a').catch(() => connection.interruptions.count);
    node.becomes('close');
    node.last.fail();
    expect(await counted).toBe(1);
  });

  it('of a cluster are those of any node: one that was there, came later, or goes', () => {
    const { cluster, nodes } = clusterOf(2);
    const connection = connectionOf(cluster, new VirtualClock());
    nodes[1]!.becomes('close');
    expect(connection.interruptions.count).toBe(1);

    const another = new FakeNode();
    cluster.emit('+node', another);
    expect(connection.interruptions.count).toBe(1);
    another.becomes('close');
    expect(connection.interruptions.count).toBe(2);

    cluster.emit('-node', nodes[0]);
    expect(connection.interruptions.count).toBe(3);
  });
});

describe('The choice between PUBLISH and SPUBLISH in a cluster', () => {
  it('is for sharded channels where the servers have them', async () => {
    expect(await choice(async () => [])).toBe('spublish');
  });

  it('is against them where the servers are too old', async () => {
    const tooOld = replyError('ERR Unknown subcommand or wrong number of arguments');
    expect(await choice(() => Promise.reject(tooOld))).toBe('publish');
  });

  it('is not made when it is unknown what the servers have', async () => {
    const error = replyError('NOPERM this user has no permissions');
    await expect(choice(() => Promise.reject(error))).rejects.toBe(error);
  });

  it.each([new Error('Connection is closed.'), replyError('LOADING Redis is loading the dataset')])(
    'is put off while the servers do not say what they have: %s',
    async (error) => {
      let asked = 0;
      const later = async () => (asked += 1) > 1 || Promise.reject(error);
      expect([await choice(later), asked]).toEqual(['spublish', 2]);
    },
  );
});

describe('A new connection', () => {
  let node: FakeNode;
  let clock: VirtualClock;
  let connection: RedisConnection;
  let connecting: Promise<void>;

  /** Connects for 15 s at most to a server that answers a PING with that. */
  function connect(pong: string | Error): void {
    node = new FakeNode();
    node.reply = ({ name }) => (name === 'ping' ? pong : undefined);
    clock = new VirtualClock();
    connection = connectionOf(node, clock);
    const wait = new WaitScope({ clock, open: new OrderedSet() }, { wait: 15_000 });
    connecting = connection.connect(wait, 'test').finally(() => wait.end());
    connecting.catch(() => {}); // looked at later
  }

  it.each(['LOADING Redis is loading', 'MISCONF Errors writing to disk', 'BUSY Redis is busy'])(
    'waits while the server refuses: %s',
    async (refusal) => {
      connect(new Error(refusal));
      await clock.advance(10_000);
      expect([await isSettled(connecting), connection.isConnected]).toEqual([false, false]);
      expect(String(connection.trouble)).toContain(refusal);
      node.reply = ({ name }) => (name === 'ping' ? 'PONG' : undefined);
      await clock.runUntil(connecting);
      expect([connection.state, connection.trouble]).toEqual(['CONNECTED', undefined]);
      expect(clock.isIdle).toBe(true);
    },
  );

  it.each(['NOAUTH Authentication required.', 'NOPERM this user has no permissions'])(
    'is rejected at once where that will not change: %s',
    async (refusal) => {
      connect(new Error(refusal));
      await expect(connecting).rejects.toThrow(refusal);
      expect(clock.now()).toBe(0);
    },
  );
});

function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

/** What a client chooses that hears this when it asks for sharded channels. */
async function choice(answer: () => Promise<unknown>): Promise<string> {
  const client = {
    isCluster: true,
    status: 'ready',
    call: async (command: string) => (command === 'pubsub' ? answer() : 'PONG'),
    on: () => undefined,
    off: () => undefined,
    nodes: () => [],
  };
  const connection = new RedisConnection({
    client: client as unknown as RedisCluster,
    shardedSubscriptionMode: 'auto',
    clock: systemClock,
    onStateChange: () => {},
  });
  const wait = new WaitScope({ clock: systemClock, open: new OrderedSet() }, {});
  await connection.connect(wait, 'test').finally(() => wait.end());
  return connection.publishCommand;
}

describe('What servers refuse', () => {
  const OOM = new Error('OOM command not allowed');
  const READONLY = new Error('READONLY replica');

  let clock: VirtualClock;
  let told: string[];
  let refusals: Refusals;

  beforeEach(() => {
    clock = new VirtualClock();
    told = [];
    refusals = new Refusals(clock, {
      refused: ({ message }) => void told.push(message),
      over: () => void told.push('over'),
    });
  });

  /** A waiter that asks again and again, for so many ms. */
  async function asking(ms: number, error: Error, every = 1_000): Promise<void> {
    for (let left = ms; left > 0; left -= every) {
      refusals.add(error);
      await clock.advance(Math.min(every, left));
    }
  }

  it('is known at once, and reported once, when it has lasted for a second', async () => {
    refusals.add(READONLY);
    await clock.advance(900);
    refusals.add(OOM);
    expect([refusals.last, refusals.isTold, told]).toEqual([OOM, false, []]);
    await clock.advance(100);
    expect([refusals.isTold, told]).toEqual([true, [OOM.message]]);
    await asking(60_000, OOM);
    expect(told).toEqual([OOM.message]);
  });

  it('is reported though other scripts succeed meanwhile, for as long as some do not', async () => {
    for (let i = 0; i < 30; i++) {
      refusals.add(OOM);
      refusals.hasSucceeded = true;
      await clock.advance(1_000);
    }
    expect([refusals.last, told]).toEqual([OOM, [OOM.message]]);
  });

  it('is not reported where it was over within the second', async () => {
    refusals.add(OOM);
    refusals.hasSucceeded = true;
    await clock.advance(10_000);
    expect([refusals.last, refusals.isTold, told, clock.isIdle]).toEqual([
      undefined,
      false,
      [],
      true,
    ]);
  });

  it('is over when a script has succeeded and none was refused any more', async () => {
    await asking(3_000, OOM);
    refusals.hasSucceeded = true;
    await clock.advance(2_000);
    expect([refusals.last, refusals.isTold, told]).toEqual([
      undefined,
      false,
      [OOM.message, 'over'],
    ]);
    expect(clock.isIdle).toBe(true);
  });

  it('is over some seconds after nothing was asked any more: traffic may depend on what is reported', async () => {
    await asking(3_000, OOM);
    await clock.advance(3_000);
    expect(refusals.last).toBe(OOM);
    await clock.advance(2_000);
    expect([refusals.last, told]).toEqual([undefined, [OOM.message, 'over']]);
  });

  it('is reported again when it begins again', async () => {
    await asking(2_000, OOM);
    refusals.hasSucceeded = true;
    await clock.advance(3_000);
    await asking(2_000, READONLY);
    expect(told).toEqual([OOM.message, 'over', READONLY.message]);
  });

  it('can be forgotten, silently', async () => {
    await asking(2_000, OOM);
    refusals.clear();
    expect([refusals.last, refusals.isTold, clock.isIdle]).toEqual([undefined, false, true]);
    await clock.advance(10_000);
    expect(told).toEqual([OOM.message]);
  });
});

/** What `INFO` says. */
const info = (role: string, isCluster: 0 | 1) =>
  `# Replication\r\nrole:${role}\r\n# Cluster\r\ncluster_enabled:${isCluster}\r\n`;

describe('A server, for a client that is not one of a cluster,', () => {
  it('causes no warning where it is a primary of its own, or does not say what it is', () => {
    for (const text of [info('master', 0), '', 'undefined'])
      expect(serverWarning(text, 'app')).toBeUndefined();
  });

  it('causes a warning where it is a node of a cluster, or a replica', () => {
    expect(serverWarning(info('master', 1), 'app')).toMatch(/"app".*node of.*Cluster.*`cluster`/);
    expect(serverWarning(info('slave', 0), 'app')).toMatch(/"app".*replica.*primary/);
  });
});
