import type { Request } from '../../lib/zookeeper/connection/transport.js';
import type { Dice } from './dice.js';
import type { Ensemble, Follower } from './ensemble.js';
import type { QueuedNode } from './lock-queue.js';
import type { SimulatedClient } from './client.js';
import { Timing } from './timing.js';
import type { World } from './world.js';

/** Everything that can go wrong, at random times, until it is ended. */
export class Accidents {
  #isOver = false;
  readonly #repairs = new Set<() => void>();

  /**
   * @param risk of each single request to meet an accident, in [0, 1)
   * @param victims the clients that accidents affect more often than others
   */
  constructor(
    private readonly world: World,
    private readonly dice: Dice,
    private readonly risk: number,
    private readonly victims: () => readonly SimulatedClient[] = () => [],
  ) {}

  /** Causes `count` accidents within `duration`, and some at single requests. */
  begin(count: number, duration: number): void {
    const { world, dice } = this;
    world.onSent = (client, request) => this.#sent(client, request);
    for (const client of world.clients)
      client.network.fate = (request) => this.#fate(client, request);
    for (let left = count; left > 0; left--)
      world.clock.setTimer(() => this.#happen(), dice.time(duration));
  }

  /** Ends all accidents; from now on everything works again. */
  end(): void {
    this.#isOver = true;
    for (const repair of this.#repairs) repair();
  }

  #happen(): void {
    if (this.#isOver) return;
    const { world, dice } = this;
    const alive = world.clients.filter((it) => it.closedAt === undefined && !it.process.isDead);
    const victims = this.victims().filter((it) => alive.includes(it));
    const client = dice.pick(victims.length > 0 && dice.chance(0.5) ? victims : alive);
    const period =
      client.sessionTimeout * dice.pick([0.1, 0.4, 0.9, 1.2, 2.5]) * dice.between(0.8, 1.2);
    const kinds = {
      cut: () => client.cut(dice.pick(['lost', 'processed'])),
      partition: () => this.#for(period, client.partition()),
      'partition of all': () => {
        for (const one of world.clients) this.#for(period, one.partition());
      },
      'frozen server': () => this.#for(period, world.freezeServer()),
      'restarted server': () => this.#restart(period),
      'refused connections': () => {
        this.#for(period, client.refuse());
        client.cut();
      },
      'slow network': () => this.#for(period, client.slowDown(dice.pick([50, 500, period]))),
      'fading network': () => {
        this.#for(period, client.slowDown(0.3 * client.sessionTimeout));
        world.clock.setTimer(
          () => this.#isOver || this.#for(period, client.partition()),
          0.3 * period,
        );
      },
      'frozen process': () => {
        const thaw = client.freeze(client.worker !== undefined && dice.chance(0.3));
        this.#for(period, () => thaw(dice.pick(['timer', 'message'])));
      },
      'ended session': () => world.expire(client),
      'stolen node': () => this.#steal(),
      'written node': () => this.#write(),
      'collected containers': () => world.collectContainers(),
      'killed process': () => void (alive.length > 1 && client.kill()),
      'closed client': () => void (alive.length > 1 && client.process.isRunning && client.close()),
    };
    if (world.ensemble && dice.chance(0.5)) return this.#happenTo(world.ensemble, period);
    if (world.counts.length > 0 && dice.chance(0.5)) this.#change(client);
    const kind = dice.pick([
      ...(Object.keys(kinds) as (keyof typeof kinds)[]),
      ...(['cut', 'stolen node', 'ended session', 'frozen process'] as const),
    ]);
    world.history.note(kind, `${client.name} ${period.toFixed(0)}`);
    kinds[kind]();
  }

  /** Accidents that only ensembles have. */
  #happenTo(ensemble: Ensemble, period: number): void {
    const { world, dice } = this;
    const follower = this.#holder()?.follower ?? dice.pick(ensemble.followers);
    const kinds = {
      'follower cut off': () => {
        let isCutOff = true;
        follower.cutOff();
        if (dice.chance(0.3))
          world.clock.setTimer(() => isCutOff && follower.stop(), dice.time(2 * period));
        this.#hinderFor(period, () => {
          isCutOff = false;
          follower.recover();
        });
      },
      'follower killed': () => {
        follower.stop();
        this.#hinderFor(period, () => follower.recover());
      },
      'leader deposed': () => this.#depose(ensemble, follower, period),
      'timeouts configured': () => {
        const server = dice.integer(0, 2);
        ensemble.configure(server, 0.5);
        this.#for(2 * period, () => ensemble.configure(server, 1));
      },
    };
    const kind = dice.pick([
      ...(Object.keys(kinds) as (keyof typeof kinds)[]),
      ...(['follower cut off', 'follower cut off'] as const),
    ]);
    world.history.note(kind, period.toFixed(0));
    kinds[kind]();
  }

  /** A client that is served in some queue. */
  #holder(): SimulatedClient | undefined {
    const { queues, clients } = this.world;
    const owners = [...queues.values()].flatMap(({ first }) => first?.owner ?? []);
    const holders = clients.filter((it) => owners.includes(it.connection.session?.id ?? ''));
    return holders.length > 0 ? this.dice.pick(holders) : undefined;
  }

  /**
   * A server considers itself the leader until it has not heard from the others for `syncLimit` ticks. Without any notification
   * they need as long to notice; otherwise there is another leader at once, which only `standard` is safe from, and only where
   * the sessions live longer than that.
   */
  #depose(ensemble: Ensemble, deposed: Follower, period: number): void {
    const { world, dice } = this;
    const others = ensemble.followers.filter((it) => it !== deposed);
    const stepDown = () => {
      deposed.stop();
      deposed.recover();
    };
    deposed.depose();
    if (world.errorPolicy === 'standard' && dice.chance(0.5)) {
      world.server.elect();
      return this.#hinderFor(dice.between(0, 1.8 * Timing.tick), stepDown);
    }
    const thaw = world.freezeServer();
    for (const other of others) other.cutOff();
    this.#for(period, () => {
      thaw();
      world.server.elect();
      for (const other of others) other.recover();
      stepDown();
    });
  }

  #hinderFor(ms: number, repair: () => void): void {
    const relieve = this.world.hinder();
    this.#for(ms, () => {
      repair();
      relieve();
    });
  }

  /** Calls `repair` after `ms`, or at the end. */
  #for(ms: number, repair: () => void): void {
    const once = () => {
      if (this.#repairs.delete(once)) repair();
    };
    this.#repairs.add(once);
    this.world.clock.setTimer(once, ms);
  }

  #restart(period: number): void {
    const { clients } = this.world;
    this.#for(period, this.world.freezeServer());
    for (const client of clients) {
      this.#for(period, client.refuse());
      client.cut('lost');
    }
  }

  #steal(): void {
    const node = this.#anyNode();
    if (node) this.world.take(node);
  }

  #write(): void {
    const node = this.#anyNode();
    if (node) this.world.write(node);
  }

  #change(client: SimulatedClient): void {
    const { dice, world } = this;
    const count = dice.pick(world.counts);
    count.set(dice.integer(1, count.highest), dice.chance(0.5) ? client : undefined);
  }

  /** A random item, the first ones more often. */
  #anyNode(): QueuedNode | undefined {
    const { first, nodes } = this.dice.pick([...this.world.queues.values()]);
    return first && this.dice.pick([first, ...nodes]);
  }

  #sent(client: SimulatedClient, request: Request): void {
    if (this.#isOver || !this.dice.chance(request.op === 'create' ? 2 * this.risk : this.risk))
      return;
    this.world.history.note('cut at a request', `${request.op} ${client.name}`);
    client.cut(this.dice.pick(['lost', 'processed']));
  }

  #fate(client: SimulatedClient, request: Request): 'served' | 'lost' | 'unanswered' {
    const { world, dice } = this;
    if (this.#isOver || !dice.chance(this.risk)) return 'served';
    const fate = dice.pick([
      'lost',
      'unanswered',
      'collect',
      'steal',
      'write',
      'end session',
    ] as const);
    world.history.note(`${fate} at a request`, `${request.op} ${client.name}`);
    switch (fate) {
      case 'collect':
        world.collectContainers();
        return 'served';
      case 'steal':
        this.#steal();
        return 'served';
      case 'write':
        this.#write();
        return 'served';
      case 'end session':
        world.expire(client);
        return 'served';
      default:
        client.disturb(world.clock.now() + Timing.latency);
        return fate;
    }
  }
}
