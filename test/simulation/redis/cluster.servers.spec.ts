import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisCluster } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import { VirtualClock } from '../../support/time.js';
import { ClusterServers } from './network/cluster-servers.js';
import { valueOf } from '../../../lib/testing/redis/network/ioredis.js';
import type { SimulatedServer } from '../../../lib/testing/redis/server/redis-server.js';
import { ErrorReply } from '../../../lib/testing/redis/server/reply.js';
import { Session } from '../../../lib/testing/redis/server/session.js';
import { machine } from './world/corrupted.js';

/** Of one slot. */
const [MOVED, STAYED, NONE, CHANNEL] = ['{a}moved', '{a}stayed', '{a}none', '{a}channel'] as const;
/** Of the first slots, to which a slot is moved. */
const OF_FIRST = 'b';

const GET = "return redis.call('get', ARGV[1])";
const TRY =
  "local reply = redis.pcall('exists', ARGV[1]) return type(reply) == 'table' and reply.err or reply";
const PUBLISH = "return redis.call('spublish', ARGV[1], '')";

/** A script is told of its first keys only. */
const CALLS: readonly (readonly [name: string, ...args: string[]])[] = [
  ...[MOVED, STAYED, NONE].flatMap((key): [string, ...string[]][] => [
    ['get', key],
    ['exists', key, key],
    ['eval', 'return 1', '1', key],
    ['eval', GET, '1', key, MOVED],
    ['eval', GET, '1', key, STAYED],
    ['eval', TRY, '1', key, NONE],
    ['eval', PUBLISH, '1', key, CHANNEL],
  ]),
  ['exists', MOVED, STAYED],
  ['exists', MOVED, NONE],
  ['exists', STAYED, NONE],
  ['eval', 'return 1', '2', MOVED, STAYED],
  ['eval', 'return 1', '2', MOVED, NONE],
  ['eval', 'return 1', '2', MOVED, OF_FIRST],
  ['eval', 'return 1', '0'],
  ['spublish', CHANNEL, ''],
  ['del', NONE],
];

/** Resolves to a text for each reply. */
type Send = (...words: (typeof CALLS)[number]) => Promise<unknown>;

interface Nodes {
  readonly source: Send;
  readonly target: Send;
}

/** What both nodes answer, also to a client that was sent to ask there. */
async function answersOf({ source, target }: Nodes): Promise<string[]> {
  const answers: string[] = [];
  for (const [node, send] of Object.entries({ source, target }))
    for (const isAsking of [false, true])
      for (const words of CALLS) {
        if (isAsking) await send('asking');
        const answer = await send(...words).catch((error: Error) => error.message);
        answers.push(
          `${node}${isAsking ? ', asking' : ''}: ${words.join(' ')} -> ${String(answer)}`,
        );
      }
  return answers;
}

/** Before, in the midst of, and after the move. */
async function answersOfReal(cluster: RedisCluster): Promise<string[][]> {
  const [source, target] = [await cluster.masterOf(MOVED), await cluster.masterOf(OF_FIRST)];
  const named = (text: string) =>
    text
      .replaceAll(`${source.host}:${source.port}`, 'source')
      .replaceAll(`${target.host}:${target.port}`, 'target');
  const sendTo = (server: RedisServer): Send => {
    const client = server.client();
    return (name, ...args) => client.call(name, ...args);
  };
  const nodes = { source: sendTo(source), target: sendTo(target) };
  await nodes.source('set', MOVED, '1');
  await nodes.source('set', STAYED, '1');
  const phases = [await answersOf(nodes)];
  await cluster.migrate(MOVED, async (move) => {
    await move(MOVED);
    phases.push(await answersOf(nodes));
  });
  phases.push(await answersOf(nodes));
  return phases.map((phase) => phase.map(named));
}

async function answersOfSimulated(): Promise<string[][]> {
  const cluster = new ClusterServers(new VirtualClock(), machine);
  const [target, source] = cluster.slots.nodes;
  const named = (text: string) => text.replaceAll(source!, 'source').replaceAll(target!, 'target');
  const sendTo = (server: SimulatedServer): Send => {
    const session = new Session();
    return (...words) => {
      const reply = server.execute(session, words);
      if (reply instanceof ErrorReply) return Promise.reject(new Error(reply.text));
      return Promise.resolve(valueOf(reply));
    };
  };
  const nodes = {
    source: sendTo(cluster.portAt(source!).server),
    target: sendTo(cluster.portAt(target!).server),
  };
  await nodes.source('set', MOVED, '1');
  await nodes.source('set', STAYED, '1');
  const phases = [await answersOf(nodes)];
  cluster.beginToMove(MOVED);
  cluster.move(MOVED);
  phases.push(await answersOf(nodes));
  cluster.move(STAYED);
  cluster.endMoving();
  phases.push(await answersOf(nodes));
  return phases.map((phase) => phase.map(named));
}

describe('The simulated cluster', () => {
  it('answers as a real one before, while and after a slot is moved', async () => {
    const [real, simulated] = [await answersOfReal(cluster), await answersOfSimulated()];
    expect(simulated).toEqual(real);
    const [before, meanwhile] = real;
    expect(new Set(real.flat()).size).toBeGreaterThan(before!.length + 40);
    for (const code of ['ASK', 'MOVED', 'TRYAGAIN', 'CROSSSLOT', 'ERR Script attempted'])
      expect(meanwhile).toContainEqual(expect.stringContaining(`-> ${code} `));
  });
});

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());
