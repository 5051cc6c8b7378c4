import type { Dice } from '../../dice.js';
import type { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';
import type { Plan } from '../world/plan.js';
import type { RedLockWorld } from './red-lock-world.js';

interface RedLockAccidentOptions {
  readonly plan: Plan;
  /** The longest that a server may have to remember a lease, in ms. */
  readonly longestLease: number;
  /** Whether a server may be back too early without what it had: beyond the promise. */
  readonly mayForget: boolean;
}

/** What can go wrong between clients and several servers, at random times, until it is ended. */
export class RedLockAccidents {
  #isOver = false;
  readonly #repairs = new Set<() => void>();

  constructor(
    private readonly world: RedLockWorld,
    private readonly dice: Dice,
    private readonly options: RedLockAccidentOptions,
  ) {}

  begin(count: number, duration: number): void {
    for (let number = 1; number <= count; number++) {
      const name = `accident ${number}`;
      const dice = this.dice.fork(name);
      const happen = () => this.#happen(name, dice);
      if (this.options.plan.has(name)) this.world.clock.setTimer(happen, dice.time(duration));
    }
  }

  /** Everything works again, but a server that has lost its memory stays away for as long as it has to. */
  end(): void {
    this.#isOver = true;
    for (const repair of this.#repairs) repair();
  }

  #happen(name: string, dice: Dice): void {
    const { world, options } = this;
    const { open } = world;
    if (this.#isOver || open.length === 0) return;
    options.plan.happens(name, world.clock.now());
    const client = dice.pick(open);
    const port = dice.pick(world.servers.ports);
    const index = world.servers.ports.indexOf(port);
    const period =
      client.watchdogTimeout * dice.pick([0.05, 0.3, 0.7, 1.1, 2]) * dice.between(0.8, 1.2);
    const network = client.networks[index]!;
    const kinds = {
      cut: () => network.cut(() => dice.pick(['lost', 'processed', { late: period }])),
      partition: () => this.#for(period, network.partition()),
      'server cut off': () => {
        for (const it of open) this.#for(period, it.networks[index]!.partition());
      },
      'client with a minority': () => {
        const { majority } = world.servers;
        for (const it of client.networks.slice(0, majority)) this.#for(period, it.partition());
      },
      'slow network': () => {
        network.delay = dice.pick([50, 500, client.watchdogTimeout / 2]);
        this.#for(period, () => (network.delay = 0));
      },
      'frozen process': () => {
        client.process.freeze();
        this.#for(period, () => client.process.thaw(dice.pick(['timer', 'message'])));
      },
      'killed process': () => void (open.length > 1 && client.kill()),
      'closed client': () => void (open.length > 1 && client.process.isRunning && client.close()),
      'frozen server': () => this.#for(period, port.stall()),
      'restarted server': () => this.#for(period, this.#stop(port)),
      'server that loses its memory': () => this.#lose(port),
      ...(options.mayForget && { 'server that forgets': () => this.#forget(port) }),
    };
    const kind = dice.pick(Object.keys(kinds) as (keyof typeof kinds)[]);
    world.history.note(kind, `${client.name}, server ${index + 1}, ${period.toFixed(0)}`);
    kinds[kind]!();
  }

  /** It is down; the returned function starts it, unless something else keeps it down. */
  #stop(port: ServerPort): () => void {
    const { down } = this.world.servers;
    const reason = {};
    down.get(port)!.add(reason);
    port.isListening = false;
    port.hangUpAll();
    return () => {
      down.get(port)!.delete(reason);
      if (down.get(port)!.size > 0) return;
      port.server.restart(true);
      port.isListening = true;
    };
  }

  /** All leases that it has granted have ended before it is back. */
  #lose(port: ServerPort): void {
    const { servers, clock, judge } = this.world;
    const start = this.#stop(port);
    port.server.keyspace.clear();
    servers.away.add(port);
    judge.lostData();
    const return_ = () => {
      servers.away.delete(port);
      start();
    };
    clock.setTimer(return_, this.options.longestLease);
  }

  #forget(port: ServerPort): void {
    const start = this.#stop(port);
    port.server.keyspace.clear();
    start();
    this.world.judge.forgot();
  }

  #for(period: number, repair: () => void): void {
    const once = () => {
      if (this.#repairs.delete(once)) repair();
    };
    this.#repairs.add(once);
    this.world.clock.setTimer(once, period);
  }
}
