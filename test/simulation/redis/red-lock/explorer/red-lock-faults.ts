import type { Footprint } from '../../../explorer/footprint.js';
import type { RedLockProcess } from '../red-lock-process.js';
import type { RedLockWorld } from '../red-lock-world.js';
import type { LikeClients } from './like-clients.js';
import type { LikeServers } from './like-servers.js';

/**
 * What may go wrong. Between a client and one server: the connections break, and what was sent on them arrives at any time after that
 * (`cut`), or never (`lose`); nothing arrives until the leases have ended (`silence`, also to all servers). A timer comes before all
 * messages, so that answers are too late (`delay`). A process stands still until its leases have ended (`freeze`), or dies (`kill`).
 * A server restarts with what it has stored (`restart`); it restarts with nothing, and is away until all leases have ended (`forget`);
 * it has no memory left (`fill`).
 */
export const RED_LOCK_FAULTS = [
  'cut',
  'lose',
  'silence',
  'delay',
  'freeze',
  'kill',
  'restart',
  'forget',
  'fill',
] as const;
export type RedLockFault = (typeof RED_LOCK_FAULTS)[number];

/** A fault that may be caused, or repaired. */
export interface RedLockTrouble {
  readonly name: string;
  /** Whether everything depends on it. */
  readonly isOfAll?: boolean;
  take(footprint: Footprint): void | Promise<void>;
}

/** How time passes while a fault lasts. */
interface Passing {
  /** Until all leases have ended that are not renewed; all else goes on, and what comes after that repair, too, for a moment. */
  outlive(repair?: () => void): Promise<void>;
  /** Until the next timer has come; no message arrives. */
  untilTimer(): Promise<void>;
}

/** The faults of a world. */
export class RedLockTroubles {
  /** Servers without memory. */
  readonly #full = new Set<number>();
  /** Servers with which something was wrong. */
  readonly #troubled = new Set<number>();

  constructor(
    private readonly world: RedLockWorld,
    private readonly kinds: readonly RedLockFault[],
    private readonly passing: Passing,
    private readonly likes: { readonly servers: LikeServers; readonly clients: LikeClients },
  ) {}

