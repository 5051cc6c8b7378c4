import { afterAll, beforeEach, describe } from '@jest/globals';
import { eventually } from '../../support/time.js';
import { useShared } from '../../support/fixtures.js';
import { FOR_LATE_COPIES, sinceRedis } from '../../support/redis-server.js';
import type { RedisActor } from './actors.js';
import { redissonClassPath } from './builds.js';
import { type Peer, Way } from './peer.js';
import {
  CommandLog,
  REDIS_DEPLOYMENTS,
  type RedisDeployment,
  type RedisDeploymentKind,
  redisNames,
  startRedisDeployment,
} from './redis-deployment.js';
import { startRedisNodePeer, startRedissonPeer } from './start-peers.js';

/** Redis, and two processes that share its locks. */
export class RedisStage {
  readonly ways: readonly Way[];
  private readonly logs: CommandLog[] = [];
  private tests = 0;

  private constructor(
    readonly kind: RedisDeploymentKind,
    guest: Guest,
    private readonly shared: () => { readonly deployment: RedisDeployment; readonly peers: Peer[] },
  ) {
    const [one, other] = [() => this.one, () => this.other];
    this.ways = [
      new Way(`${guest.title} holds it`, one, other),
      new Way('Java holds it', other, one),
    ];
  }

  /** The stage of the surrounding `describe`: a name of its own for each test. */
  static use(kind: RedisDeploymentKind, guest: Guest): RedisStage {
    const shared = useShared(async () => {
      const deployment = await startRedisDeployment(kind);
      const starts = [guest.start, startRedissonPeer].map((start) => start(deployment.urls));
      const peers = await Promise.all(starts);
      const stop = () => Promise.all([...peers, deployment].map((one) => one.stop()));
      return { deployment, peers, stop };
    });
    const stage = new RedisStage(kind, guest, shared);
    beforeEach(() => stage.reset());
    afterAll(() => stage.reset());
    return stage;
  }

  get deployment(): RedisDeployment {
    return this.shared().deployment;
  }

  /** The process of the guest. */
  get one(): Peer {
    return this.shared().peers[0]!;
  }

  /** A Java process with Redisson. */
  get other(): Peer {
    return this.shared().peers[1]!;
  }

  /** Prepares the next test with an unused name. */
  reset(): void {
    this.tests += 1;
    for (const log of this.logs.splice(0)) log.close();
  }

  /** Name of the lock of this test; no other one contains it. */
  get name(): string {
    return `lock-${String(this.tests).padStart(3, '0')}`;
  }

  /** Its keys and channels. */
  get names() {
    return redisNames(this.name);
  }

  /** What messages about it are published with: clusters before 7.0 have no sharded channels. */
  get publish(): string {
    return this.kind === 'cluster' && sinceRedis('7.0') ? 'SPUBLISH' : 'PUBLISH';
  }

  /** Has the server of this lock execute a command. */
  async command(command: string, ...args: (string | number)[]): Promise<unknown> {
    const server = await this.deployment.masterOf(this.name);
    return server.command(command, ...args);
  }

  /** The same, where the reply is a list of names and values: `HGETALL`, `ZRANGE … WITHSCORES`. */
  async pairs(command: string, ...args: (string | number)[]): Promise<Record<string, string>> {
    const reply = (await this.command(command, ...args)) as string[];
    const pairs: Record<string, string> = {};
    for (let n = 0; n < reply.length; n += 2) pairs[reply[n]!] = reply[n + 1]!;
    return pairs;
  }

  /** From now on, what the servers execute: before 7.0, any node of a cluster may be asked for a channel. */
  async log(): Promise<CommandLog> {
    const log = await CommandLog.open(...(await this.deployment.masters()));
    this.logs.push(log);
    return log;
  }

  /** All keys of this lock, except the records that identify late copies. */
  async keys(): Promise<string[]> {
    const keys = (await this.command('KEYS', `*${this.name}*`)) as string[];
    return keys.filter((name) => !FOR_LATE_COPIES.test(name)).sort();
  }

  /**
   * Resolves once that many owners in that process wait for a message on a channel with that prefix, and for nothing else. The
   * log has to be older than their wait.
   *
   * The `1` that a writer sends wakes sleeping waiters in Redisson; a waiter that is about to sleep misses it, for as long as
   * the lease that it saw.
   */
  async asleep(peer: Peer, channel: string, log: CommandLog, count = 1): Promise<void> {
    const hasAsked = () => log.hasAskedAfterSubscribing(channel, this.name);
    await eventually(`a client waits for ${channel}`, hasAsked);
    const actor = peer.redisActor();
    await eventually(`${count} sleep`, async () => (await actor.sleepers()) === count);
  }

  /** Resolves once one actor of that process waits. */
  async hasSleeper(peer: Peer): Promise<void> {
    const actor = peer.redisActor();
    await eventually('one actor waits', async () => (await actor.sleepers()) === 1);
  }

  /** Resolves once that many wait for the fair lock of this name. */
  async queued(count: number): Promise<void> {
    const isTrue = async () => (await this.command('LLEN', this.names.queue)) === count;
    await eventually(`${count} are queued`, isTrue);
  }

  /** Owners in the two processes, alternating. */
  owners(count: number): RedisActor[] {
    return Array.from({ length: count }, (_, n) => (n % 2 ? this.other : this.one).redisActor());
  }

  /** Resolves once nothing else is left of this lock, neither keys nor subscriptions. */
  async emptyBut(kept: readonly string[]): Promise<void> {
    const isKept = (key: string) => kept.includes(key);
    await eventually('no key is left', async () => (await this.keys()).every(isKept));
    const channels = this.kind === 'cluster' ? 'SHARDCHANNELS' : 'CHANNELS';
    const listening = () => this.command('PUBSUB', channels, `*${this.name}*`);
    await eventually(
      'no subscription is left',
      async () => ((await listening()) as string[]).length === 0,
    );
  }
}

/** The peer of Redisson. */
export interface Guest {
  readonly title: string;
  start(urls: readonly string[]): Promise<Peer>;
}

/** With this library. */
export const NODE: Guest = { title: 'Node', start: (urls) => startRedisNodePeer(urls) };

/**
 * Describes what is shared with Java, once on one server and once on a cluster. Where the Java peer was not built, its tests
 * are skipped, which `npm run test:interop` has reported.
 *
 * @param guest the first process of the stage; the other one is Java
 */
export function describeWithRedisson(guest: Guest, define: (stage: RedisStage) => void): void {
  const isBuilt = redissonClassPath() !== undefined;
  for (const kind of REDIS_DEPLOYMENTS)
    (isBuilt ? describe : describe.skip)(`Shared with Redisson (${kind}),`, () =>
      define(RedisStage.use(kind, guest)),
    );
}

/** How long that took, in ms. */
export async function took(wait: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await wait;
  return performance.now() - since;
}
