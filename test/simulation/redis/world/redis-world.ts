import { VirtualClock } from '../../../support/time.js';
import type { Dice } from '../../dice.js';
import { History } from '../../observer.js';
import type { LuaMachine } from '../lua/lua-machine.js';
import { ReplicatedServer } from '../network/replicated-server.js';
import type { Way } from '../network/wire.js';
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
  /** Makes one direction of a connection. Default: messages take some time. */
  readonly way?: () => Way;
}

/** A Redis with a replica, its clients, and a judge, in virtual time. */
export class RedisWorld {
  readonly clock = new VirtualClock();
  readonly history = new History(() => this.clock.now());
  readonly servers: ReplicatedServer;
  readonly judge: RedisJudge;
  readonly time: PassingTime;
  readonly clients: RedisProcess[] = [];
  /** Called with each lock that a user is about to release. */
  readonly releaseListeners = new Set<(lock: ObservedLock) => void>();

  constructor(private readonly options: RedisWorldOptions) {
    const { machine, rate, lag } = options;
    this.servers = new ReplicatedServer({ clock: this.clock, machine, rate, lag });
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
    const { clock, servers, options } = this;
    const name = `client ${this.clients.length}`;
    const client = await RedisProcess.start({
      name,
      clock,
      dice: options.dice,
      port: () => servers.port,
      watchdogTimeout,
      way: options.way,
      onStateChange: (state) => this.history.note(state, name),
    });
    this.clients.push(client);
    await this.time.wait(client.locks.connect());
  }
}
