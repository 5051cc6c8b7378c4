import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Channel, Subscriptions } from '../../../lib/redis/connection/subscriptions.js';
import { slotOf } from '../../../lib/redis/connection/cluster-slots.js';
import { eventually, VirtualClock } from '../../support/time.js';
import { FakeNode } from './fakes.js';

let clock: VirtualClock;
let subscriptions: Subscriptions;

beforeEach(() => {
  clock = new VirtualClock();
});

/** Begins to listen; returns a function that says how often it was asked to look again. */
function listening(channel: Channel): () => number {
  let told = 0;
  channel.onSignal(() => (told += 1));
  return () => told;
}

/** Confirms what was sent last. */
async function confirm(link: FakeNode): Promise<void> {
  link.last.answer(1);
  await clock.advance(0);
}

/** Connects, and confirms what was sent on that. */
async function begin(link: FakeNode): Promise<void> {
  link.becomes('ready');
  await confirm(link);
}

const commandsOf = (link: FakeNode) =>
  link.sent.map(({ name, args }) => `${name} ${args.join(' ')}`);

describe('Subscriptions of a single server', () => {
  let client: FakeNode;

  beforeEach(() => {
    client = new FakeNode({ db: 5, autoResubscribe: true, maxRetriesPerRequest: 0 });
    subscriptions = new Subscriptions(client, false, clock);
  });

  /** The connection that was made for messages. */
  const link = () => client.duplicates[0]!;

  /** A channel that is being listened to. */
  async function active(name = 'door'): Promise<Channel> {
    const channel = subscriptions.join(name);
    if (link().status !== 'ready') await begin(link());
    return channel;
  }

  it('have a connection of their own, made for the first channel, which waits as long as it takes', () => {
    expect(client.duplicates).toEqual([]);
    subscriptions.join('a');
    subscriptions.join('b');
    expect(client.duplicates).toHaveLength(1);
    expect(link().options).toMatchObject({
      db: 5,
      autoResubscribe: false,
      maxRetriesPerRequest: null,
    });
    expect(client.sent).toEqual([]);
  });

  it('of many channels are sent, and interrupted, in several turns of the event loop', async () => {
    const channels = Array.from({ length: 1_000 }, (_, i) => subscriptions.join(`channel ${i}`));
    link().becomes('ready');
    expect(link().sent.length).toBe(200);
    await eventually('all are sent', () => link().sent.length === 1_000);
    for (const command of link().sent) command.answer(1);
    await eventually('all are active', () => channels.every(({ isActive }) => isActive));
    link().becomes('close');
    expect(channels.some(({ isActive }) => isActive)).toBe(false);
    expect(channels.filter(({ signals }) => signals === 2)).toHaveLength(200);
    await eventually('all are told', () => channels.every(({ signals }) => signals === 2));
  });

  it('are sent when the connection is up, one for each channel', () => {
    subscriptions.join('a');
    subscriptions.join('a');
    subscriptions.join('b');
    expect(link().sent).toEqual([]);
    link().becomes('ready');
    expect(commandsOf(link())).toEqual(['subscribe a', 'subscribe b']);
    subscriptions.join('c');
    expect(commandsOf(link())).toHaveLength(3);
  });

  it('are a reason to look again when they begin, since a message may have come before', async () => {
    const channel = subscriptions.join('door');
    const told = listening(channel);
    link().becomes('ready');
    expect([channel.isActive, told()]).toEqual([false, 0]);
    await confirm(link());
    expect([channel.isActive, told(), channel.signals]).toEqual([true, 1, 1]);
  });

  it('notify all listeners of the channel of a message, and no others', async () => {
    const [door, gate] = [await active('door'), await active('gate')];
    const [atDoor, alsoAtDoor, atGate] = [listening(door), listening(door), listening(gate)];
    link().emit('message', 'door', '0');
    link().emit('message', 'unknown', '0');
    expect([atDoor(), alsoAtDoor(), atGate()]).toEqual([1, 1, 0]);
  });

  it('are given up with the last listener', async () => {
    const channel = await active();
    expect(subscriptions.join('door')).toBe(channel);
    subscriptions.leave(channel);
    expect(channel.isActive).toBe(true);
    subscriptions.leave(channel);
    expect(channel.isActive).toBe(false);
    expect(commandsOf(link())).toEqual(['subscribe door', 'unsubscribe door']);
    const told = listening(channel);
    link().emit('message', 'door', '0');
    expect(told()).toBe(0);
  });

  it('that are confirmed after the last listener has left begin nothing', async () => {
    const channel = subscriptions.join('door');
    link().becomes('ready');
    subscriptions.leave(channel);
    link().sent[0]!.answer(1);
    await clock.advance(0);
    expect([channel.isActive, channel.signals]).toEqual([false, 0]);
  });

  it('that were left and are wanted again wait for the new confirmation', async () => {
    const before = subscriptions.join('door');
    link().becomes('ready');
    subscriptions.leave(before);
    const channel = subscriptions.join('door');
    expect(commandsOf(link())).toEqual(['subscribe door', 'unsubscribe door', 'subscribe door']);
    link().sent[0]!.answer(1);
    await clock.advance(0);
    expect(channel.isActive).toBe(false); // the unsubscription comes after that one
    link().sent[2]!.answer(1);
    await clock.advance(0);
    expect([channel.isActive, before.isActive]).toEqual([true, false]);
  });

  it('are interrupted with the connection, which is a reason to look, and sent again', async () => {
    const channel = await active();
    const told = listening(channel);
    link().becomes('close');
    expect([channel.isActive, told()]).toEqual([false, 1]);
    link().becomes('ready');
    expect(commandsOf(link())).toEqual(['subscribe door', 'subscribe door']);
    expect(channel.isActive).toBe(false);
    await confirm(link());
    expect([channel.isActive, told()]).toEqual([true, 2]);
  });

  it('do not count a confirmation that comes when the connection is gone', async () => {
    const channel = subscriptions.join('door');
    link().becomes('ready');
    link().last.answer(1);
    link().becomes('close');
    await clock.advance(0);
    expect(channel.isActive).toBe(false);
  });

  it('that are refused are tried again a little later, while a listener wants them', async () => {
    const channel = subscriptions.join('door');
    link().becomes('ready');
    link().last.refuse('NOPERM');
    await clock.advance(99);
    expect(link().sent).toHaveLength(1);
    await clock.advance(1);
    expect(commandsOf(link())).toEqual(['subscribe door', 'subscribe door']);
    link().last.refuse('NOPERM');
    await clock.advance(0);
    subscriptions.leave(channel);
    await clock.advance(1_000);
    expect([link().sent.length, clock.isIdle]).toEqual([2, true]);
  });

  it('have all listeners look again when the client is of no use any more', async () => {
    const [door, gate] = [await active(), subscriptions.join('gate')];
    const told = [listening(door), listening(gate)];
    subscriptions.wake();
    expect(told.map((count) => count())).toEqual([1, 1]);
  });

  it('end with the connection that was made for them', async () => {
    const channel = await active();
    subscriptions.close();
    expect([link().status, client.status]).toEqual(['end', 'ready']);
    subscriptions.leave(channel);
    await clock.advance(1_000);
    expect([client.duplicates.length, clock.isIdle]).toEqual([1, true]);
  });
});

