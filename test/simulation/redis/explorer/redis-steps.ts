import * as scripts from '../../../../lib/redis/scripts/index.js';
import type { Footprint } from '../../explorer/footprint.js';
import type { Likeness } from '../../explorer/likeness.js';
import type { Story } from '../../explorer/story.js';
import type { Acts } from '../../explorer/acts.js';
import type { RedisProcess } from '../world/redis-process.js';
import type { RedisWorld } from '../world/redis-world.js';
import { type RedisTroubles, wayOf } from './redis-faults.js';
import type { RedisGuest } from './redis-guest.js';
import type { SteppedWay } from './stepped-network.js';

/** One step that may be chosen. */
export interface RedisStep {
  readonly name: string;
  /** Whether everything depends on it. */
  readonly isOfAll?: boolean;
  /** The client that does something. */
  readonly actor?: string;
  /** Whether it need not be taken: the run is the same as another one under other names. */
  readonly isCovered?: boolean;
  /** Whether the client only reads, and may do nothing about it. */
  readonly isRead?: boolean;
  take(footprint: Footprint): void | Promise<void>;
}

/** What there is in a run. */
interface Cast {
  readonly world: RedisWorld;
  readonly acts: Acts<RedisGuest>;
  readonly troubles: RedisTroubles;
  readonly story: Story;
  readonly likeness: Likeness<RedisProcess>;
  /** Whether steps that come to the same as others are left out. */
  readonly isReduced: boolean;
  /** How many faults there may be. */
  readonly faults: number;
  /** The clients with users, as far as they have live processes. */
  readonly there: () => readonly RedisProcess[];
}

/** The steps that are possible, at any time of a run. */
export class RedisSteps {
  #faultsLeft: number;

  constructor(private readonly cast: Cast) {
    this.#faultsLeft = cast.faults;
  }

  /** While there are some, one of them or another step is taken. Otherwise time passes until there are. */
  get due(): RedisStep[] {
    const { acts, there, troubles } = this.cast;
    const steps = [...this.#arrivals(true), ...acts.names.map((name) => this.#act(name))];
    return steps.length > 0 || there().length > 0 ? [...steps, ...troubles.repairs] : steps;
  }

  /** What was sent on connections that are given up: it may never arrive. */
  get optional(): RedisStep[] {
    return this.#arrivals(false);
  }

  get faults(): RedisStep[] {
    if (this.#faultsLeft === 0) return [];
    const { there, troubles } = this.cast;
    return troubles.possible([...new Set(there())]).map((fault) => {
      return { ...fault, take: (footprint) => this.#fail(fault, footprint) };
    });
  }

  /** The next message of those that only make a connection, and those that end one without subscriptions. */
  get connecting(): SteppedWay | undefined {
    for (const client of this.cast.world.clients)
      for (const { up, down, isOpen, session } of client.network.links) {
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
  #fail({ take }: RedisStep, footprint: Footprint): void | Promise<void> {
    this.#faultsLeft -= 1;
    footprint.reads('faults');
    if (this.#faultsLeft === 0) footprint.writes('faults');
    return take(footprint);
  }

  /** @param areOpen of which connections */
  #arrivals(areOpen: boolean): RedisStep[] {
    return this.cast.world.clients.flatMap((client) =>
      client.network.links.flatMap(({ isOpen, up, down }, i) => {
        if (isOpen !== areOpen) return [];
        const name = `${client.name}, connection ${i + 1}`;
        const [there, back] = [up as SteppedWay, down as SteppedWay];
        const isHeard = areOpen && back.next && !client.process.isDead;
        return [
          ...(there.next ? [this.#serve(client, name, there)] : []),
          ...(isHeard ? [hear(client, name, back)] : []),
        ];
      }),
    );
  }

  /**
   * Independent of what the client reads and does meanwhile, which only adds to what it has sent. A script depends on the keys, which it
   * may change, and if it publishes something, on the subscriptions, which do not depend on each other.
   */
  #serve(client: RedisProcess, connection: string, way: SteppedWay): RedisStep {
    const { likeness, story, isReduced } = this.cast;
    const take = (footprint: Footprint) => {
      const { words } = way.next!;
      story.detail(textOf(words));
      footprint.reads(wayOf(client));
      footprint.reads('trouble');
      if (ABOUT_CHANNELS.test(words[0]!)) footprint.reads('channels');
      else if (!/^(?:connect|info)$/i.test(words[0]!)) footprint.reads('keys');
      likeness.begins(client);
      way.arrive();
    };
    const isCovered = isReduced && !likeness.mayBeServed(client);
    return { name: `${connection}: the server reads`, isCovered, take };
  }

  #act(name: string): RedisStep {
    const { acts, likeness, isReduced } = this.cast;
    const user = acts.userOf(name);
    const actor = user.client.name;
    const take = (footprint: Footprint) => {
      footprint.writes(actor);
      likeness.begins(user);
      acts.do(name);
    };
    return { name, actor, isCovered: isReduced && !likeness.mayAct(user), take };
  }
}

const ABOUT_CHANNELS = /^(?:un)?s?subscribe$|^leave$/i;

function hear({ name: actor }: RedisProcess, connection: string, way: SteppedWay): RedisStep {
  return { name: `${connection}: the client reads`, actor, isRead: true, take: () => way.arrive() };
}

const NAMES = new Map(Object.values(scripts).map(({ sha1, name }) => [sha1, name]));

function textOf(words: readonly string[]): string {
  const [, script, ...rest] = words;
  const name = NAMES.get(script ?? '');
  return name ? `${name} ${rest.slice(1, 1 + Number(rest[0])).join(' ')}` : words.join(' ');
}
