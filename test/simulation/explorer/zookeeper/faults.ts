import { ReturnCode } from '../../../../lib/zookeeper/connection/zookeeper-error.js';
import type { SimulatedClient } from '../../client.js';
import type { World } from '../../world.js';
import { Timing } from '../../timing.js';
import type { Wire } from './network.js';
import type { Step } from './steps.js';

/** One kind of trouble: each costs one of the faults that a run may have. */
export const FAULTS = [
  'cut',
  'deafen',
  'throttle',
  'take',
  'expire',
  'silence',
  'lose the leader',
  'freeze',
  'kill',
  'shorten',
  'delay',
] as const;
export type Fault = (typeof FAULTS)[number];

/** How long a server that has refused a request is busy, in ms: a client pauses for 100 ms before it asks again. */
const BUSY = 150;

/** What may go wrong with one client, and what may happen then. */
export class Troubles {
  /** What ends the trouble that lasts, one way or another. */
  #repairs?: () => Readonly<Record<string, () => void>>;
  #relieve = () => {};
  /**
   * Whether its end now is not the same as if it had not been: its user has done something, or it has read from a server that is behind, or
   * time has passed. Otherwise the messages of that client have only come late, which is the same as if it had been served late; or, if
   * its connection is lost in the end, as if that had been lost at once.
   */
  isFelt = true;

  constructor(
    private readonly world: World,
    readonly client: SimulatedClient,
    readonly wire: Wire,
    private readonly kinds: readonly Fault[],
    private readonly isReduced: boolean,
  ) {}

  /** Whether the server still has a node of that client, or a request that it has not read. Otherwise that client concerns no other. */
  get hasSomethingLeft(): boolean {
    const session = this.client.connection.session?.id;
    const queues = [...this.world.queues.values()];
    return (
      this.wire.links.some(({ next }) => next !== undefined) ||
      queues.some(({ nodes }) => nodes.some(({ owner }) => owner === session))
    );
  }

  /** Whether its session may end before the trouble does. */
  get isLasting(): boolean {
    const isDeaf = this.wire.current?.isDeaf === true; // it hears as little of that as by a silent network
    return (this.#repairs !== undefined && !isDeaf) || this.client.process.isDead;
  }

  get repairs(): Step[] {
    const repairs = Object.entries(this.#repairs?.() ?? {});
    return repairs.map(([what, repair]) => ({
      name: this.#named(what),
      take: () => {
        this.#repairs = undefined;
        this.#relieve();
        repair();
      },
    }));
  }

  get faults(): Step[] {
    const { client } = this;
    if (client.process.isDead || this.#repairs) return [];
    return this.kinds.flatMap((kind) => this.#fault[kind]());
  }

  end(): void {
    void this.repairs[0]?.take();
  }

  readonly #fault: Readonly<Record<Fault, () => Step[]>> = {
    delay: () => [], // of all clients together: see `Steps`
    cut: () => this.#ifUp('the connection is lost', () => this.#cut()),
    deafen: () =>
      this.#ifUp('all answers are lost from now on', () => {
        this.wire.current!.isDeaf = true;
        this.#lastsUntilCut('the connection is lost');
      }),
    throttle: () => {
      const request = this.wire.current?.next?.request;
      if (request === undefined || this.wire.current!.isDeaf) return [];
      return this.#one(`a busy server refuses ${request.op}`, () => {
        this.wire.current!.refuse(ReturnCode.THROTTLEDOP);
        if (request.op === 'delete') this.#keep(request.path);
        const relieve = this.client.hinder();
        this.world.clock.setTimer(relieve, BUSY);
      });
    },
    take: () => {
      const session = this.client.connection.session?.id;
      const nodes = [...this.world.queues.values()].flatMap((queue) => queue.nodes);
      return nodes
        .filter(({ owner }) => owner === session)
        .flatMap((node) =>
          this.#one(`an operator deletes ${node.path.replace(/\/_c_.{36}-/, '/')}`, () =>
            this.world.take(node),
          ),
        );
    },
    expire: () =>
      this.client.connection.session === undefined
        ? []
        : this.#one('an operator ends the session', () => this.world.expire(this.client)),
    silence: () =>
      this.#ifLinked('the network carries nothing', () => {
        this.wire.silence();
        this.#lasts(() => ({ 'the network works again': () => this.wire.heal() }));
      }),
    'lose the leader': () =>
      this.#ifConnected('its server is cut off from the leader', () => {
        this.wire.current!.loseLeader();
        this.#lastsUntilCut('its server stops');
      }),
    freeze: () =>
      this.#one('the process stands still', () => {
        const { process } = this.client;
        process.freeze();
        const goOn = { 'the process goes on': () => process.thaw('timer') };
        const goOnEither = {
          'the process goes on, timers first': () => process.thaw('timer'),
          'the process goes on, messages first': () => process.thaw('message'),
        };
        this.#lasts(() => (process.hasBoth ? goOnEither : goOn));
      }),
    kill: () =>
      this.#one('the process is killed', () => {
        this.client.process.kill();
        this.wire.current?.die();
      }),
    shorten: () =>
      this.#ifConnected(
        'the connection is lost, and the next server grants half of the timeout',
        () => {
          this.wire.share = 0.5;
          this.#cut();
        },
      ),
  };

  #named(what: string): string {
    return `${this.client.name}: ${what}`;
  }

  #one(what: string, take: () => void): Step[] {
    return [{ name: this.#named(what), take }];
  }

  #ifLinked(what: string, take: () => void): Step[] {
    const link = this.wire.current;
    return link && !link.isDeaf ? this.#one(what, take) : [];
  }

  /** A link that is lost before it is up has carried nothing; the next one is the same. */
  #ifUp(what: string, take: () => void): Step[] {
    return this.isReduced ? this.#ifConnected(what, take) : this.#ifLinked(what, take);
  }

  #ifConnected(what: string, take: () => void): Step[] {
    return this.client.connection.isConnected ? this.#ifLinked(what, take) : [];
  }

  #keep(path: string): void {
    const queues = [...this.world.queues.values()];
    const node = queues.flatMap(({ nodes }) => nodes).find((one) => one.path === path);
    if (node) node.wasKept = true;
  }

  #cut(): void {
    this.client.disturb(this.world.clock.now() + Timing.latency);
    this.wire.current?.cut();
  }

  #lastsUntilCut(what: string): void {
    this.#lasts(() => ({ [what]: () => this.#cut() }));
    if (!this.kinds.includes('cut')) this.isFelt = true; // where no connection is lost at once, that is not the same
  }

  /** @param repairs one of them happens later */
  #lasts(repairs: () => Readonly<Record<string, () => void>>): void {
    this.isFelt = !this.isReduced;
    this.#relieve = this.client.hinder();
    this.#repairs = repairs;
  }
}
