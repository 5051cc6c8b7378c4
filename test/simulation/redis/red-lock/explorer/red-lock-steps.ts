import * as scripts from '../../../../../lib/redis/scripts/index.js';
import type { Footprint } from '../../../explorer/footprint.js';
import type { Story } from '../../../explorer/story.js';
import type { Acts } from '../../../explorer/acts.js';
import type { SteppedWay } from '../../explorer/stepped-network.js';
import type { RedLockProcess } from '../red-lock-process.js';
import type { RedLockWorld } from '../red-lock-world.js';
import type { LikeClients } from './like-clients.js';
import type { LikeServers } from './like-servers.js';
import { nameOf, type RedLockTroubles, wayOf } from './red-lock-faults.js';
import type { RedLockGuest } from './red-lock-guest.js';

/** One step that may be chosen. */
export interface RedLockStep {
  readonly name: string;
  /** Whether everything depends on it. */
  readonly isOfAll?: boolean;
  /** The client that does something. */
  readonly actor?: string;
  /** If the client only reads, and may do nothing about it: from which server. */
  readonly server?: number;
  take(footprint: Footprint): void | Promise<void>;
}

/** What there is in a run. */
interface Cast {
  readonly world: RedLockWorld;
  readonly acts: Acts<RedLockGuest>;
  readonly troubles: RedLockTroubles;
  readonly story: Story;
  /** How many faults there may be. */
  readonly faults: number;
  readonly servers: LikeServers;
  readonly clients: LikeClients;
  /** The clients with users, as far as they have live processes. */
  readonly there: () => readonly RedLockProcess[];
}

/** The steps that are possible, at any time of a run. */
export class RedLockSteps {
  #faultsLeft: number;

  constructor(private readonly cast: Cast) {
    this.#faultsLeft = cast.faults;
  }

  /** While there are some, one of them or another step is taken. Otherwise time passes until there are. */
  get due(): RedLockStep[] {
    const { there, troubles } = this.cast;
    const steps = [...this.#arrivals(true), ...this.#acts];
    return steps.length > 0 || there().length > 0 ? [...steps, ...troubles.repairs] : steps;
  }

  /** What was sent on connections that are given up: it may never arrive. */
  get optional(): RedLockStep[] {
    return this.#arrivals(false);
  }

  get faults(): RedLockStep[] {
    if (this.#faultsLeft === 0) return [];
    const { there, troubles } = this.cast;
    return troubles.possible([...new Set(there())]).map((fault) => {
      return { ...fault, take: (footprint) => this.#fail(fault, footprint) };
    });
  }

  /** The next message of those that only make a connection, and those that end one without subscriptions. */
  get connecting(): SteppedWay | undefined {
    for (const { networks } of this.cast.world.clients)
      for (const { up, down, isOpen, session } of networks.flatMap(({ links }) => links)) {
        const [there, back] = [up as SteppedWay, down as SteppedWay];
        if (isOpen && !there.isUsed) {
          if (there.next) return there;
          if (back.next) return back;
        }
        const isLeft = there.next?.words[0] === 'leave';
        if (isLeft && session.channels.size + session.shardChannels.size === 0) return there;
      }
    return undefined;
  }

  /** Only the last one makes others impossible: two before it may come in either order. */
  #fail({ take }: RedLockStep, footprint: Footprint): void | Promise<void> {
    this.#faultsLeft -= 1;
    footprint.reads('faults');
    if (this.#faultsLeft === 0) footprint.writes('faults');
    return take(footprint);
  }

  /** @param areOpen of which connections */
  #arrivals(areOpen: boolean): RedLockStep[] {
    return this.cast.world.clients.flatMap((client) =>
      client.networks.flatMap(({ links }, server) =>
        links.flatMap(({ isOpen, up, down }, i) => {
          if (isOpen !== areOpen || !this.cast.servers.mayBeNext(server)) return [];
          const name = nameOfLink(client, server, i);
          const [there, back] = [up as SteppedWay, down as SteppedWay];
          const isHeard = areOpen && back.next && !client.process.isDead;
          return [
            ...(there.next ? [this.#serve(client, server, name, there)] : []),
            ...(isHeard ? [hear(client, server, name, back)] : []),
          ];
        }),
      ),
    );
  }

  /**
   * Independent of what the client reads and does meanwhile, which only adds to what it has sent, and of all other servers. All that runs
   * a script, which may publish, depends on the subscriptions at that server; these do not depend on each other.
   */
  #serve(client: RedLockProcess, server: number, name: string, way: SteppedWay): RedLockStep {
    const take = (footprint: Footprint) => {
      const { words } = way.next!;
      this.cast.servers.hasRead(server, name.replace(/ to .*/, ''));
      this.cast.story.detail(textOf(words));
      footprint.reads(wayOf(client, server));
      const changesNothing = /^(?:un)?s?subscribe$|^leave$|^connect$|^info$/i.test(words[0]!);
      if (changesNothing) footprint.reads(nameOf(server));
      else footprint.writes(nameOf(server));
      way.arrive();
    };
    return { name: `${name}: the server reads`, take };
  }

  get #acts(): RedLockStep[] {
    const { acts, clients, world } = this.cast;
    return acts.names.flatMap((name) => {
      const { client } = acts.userOf(name);
      const number = world.clients.indexOf(client);
      if (!clients.mayBegin(number)) return [];
      const take = (footprint: Footprint) => {
        clients.begins(number);
        footprint.writes(client.name);
        acts.do(name);
      };
      return [{ name, actor: client.name, take }];
    });
  }
}

const nameOfLink = ({ name }: RedLockProcess, server: number, index: number): string =>
  `${name}, connection ${index + 1} to ${nameOf(server)}`;

function hear(
  { name: actor }: RedLockProcess,
  server: number,
  connection: string,
  way: SteppedWay,
): RedLockStep {
  const take = () => way.arrive();
  return { name: `${connection}: the client reads`, actor, server, take };
}

const NAMES = new Map(Object.values(scripts).map(({ sha1, name }) => [sha1, name]));

function textOf(words: readonly string[]): string {
  const [, script, ...rest] = words;
  const name = NAMES.get(script ?? '');
  return name ? `${name} ${rest.slice(1, 1 + Number(rest[0])).join(' ')}` : words.join(' ');
}
