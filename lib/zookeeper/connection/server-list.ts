import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import type { Clock } from '../../core/clock.js';
import { LockOptionsError } from '../../core/errors/index.js';
import { NotShown } from '../../core/errors/shown-value.js';
import { NameLookups } from './name-lookups.js';
import { isCanonicalPath } from './znode-path.js';

/** Address of a server. */
export interface ServerAddress {
  /** A host name, an IPv4 or an IPv6 address (without brackets). */
  readonly host: string;
  readonly port: number;
  /** The name that `host` is an address of, if one was given. */
  readonly name?: string;
}

const DEFAULT_PORT = 2181;
const SERVER = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[\p{L}\p{N}._-]+))(?::(?<port>\d{1,5}))?$/u;

/** The parts of a connect string. */
interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** Prefix of every path, without a trailing slash; empty if there is none. */
  readonly chroot: string;
}

/**
 * Parses `host:port,host:port/chroot`: names, IPv4, IPv6 in brackets; the port defaults to 2181.
 *
 * @throws LockOptionsError
 */
export function parseConnectString(connect: unknown, client?: string): ConnectString {
  const expected =
    "servers as 'host:port,host:port', with a chroot such as '/app' behind them if there is one";
  // It is not shown: in its place may be a URL of another service, or what belongs into `auth`.
  const shown = typeof connect === 'string' ? new NotShown(wrongText(connect)) : connect;
  const refuse = () => new LockOptionsError('connect', shown, expected, { client });
  if (typeof connect !== 'string') throw refuse();
  const slash = connect.indexOf('/');
  const chroot = slash < 0 ? '' : connect.slice(slash).replace(/^\/$/, '');
  const isPerServer = chroot.includes(','); // 'zk1/app,zk2/app': read as a path, this would name another directory
  if (chroot !== '' && (isPerServer || !isCanonicalPath(chroot))) throw refuse();
  const servers = (slash < 0 ? connect : connect.slice(0, slash)).split(',').map((text) => {
    const { ipv6, host, port = String(DEFAULT_PORT) } = SERVER.exec(text.trim())?.groups ?? {};
    const name = ipv6 ?? host;
    if (name === undefined || Number(port) < 1 || Number(port) > 65_535) throw refuse();
    if (ipv6 !== undefined && !isIPv6(ipv6)) throw refuse();
    return { host: name, port: Number(port) };
  });
  return { servers, chroot };
}

/** What a text is that is no connect string, without what is in it. */
function wrongText(connect: string): string {
  if (connect.trim() === '') return 'an empty text';
  if (connect.includes('://')) return 'a URL';
  return 'a text with something else in it than servers';
}

/** Supplies the addresses to connect to. */
export interface Servers {
  /** Number of attempts in a round: within the first round, no back-off is needed. */
  readonly size: number;
  /**
   * Resolves to the next address; rejects if a name cannot be resolved.
   *
   * @param within how long the caller waits for it, in ms. Default: without a bound.
   */
  next(within?: number): Promise<ServerAddress>;
}

/**
 * Age from which addresses of a name that were not tried yet are dropped, in ms: from one address to the next there are 6 s at most
 * where none of them answers, so whatever is older was left over when one did.
 */
const LEFT_OVER = 10_000;

const addressText = ({ host, port }: ServerAddress) => `${host.toLowerCase()}:${port}`;

/**
 * Cycles through a list of servers in random order, so that clients spread over the ensemble.
 *
 * Names are resolved here, again in every round and without blocking: the driver would do so on every socket event, and
 * synchronously. It only ever receives numeric addresses. A name with several addresses counts as several servers, until one of them
 * has answered: by the next time, all servers may have moved.
 *
 * Invariant: only the last call changes the round. The callers before it have given up, and so has its own after `within`: what comes
 * then is left to the next call.
 */
export class ServerList implements Servers {
  #round: ServerAddress[] = [];
  #lastOfRound?: ServerAddress;
  /** The address that was tried last. */
  #tried: ServerAddress | undefined;
  /** When the round was last changed. */
  #changedAt = -Infinity;
  /** Number of the last call. */
  #call = 0;
  readonly #names: NameLookups;

  constructor(
    private readonly servers: readonly ServerAddress[],
    private readonly random: () => number,
    private readonly clock: Clock,
    resolve: typeof lookup = lookup,
  ) {
    this.#names = new NameLookups(clock, resolve);
  }

  get size(): number {
    return this.servers.length;
  }

  /** Addresses of the servers: as they were given, those that the names have, and the one that was tried last. */
  get known(): string[] {
    const addresses = this.servers.flatMap((server) => [server, ...this.#addressesOf(server)]);
    if (this.#tried) addresses.push(this.#tried);
    return [...new Set(addresses.map(addressText))];
  }

  async next(within = Infinity): Promise<ServerAddress> {
    const call = ++this.#call;
    const begun = this.clock.now();
    if (begun - this.#changedAt > LEFT_OVER)
      this.#round = this.#round.filter(({ name }) => name === undefined);
    if (this.#round.length === 0) this.#round = this.#shuffled();
    const asked = this.#round.shift()!;
    if (isIP(asked.host)) return this.#try(asked);
    const { name, addresses } = await this.#names.find(asked.host, within);
    const found = name === asked.host ? asked : this.servers.find(({ host }) => host === name)!;
    const [first, ...others] = this.#ordered(addresses).map(({ address }) => ({
      host: address,
      port: found.port,
      name,
    }));
    if (call !== this.#call) return first!;
    if (found !== asked) this.#round = [asked, ...this.#round.filter((each) => each !== found)];
    const isInTime = this.clock.now() < begun + within;
    this.#round.unshift(...(isInTime ? others : [first!, ...others]));
    return this.#try(first!);
  }

  #try(address: ServerAddress): ServerAddress {
    this.#changedAt = this.clock.now();
    this.#tried = address;
    return address;
  }

  #addressesOf({ host: name, port }: ServerAddress): ServerAddress[] {
    return this.#names.known(name).map(({ address }) => ({ host: address, port, name }));
  }

  #shuffled(): ServerAddress[] {
    const round = inRandomOrder(this.servers, this.random);
    // This may be the server that was just lost: all others are tried before it.
    if (round[0] === this.#lastOfRound) round.push(round.shift()!);
    this.#lastOfRound = round.at(-1);
    return round;
  }

  /**
   * At random, but those first that are of the family which the name service put first: it knows which one works here. Of each family,
   * the address last that was tried last: it may be that of the server that was just lost.
   */
  #ordered(addresses: readonly LookupAddress[]): LookupAddress[] {
    const rank = ({ address, family }: LookupAddress) =>
      (family === addresses[0]!.family ? 0 : 2) + (address === this.#tried?.host ? 1 : 0);
    return inRandomOrder(addresses, this.random).sort((a, b) => rank(a) - rank(b));
  }
}

function inRandomOrder<T>(items: readonly T[], random: () => number): T[] {
  const ranked = items.map((item) => ({ item, rank: random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}
