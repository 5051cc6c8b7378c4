import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { LockOptionsError } from '../../core/errors/index.js';
import { NotShown } from '../../core/errors/shown-value.js';
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
  /** Resolves to the next address; rejects if a name cannot be resolved. */
  next(): Promise<ServerAddress>;
}

const addressText = ({ host, port }: ServerAddress) => `${host.toLowerCase()}:${port}`;

/**
 * Cycles through a list of servers in random order, so that clients spread over the ensemble.
 *
 * Names are resolved here, again in every round and without blocking: the driver would do so on every socket event, and
 * synchronously. It only ever receives numeric addresses. A name with several addresses counts as several servers.
 */
export class ServerList implements Servers {
  #round: ServerAddress[] = [];
  #lastOfRound?: ServerAddress;
  /** Everything that was connected to, and the names of it. */
  readonly #known = new Set<string>();
  /** Pending look-ups by host. A look-up that hangs is not repeated, because it would use up all threads. */
  readonly #asked = new Map<string, Promise<LookupAddress[]>>();

  constructor(
    private readonly servers: readonly ServerAddress[],
    private readonly random: () => number,
    private readonly resolve: typeof lookup = lookup,
  ) {}

  get size(): number {
    return this.servers.length;
  }

  /** Addresses of the servers: as they were given, and as far as the names were resolved. */
  get known(): string[] {
    const given = this.servers.map(addressText);
    return [...new Set([...given, ...this.#known])];
  }

  async next(): Promise<ServerAddress> {
    if (this.#round.length === 0) this.#round = this.#shuffled();
    const server = this.#round.shift()!;
    if (isIP(server.host)) return server;
    const [first, ...others] = (await this.#lookup(server.host)).map(({ address }) => ({
      host: address,
      port: server.port,
      name: server.host,
    }));
    for (const each of [first!, ...others]) this.#known.add(addressText(each));
    this.#round.unshift(...others);
    return first!;
  }

  #lookup(host: string): Promise<LookupAddress[]> {
    const asked = this.#asked.get(host);
    if (asked) return asked;
    const answer = this.resolve(host, { all: true }).finally(() => this.#asked.delete(host));
    this.#asked.set(host, answer);
    return answer;
  }

  #shuffled(): ServerAddress[] {
    const ranked = this.servers.map((server) => ({ server, rank: this.random() }));
    const round = ranked.sort((a, b) => a.rank - b.rank).map(({ server }) => server);
    // This may be the server that was just lost: all others are tried before it.
    if (round[0] === this.#lastOfRound) round.push(round.shift()!);
    this.#lastOfRound = round.at(-1);
    return round;
  }
}
