import { VirtualClock } from '../../../support/time.js';
import type { Dice } from '../../dice.js';
import { History } from '../../observer.js';
import type { LuaMachine } from '../../../../lib/testing/redis/lua/lua-machine.js';
import type { Way } from '../../../../lib/testing/redis/network/wire.js';
import { PassingTime } from '../world/passing-time.js';
import { RedLockJudge } from './red-lock-judge.js';
import { RedLockProcess } from './red-lock-process.js';
import { RedLockServers } from './red-lock-servers.js';

/** Several servers, their clients, and a judge, in virtual time. */
export class RedLockWorld {
  readonly clock = new VirtualClock();
  readonly history = new History(() => this.clock.now());
  readonly servers: RedLockServers;
  readonly judge: RedLockJudge;
  readonly time: PassingTime;
  readonly clients: RedLockProcess[] = [];

  /**
   * @param rates of the clocks of the servers
   * @param way makes one direction of a connection; default: messages take some time
   */
  constructor(
    private readonly dice: Dice,
    machine: Pick<LuaMachine, 'run'>,
    rates: readonly number[],
    key: string,
    private readonly way?: () => Way,
  ) {
    this.servers = new RedLockServers(this.clock, machine, rates);
    this.judge = new RedLockJudge(this, key);
    this.time = new PassingTime(this.clock, this.history, () => this.judge.check());
  }

  /** Those with live processes that are not closed. */
  get open(): RedLockProcess[] {
    return this.clients.filter((it) => it.closedAt === undefined && !it.process.isDead);
  }

  async addClient(watchdogTimeout: number): Promise<void> {
    const { clock, dice, servers, way } = this;
    const name = `client ${this.clients.length}`;
    const client = await RedLockProcess.start({
      name,
      clock,
      dice,
      ports: servers.ports,
      watchdogTimeout,
      way,
      onStateChange: (state, server) => this.history.note(state, `${name} at server ${server}`),
    });
    this.clients.push(client);
    await this.time.wait(client.locks.connect());
  }
}