describe('Subscriptions of a cluster', () => {
  const [A, B] = ['{a}', '{b}'];
  let masters: FakeNode[];
  let cluster: FakeNode & { slots: string[][] };

  beforeEach(() => {
    masters = [1, 2].map((port) => new FakeNode({ host: '127.0.0.1', port }));
    cluster = Object.assign(new FakeNode(), {
      isCluster: true,
      slots: [] as string[][],
      nodes: () => masters,
    });
    serve(A, 1);
    serve(B, 2);
  });

  /** From now on, that node is the master of the channel. */
  function serve(channel: string, port: number): void {
    cluster.slots[slotOf(channel)] = [`127.0.0.1:${port}`, '127.0.0.1:9'];
  }

  const subscribe = (isSharded: boolean) =>
    (subscriptions = new Subscriptions(cluster, isSharded, clock));
  const linkTo = (port: number, nth = 0) => masters[port - 1]!.duplicates[nth]!;

  it('that are sharded go to the master of each channel', async () => {
    subscribe(true);
    const [a, b] = [subscriptions.join(A), subscriptions.join(B)];
    for (const port of [1, 2]) linkTo(port).becomes('ready');
    expect(commandsOf(linkTo(1))).toEqual([`ssubscribe ${A}`]);
    expect(commandsOf(linkTo(2))).toEqual([`ssubscribe ${B}`]);
    const [atA, atB] = [listening(a), listening(b)];
    linkTo(1).emit('smessage', A, '0');
    expect([atA(), atB()]).toEqual([1, 0]);
    subscriptions.leave(a);
    expect(linkTo(1).last.name).toBe('sunsubscribe');
  });

  it('that are not sharded all go by one connection, to any master', () => {
    subscribe(false);
    subscriptions.join(A);
    const [link] = masters.flatMap((master) => master.duplicates);
    link!.becomes('ready');
    expect(commandsOf(link!)).toEqual([`subscribe ${A}`]);
    expect(masters.flatMap((master) => master.duplicates)).toHaveLength(1);
  });

  it('go to the new master when the connection to the old one has ended', async () => {
    subscribe(true);
    const channel = subscriptions.join(A);
    await begin(linkTo(1));
    const told = listening(channel);

    linkTo(1).becomes('close');
    linkTo(1).becomes('end');
    expect([channel.isActive, told()]).toEqual([false, 1]);
    serve(A, 2);
    await clock.advance(100);
    await begin(linkTo(2));
    expect([channel.isActive, told()]).toEqual([true, 2]);
  });

  it('have a new connection to the same master, when that has ended', async () => {
    subscribe(true);
    const channel = subscriptions.join(A);
    linkTo(1).becomes('end');
    await clock.advance(100);
    await begin(linkTo(1, 1));
    expect(channel.isActive).toBe(true);
  });

  it('wait while the cluster knows no master', async () => {
    subscribe(true);
    cluster.slots[slotOf(A)] = [];
    const channel = subscriptions.join(A);
    await clock.advance(450);
    expect(masters.flatMap((master) => master.duplicates)).toEqual([]);
    serve(A, 1);
    await clock.advance(50);
    linkTo(1).becomes('ready');
    expect(commandsOf(linkTo(1))).toEqual([`ssubscribe ${A}`]);
    cluster.slots[slotOf(A)] = [];
    linkTo(1).becomes('end');
    subscriptions.leave(channel);
    await clock.advance(1_000);
    expect(clock.isIdle).toBe(true);
  });
});
