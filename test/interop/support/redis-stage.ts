import { eventually } from '../../support/eventually.js';
import { CommandLog } from './command-log.js';
import type { Peer } from './peer.js';
import type { RedisActor } from './redis-actor.js';
import type { RedisDeployment, RedisDeploymentKind } from './redis-deployment.js';
import { redisNames } from './redis-names.js';
import { startRedisDeployment } from './start-redis-deployment.js';
import { FOR_LATE_COPIES } from '../../support/kept-keys.js';

/** Starts a process on the Redis with these URLs. */
export type StartPeer = (urls: readonly string[]) => Promise<Peer>;

/** Redis, and two processes that share its locks. */
export class RedisStage {
  one!: Peer;
  other!: Peer;
  deployment!: RedisDeployment;
  private readonly logs: CommandLog[] = [];
  private tests = 0;

  /** @param titles the names of the two processes, for the titles of tests */
  constructor(
    readonly kind: RedisDeploymentKind,
    private readonly titles: readonly [string, string],
  ) {}

  async start(startOne: StartPeer, startOther: StartPeer): Promise<void> {
    this.deployment = await startRedisDeployment(this.kind);
    const { urls } = this.deployment;
    [this.one, this.other] = await Promise.all([startOne(urls), startOther(urls)]);
  }

  async stop(): Promise<void> {
    this.reset();
    await Promise.all([this.one?.stop(), this.other?.stop()]);
    await this.deployment?.stop();
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

  /** What messages about it are published with. */
  get publish(): string {
    return this.kind === 'cluster' ? 'SPUBLISH' : 'PUBLISH';
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

  /** From now on, what the server of this lock executes. */
  async log(): Promise<CommandLog> {
    const log = await CommandLog.open(await this.deployment.masterOf(this.name));
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

  /** The process that comes first, for `it.each`; the processes exist once a test runs. */
  get ways() {
    const [one, other] = this.titles;
    return [
      { title: `${one} holds it`, first: () => this.one, second: () => this.other },
      { title: `${other} holds it`, first: () => this.other, second: () => this.one },
    ];
  }
}