  /** @param clients those with users */
  possible(clients: readonly RedLockProcess[]): RedLockTrouble[] {
    const has = (kind: RedLockFault) => this.kinds.includes(kind);
    const all = this.world.servers.ports.map((_, server) => server);
    const servers = all.filter((server) => this.likes.servers.mayBeNext(server));
    const mayBegin = (client: RedLockProcess) =>
      this.likes.clients.mayBegin(this.#numberOf(client));
    const ofClients = clients
      .filter(mayBegin)
      .flatMap((client) => [
        ...servers.flatMap((server) => this.#ofConnections(client, server)),
        ...(has('silence') ? [this.#silence(client, all)] : []),
        ...(has('freeze') ? [this.#freeze(client, 'timer'), this.#freeze(client, 'message')] : []),
        ...(has('kill') && this.world.clients.length > 1 ? [this.#kill(client)] : []),
      ]);
    const ofServers = servers.flatMap((server) => [
      ...(has('restart') ? [this.#restart(server)] : []),
      ...(has('forget') ? [this.#forget(server)] : []),
      ...(has('fill') && !this.#full.has(server) ? [this.#fill(server)] : []),
    ]);
    return [...ofClients, ...ofServers, ...(has('delay') ? [this.#delay()] : [])];
  }

  get repairs(): RedLockTrouble[] {
    return [...this.#full].map((server) => {
      const take = (footprint: Footprint) => {
        footprint.writes(nameOf(server));
        this.#empty(server);
      };
      return { name: `${nameOf(server)} has memory again`, take };
    });
  }

  end(): void {
    for (const server of this.#full) this.#empty(server);
  }

  #ofConnections(client: RedLockProcess, server: number): RedLockTrouble[] {
    const has = (kind: RedLockFault) => this.kinds.includes(kind);
    const network = client.networks[server]!;
    if (!network.links.some(({ isOpen }) => isOpen)) return [];
    const broken = (what: string, fate: 'processed' | 'lost'): RedLockTrouble => {
      const take = (footprint: Footprint) => {
        this.#trouble(server);
        this.#hit(client);
        footprint.writes(client.name);
        footprint.writes(wayOf(client, server));
        network.cut(() => fate);
      };
      return { name: `${client.name}: its connections to ${nameOf(server)} break${what}`, take };
    };
    return [
      ...(has('cut') ? [broken('', 'processed')] : []),
      ...(has('lose') ? [broken(', and what it has sent is lost', 'lost')] : []),
      ...(has('silence') ? [this.#silence(client, [server])] : []),
    ];
  }

  /** What was sent meanwhile arrives in the order of its time: late messages in any order are those of `cut`. */
  #silence(client: RedLockProcess, servers: readonly number[]): RedLockTrouble {
    const take = async () => {
      this.#hit(client);
      for (const server of servers) this.#trouble(server);
      const heals = servers.map((server) => client.networks[server]!.partition());
      await this.passing.outlive(() => heals.forEach((heal) => heal()));
    };
    const where = servers.length > 1 ? 'any server' : nameOf(servers[0]!);
    const name = `${client.name}: nothing arrives at or from ${where} until leases have ended`;
    return { name, isOfAll: true, take };
  }

  #freeze(client: RedLockProcess, first: 'timer' | 'message'): RedLockTrouble {
    const take = async () => {
      this.world.judge.isMajorityWell = false;
      this.#hit(client);
      client.process.freeze();
      await this.passing.outlive();
      client.process.thaw(first);
    };
    const name = `${client.name}: its process stands still until its leases have ended, and sees the ${first} first`;
    return { name, isOfAll: true, take };
  }

  #kill(client: RedLockProcess): RedLockTrouble {
    const take = (footprint: Footprint) => {
      this.world.judge.isMajorityWell = false;
      this.#hit(client);
      footprint.writes(client.name);
      client.networks.forEach((_, server) => footprint.writes(wayOf(client, server)));
      client.kill();
    };
    return { name: `${client.name}: its process dies`, take };
  }

  #restart(server: number): RedLockTrouble {
    const port = this.world.servers.ports[server]!;
    const take = (footprint: Footprint) => {
      this.#trouble(server);
      footprint.writes(nameOf(server));
      port.hangUpAll();
      port.server.restart(true);
    };
    return { name: `${nameOf(server)} restarts`, take };
  }

  /** Its counter of tokens is lost, too. */
  #forget(server: number): RedLockTrouble {
    const { judge, servers } = this.world;
    const port = servers.ports[server]!;
    const take = async () => {
      this.#trouble(server);
      port.isListening = false;
      port.hangUpAll();
      port.server.restart(false);
      servers.away.add(port);
      judge.lostData();
      judge.forgotToken();
      await this.passing.outlive();
      servers.away.delete(port);
      port.isListening = true;
    };
    const name = `${nameOf(server)} restarts with nothing, when all leases have ended`;
    return { name, isOfAll: true, take };
  }

  #fill(server: number): RedLockTrouble {
    const take = (footprint: Footprint) => {
      this.#trouble(server);
      footprint.writes(nameOf(server));
      this.#full.add(server);
      this.world.servers.ports[server]!.server.trouble = 'full';
    };
    return { name: `${nameOf(server)} has no memory left`, take };
  }

  #empty(server: number): void {
    this.#full.delete(server);
    this.world.servers.ports[server]!.server.trouble = 'none';
  }

  #delay(): RedLockTrouble {
    const take = () => {
      this.world.judge.isMajorityWell = false;
      return this.passing.untilTimer();
    };
    return { name: 'a timer comes before all messages', isOfAll: true, take };
  }

  #numberOf(client: RedLockProcess): number {
    return this.world.clients.indexOf(client);
  }

  #hit(client: RedLockProcess): void {
    this.likes.clients.begins(this.#numberOf(client));
    this.likes.servers.timePasses();
  }

  #trouble(server: number): void {
    const { judge, servers } = this.world;
    this.likes.servers.differs(server);
    this.#troubled.add(server);
    if (servers.ports.length - this.#troubled.size < servers.majority) judge.isMajorityWell = false;
  }
}

export const nameOf = (server: number): string => `server ${server + 1}`;

/** What a client has sent to a server, and that has not handled. */
export const wayOf = ({ name }: RedLockProcess, server: number): string =>
  `what ${name} has sent to ${nameOf(server)}`;
