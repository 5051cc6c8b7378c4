import type { SimulatedClient } from '../../client.js';
import type { Company } from '../../run-schedule.js';
import { Timing } from '../../timing.js';
import type { World } from '../../world.js';
import type { Fault, Troubles } from './faults.js';
import type { Acts } from '../acts.js';
import { TOGETHER } from '../carry-out.js';
import { linkOf } from '../footprint.js';
import type { Likeness } from '../likeness.js';
import type { Network } from './network.js';
import type { Story } from '../story.js';
import type { User } from './users.js';
import { isOfUser, type WireLink } from './wire-link.js';

/** One step that may be chosen. */
export interface Step {
  readonly name: string;
  /** Whether time passes, so that everything depends on it. */
  readonly isLong?: boolean;
  /** Whether it need not be taken: the run is the same as another one under other names. */
  readonly isCovered?: boolean;
  take(): void | Promise<void>;
}

/** What there is in a run. */
interface Cast {
  readonly world: World;
  readonly network: Network;
  readonly acts: Acts<User>;
  readonly company: Company;
  /** Of each client, in their order. */
  readonly troubles: readonly Troubles[];
  readonly story: Story;
  /** How many faults there may be. */
  readonly faults: number;
  readonly kinds: readonly Fault[];
  readonly likeness: Likeness<SimulatedClient>;
  /** Whether steps that come to the same as others are left out. */
  readonly isReduced: boolean;
}

/** The steps that are possible, at any time of a run. */
export class Steps {
  readonly #outlived = new Set<SimulatedClient>();
  #faultsLeft: number;

  constructor(private readonly cast: Cast) {
    this.#faultsLeft = cast.faults;
  }

  /** While there are some, one of them or another step is taken. Otherwise time passes until there are. */
  get due(): Step[] {
    const { acts, company, troubles } = this.cast;
    const served = troubles.flatMap((trouble) =>
      trouble.wire.ready.filter(({ isOpen }) => isOpen).map((link) => this.#serve(trouble, link)),
    );
    const acted = acts.names.map((name) => this.#act(name));
    const due = [...served, ...acted, ...this.#repairs(troubles.filter(({ isFelt }) => isFelt))];
    if (due.length > 0 || company.isOver()) return due;
    const rest = this.#repairs(troubles);
    return rest.length > 0 ? rest : this.#ends;
  }

  /** Steps that may never be taken, beside those that are due. */
  get optional(): Step[] {
    const late = this.cast.troubles.flatMap((trouble) =>
      trouble.wire.ready.filter(({ isOpen }) => !isOpen).map((link) => this.#serve(trouble, link)),
    );
    return [...late, ...this.#ends];
  }

  get faults(): Step[] {
    if (this.#faultsLeft === 0) return [];
    const { kinds, troubles } = this.cast;
    const ofClients = troubles
      .filter((trouble) => this.#concernsOthers(trouble))
      .flatMap(({ faults, client }) =>
        faults.map(({ name, take }) => ({ name, take: () => this.#touching(client, take) })),
      );
    const faults = kinds.includes('delay') ? [...ofClients, ...this.#delays] : ofClients;
    return faults.map((fault) => ({ ...fault, take: () => this.#fail(fault) }));
  }

  #repairs(troubles: readonly Troubles[]): Step[] {
    return troubles.flatMap(({ repairs, client }) =>
      repairs.map(({ name, take }) => ({ name, take: () => this.#touching(client, take) })),
    );
  }

  /** A client whose users are gone, and of which the server has nothing left, can neither gain nor lose a lock. */
  #concernsOthers(trouble: Troubles): boolean {
    const { company, isReduced } = this.cast;
    return !isReduced || company.clients.includes(trouble.client) || trouble.hasSomethingLeft;
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
      this.#feel();
      await clock.advance(until - clock.now());
    };
    return [{ isLong: true, name: 'no message arrives before the next timer fires', take }];
  }

  /** Only the last one makes others impossible: two before it may come in either order. */
  #fail({ take }: Step): void | Promise<void> {
    const { footprint } = this.cast.network;
    this.#faultsLeft -= 1;
    footprint.reads('faults');
    if (this.#faultsLeft === 0) footprint.writes('faults');
    return take();
  }

  #serve(trouble: Troubles, link: WireLink): Step {
    const { client } = trouble;
    const { likeness, story, isReduced } = this.cast;
    const { request, what } = link.next!;
    const of = link.isOpen ? client.name : `${client.name}, by its old connection,`;
    return {
      name: `${of} is served`,
      isCovered: isReduced && isOfUser(request) && !likeness.mayBeServed(client),
      take: () => {
        story.detail(what);
        if (link.isStale) trouble.isFelt = true;
        link.serve();
      },
    };
  }

  #act(name: string): Step {
    const { acts, network, troubles, likeness, isReduced } = this.cast;
    const user = acts.userOf(name);
    const { client } = user;
    return {
      name,
      isCovered: isReduced && !likeness.mayAct(user),
      take: () => {
        network.footprint.writes(client.name);
        if (client.connection.isConnected) network.footprint.writes(linkOf(client.name)); // otherwise it sends nothing
        likeness.begins(user);
        for (const trouble of troubles) if (trouble.client === client) trouble.isFelt = true;
        acts.do(name);
      },
    };
  }

  /** Time passes. */
  #feel(): void {
    for (const trouble of this.cast.troubles) trouble.isFelt = true;
  }

  #touching(client: SimulatedClient, take: Step['take']): void | Promise<void> {
    const { footprint } = this.cast.network;
    footprint.writes(client.name);
    footprint.writes(linkOf(client.name));
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
        this.#feel();
        network.isFlowing = true;
        await world.pass(client.sessionTimeout + 2 * Timing.tick);
        network.isFlowing = false;
      },
    };
  }
}
