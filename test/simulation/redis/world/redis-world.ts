import { VirtualClock } from '../../../support/time.js';
import type { Dice } from '../../dice.js';
import { History } from '../../observer.js';
import type { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';
import { ClusterServers } from '../network/cluster-servers.js';
import { ReplicatedServer } from '../network/replicated-server.js';
import type { Servers } from '../network/servers.js';
import type { Way } from '../../../../lib/testing/redis/network/wire.js';
import type { ObservedLock } from './observed-locks.js';
import { PassingTime } from './passing-time.js';
import { RedisJudge } from './redis-judge.js';
import { RedisProcess } from './redis-process.js';

interface RedisWorldOptions {
  readonly dice: Dice;
  readonly machine: Pick<LuaMachine, 'run'>;
  /**
   * True: leases are asked all the time, so that they find their loss by the clock. False: they are only listened to, so they
   * have to report it by themselves.
   */
  readonly isAsking: boolean;
  /** How many ms pass on the servers while one passes for the clients. */
  readonly rate: number;
  /** How far the replica is behind, in ms. */
  readonly lag: number;
  /** Whether the servers are two nodes of a cluster, without replicas. */
  readonly isCluster?: boolean | undefined;
  /** Makes one direction of a connection. Default: messages take some time. */
  readonly way?: () => Way;
}

/** A Redis with a replica, or a cluster, its clients, and a judge, in virtual time. */
export class RedisWorld {
  readonly clock = new VirtualClock();
  readonly history = new History(() => this.clock.now());
  readonly servers: Servers;
  readonly replicated?: ReplicatedServer;
  readonly cluster?: ClusterServers;
  readonly judge: RedisJudge;
  readonly time: PassingTime;
  readonly clients: RedisProcess[] = [];
  /** Called with each lock that a user is about to release. */
  readonly releaseListeners = new Set<(lock: ObservedLock) => void>();

  constructor(private readonly options: RedisWorldOptions) {
    const { machine, rate, lag, isCluster } = options;
    const { clock } = this;
    if (isCluster) this.servers = this.cluster = new ClusterServers(clock, machine);
    else this.servers = this.replicated = new ReplicatedServer({ clock, machine, rate, lag });
    this.judge = new RedisJudge(this);
    this.time = new PassingTime(this.clock, this.history, () => this.judge.check());
  }

  get isAsking(): boolean {
    return this.options.isAsking;
  }

  get lag(): number {
    return this.options.lag;
  }

  /** Those with live processes that are not closed. */
  get open(): RedisProcess[] {
    return this.clients.filter((it) => it.closedAt === undefined && !it.process.isDead);
  }

  async addClient(watchdogTimeout: number): Promise<void> {
    const { clock, servers, cluster, options } = this;
    const name = `client ${this.clients.length}`;
    const client = await RedisProcess.start({
      name,
      clock,
      dice: options.dice,
      portAt: (address) => servers.portAt(address),
      slotMap: cluster?.slots,
      watchdogTimeout,
      way: options.way,
      onStateChange: (state) => this.history.note(state, name),
    });
    this.clients.push(client);
    await this.time.wait(client.locks.connect());
  }
}
