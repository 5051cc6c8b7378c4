import type { SimulatedClient } from '../client.js';
import type { Company } from '../run-schedule.js';
import { Timing } from '../timing.js';
import type { World } from '../world.js';
import type { Fault, Troubles } from './faults.js';
import type { Network, Wire } from './network.js';
import type { Story } from './story.js';
import type { Acts } from './users.js';
import type { WireLink } from './wire-link.js';

/** One step that may be chosen. */
export interface Step {
  readonly name: string;
  /** Whether time passes, so that everything depends on it. */
  readonly isLong?: boolean;
  take(): void | Promise<void>;
}

/** What there is in a run. */
interface Cast {
  readonly world: World;
  readonly network: Network;
  readonly acts: Acts;
  readonly company: Company;
  /** Of each client, in their order. */
  readonly troubles: readonly Troubles[];
  readonly story: Story;
  /** How many faults there may be. */
  readonly faults: number;
  readonly kinds: readonly Fault[];
}

/** Timers that were set a few steps one after the other fire at the same time, in ms. */
export const TOGETHER = 1;

/** The steps that are possible, at any time of a run. */
export class Steps {
  readonly #outlived = new Set<SimulatedClient>();
  #faultsLeft: number;

  constructor(private readonly cast: Cast) {
    this.#faultsLeft = cast.faults;
  }

  /** While there are some, one of them or another step is taken. Otherwise time passes until there are. */
  get due(): Step[] {
    const { network, acts, troubles, company } = this.cast;
    const served = network.wires.flatMap((wire) =>
      wire.ready.filter(({ isOpen }) => isOpen).map((link) => this.#serve(wire, link)),
    );
    const acted = acts.names.map((name) => ({ name, take: () => this.#act(name) }));
    const repaired = troubles.flatMap(({ repairs, client }) =>
      repairs.map(({ name, take }) => ({ name, take: () => this.#touching(client, take) })),
    );
    const due = [...served, ...acted, ...repaired];
    return due.length > 0 || company.isOver() ? due : this.#ends;
  }

  /** Steps that may never be taken, beside those that are due. */
  get optional(): Step[] {
    const late = this.cast.network.wires.flatMap((wire) =>
      wire.ready.filter(({ isOpen }) => !isOpen).map((link) => this.#serve(wire, link)),
    );
    return [...late, ...this.#ends];
  }

  get faults(): Step[] {
    if (this.#faultsLeft === 0) return [];
    const { troubles, kinds } = this.cast;
    const ofClients = troubles.flatMap(({ faults, client }) =>
      faults.map(({ name, take }) => ({ name, take: () => this.#touching(client, take) })),
    );
    const faults = kinds.includes('delay') ? [...ofClients, ...this.#delays] : ofClients;
    return faults.map((fault) => ({ ...fault, take: () => this.#fail(fault) }));
  }

  /** Of sessions, while the trouble of their clients lasts. */
  get #ends(): Step[] {
    return this.cast.troubles.flatMap(({ isLasting, client }) =>
      isLasting && !this.#outlived.has(client) ? [this.#outlive(client)] : [],
    );
  }

  /** Otherwise timers fire only when nothing else happens. */
  get #delays(): Step[] {
    const { clock, clients } = this.cast.world;
    const { nextAt } = clock;
    if (nextAt === undefined) return [];
    const take = async () => {
      const until = nextAt + TOGETHER;
      for (const client of clients) client.disturb(until + Timing.latency);
      await clock.advance(until - clock.now());
    };
    return [{ isLong: true, name: 'no message arrives before the next timer fires', take }];
  }

  #fail({ take }: Step): void | Promise<void> {
    this.#faultsLeft -= 1;
    this.cast.network.footprint.writes('faults');
    return take();
  }

  #serve(wire: Wire, link: WireLink): Step {
    const of = link.isOpen ? wire.client : `${wire.client}, by its old connection,`;
    return {
      name: `${of} is served`,
      take: () => {
        this.cast.story.detail(link.next!.what);
        link.serve();
      },
    };
  }

  #act(name: string): void {
    const { acts } = this.cast;
    void this.#touching(acts.clientOf(name), () => acts.do(name));
  }

  #touching(client: SimulatedClient, take: Step['take']): void | Promise<void> {
    this.cast.network.footprint.writes(client.name);
    return take();
  }

  /** Everything else goes on meanwhile. */
  #outlive(client: SimulatedClient): Step {
    const { network, world } = this.cast;
    return {
      isLong: true,
      name: `${client.name}: time passes until its session is over`,
      take: async () => {
        this.#outlived.add(client);
        network.isFlowing = true;
        await world.pass(client.sessionTimeout + 2 * Timing.tick);
        network.isFlowing = false;
      },
    };
  }
}
