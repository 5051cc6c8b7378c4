import type { Footprint } from '../../explorer/footprint.js';
import type { ClusterServers } from '../network/cluster-servers.js';
import type { RedisProcess } from '../world/redis-process.js';
import type { RedisWorld } from '../world/redis-world.js';

/**
 * What may go wrong: the connections of a client break, and what was sent on them arrives at any time after that (`cut`), or never
 * (`lose`); nothing arrives until its leases have ended (`silence`); its process stands still for so long (`freeze`), or dies (`kill`);
 * the server has no memory left (`fill`); another one takes over, and the old one ends its connections (`fail over`), or refuses to
 * write on them (`demote`). In a cluster, the slot of the locks is moved to another node, key by key, and that may stand still for so
 * long (`migrate`).
 */
export const REDIS_FAULTS = [
  'cut',
  'lose',
  'silence',
  'freeze',
  'kill',
  'fill',
  'fail over',
  'demote',
  'migrate',
] as const;
export type RedisFault = (typeof REDIS_FAULTS)[number];

/** Those of a server with a replica. */
const OF_ONE: ReadonlySet<RedisFault> = new Set(['fill', 'fail over', 'demote']);

/** A fault that may be caused, or repaired. */
export interface RedisTrouble {
  readonly name: string;
  /** Whether everything depends on it. */
  readonly isOfAll?: boolean;
  take(footprint: Footprint): void | Promise<void>;
}

/** The faults of a world. */
export class RedisTroubles {
  #isFull = false;
  #mayStandStill = true;

  /** @param key the locks of a cluster are in the slot of this key */
  constructor(
    private readonly world: RedisWorld,
    private readonly key: string,
    private readonly kinds: readonly RedisFault[],
    /** Lets time pass until all leases have ended that are not renewed; all else goes on. */
    private readonly outlive: () => Promise<void>,
  ) {}

  /** @param clients those with users */
  possible(clients: readonly RedisProcess[]): RedisTrouble[] {
    const { cluster } = this.world;
    const has = (kind: RedisFault) => this.kinds.includes(kind) && (!cluster || !OF_ONE.has(kind));
    const ofClients = clients.flatMap((client) => [
      ...(has('cut') && isUp(client) ? [this.#cut(client)] : []),
      ...(has('lose') && isUp(client) ? [this.#lose(client)] : []),
      ...(has('silence') && isUp(client) ? [this.#silence(client)] : []),
      ...(has('freeze') ? [this.#freeze(client, 'timer'), this.#freeze(client, 'message')] : []),
      ...(has('kill') && this.world.open.length > 1 ? [this.#kill(client)] : []),
    ]);
    return [
      ...ofClients,
      ...(has('fill') && !this.#isFull ? [this.#fill()] : []),
      ...(has('fail over') ? [this.#failOver(true)] : []),
      ...(has('demote') ? [this.#failOver(false)] : []),
      ...(has('migrate') && cluster && !cluster.slots.migration ? [this.#migrate(cluster)] : []),
    ];
  }

  get repairs(): RedisTrouble[] {
    const { cluster } = this.world;
    if (cluster?.slots.migration) return this.#moves(cluster);
    if (!this.#isFull) return [];
    const take = (footprint: Footprint) => {
      footprint.writes('trouble');
      this.end();
    };
    return [{ name: 'the server has memory again', take }];
  }

  end(): void {
    this.#isFull = false;
    const { replicated, cluster } = this.world;
    if (replicated) replicated.port.server.trouble = 'none';
    if (!cluster?.slots.migration) return;
    for (const key of cluster.leftToMove(this.key)) cluster.move(key);
    cluster.endMoving();
  }

  #migrate(cluster: ClusterServers): RedisTrouble {
    const take = (footprint: Footprint) => {
      ofServer(footprint);
      cluster.beginToMove(this.key);
    };
    return { name: 'another node begins to take over the slot', take };
  }

  /** Clients may read at any time which node has the slot, but not which one has a key. */
  #moves(cluster: ClusterServers): RedisTrouble[] {
    const left = cluster.leftToMove(this.key);
    const moves = left.map((key) => ({
      name: `the key ${key} is moved`,
      take: (footprint: Footprint) => {
        ofServer(footprint);
        cluster.move(key);
      },
    }));
    const end = { name: 'the slot is moved', isOfAll: true, take: () => cluster.endMoving() };
    const take = async () => {
      this.#mayStandStill = false;
      await this.outlive();
    };
    const pause = { name: 'nothing is moved until leases would have ended', isOfAll: true, take };
    return [...(left.length > 0 ? moves : [end]), ...(this.#mayStandStill ? [pause] : [])];
  }

  #cut(client: RedisProcess): RedisTrouble {
    return this.#of(client, 'its connections break', () => client.cut(() => 'processed'));
  }

  #lose(client: RedisProcess): RedisTrouble {
    const what = 'its connections break, and what it has sent is lost';
    return this.#of(client, what, () => client.cut(() => 'lost'));
  }

  #silence(client: RedisProcess): RedisTrouble {
    const take = async () => {
      const heal = client.partition();
      await this.outlive();
      heal();
    };
    const name = `${client.name}: nothing arrives until its leases have ended`;
    return { name, isOfAll: true, take };
  }

  #freeze(client: RedisProcess, first: 'timer' | 'message'): RedisTrouble {
    const take = async () => {
      const thaw = client.freeze();
      await this.outlive();
      thaw(first);
    };
    const name = `${client.name}: its process stands still until its leases have ended, and sees the ${first} first`;
    return { name, isOfAll: true, take };
  }

  #kill(client: RedisProcess): RedisTrouble {
    return this.#of(client, 'its process dies', () => client.kill());
  }

  #of(client: RedisProcess, what: string, happen: () => void): RedisTrouble {
    const take = (footprint: Footprint) => {
      footprint.writes(client.name);
      footprint.writes(wayOf(client));
      happen();
    };
    return { name: `${client.name}: ${what}`, take };
  }

  #fill(): RedisTrouble {
    const take = (footprint: Footprint) => {
      footprint.writes('trouble');
      this.#isFull = true;
      this.world.replicated!.port.server.trouble = 'full';
    };
    return { name: 'the server has no memory left', take };
  }

  #failOver(isAbrupt: boolean): RedisTrouble {
    const { world } = this;
    const take = () => {
      this.end();
      for (const client of world.clients) client.disturb();
      world.replicated!.failOver(isAbrupt);
    };
    const name = isAbrupt ? 'another server takes over' : 'the server is demoted';
    return { name, isOfAll: true, take };
  }
}

/** What a client has sent, and the server has not handled. */
export const wayOf = ({ name }: RedisProcess): string => `what ${name} has sent`;

/** All that a server does depends on it. */
function ofServer(footprint: Footprint): void {
  for (const all of ['keys', 'channels']) footprint.writes(all);
}

const isUp = ({ network }: RedisProcess) => network.links.some(({ isOpen }) => isOpen);
