import * as scripts from '../../../lib/redis/scripts/index.js';
import { type RespFrame } from '../../support/redis-proxy.js';

/** How a command arrived at the server. */
export type Arrival = 'at once' | 'late' | 'again';

/** A command on its way through the proxy. */
export interface LoggedCommand {
  readonly command: readonly string[];
  /** Number of the connection. */
  readonly connection: number;
  readonly client: string;
  readonly server: number;
  readonly sentAt: number;
  arrival?: Arrival;
  arrivedAt?: number;
  reply?: string;
  repliedAt?: number;
  /** When its client received the answer. */
  toldAt?: number;
  /** True if the server was no primary when it answered. */
  isStale?: boolean;
}

const KEPT = 40_000;
const LONGEST_TEXT = 160;

/** Name of each script, by its digest and by its source. */
const NAMES = new Map(
  Object.values(scripts).flatMap(({ sha1, source, name }) => [
    [sha1, name],
    [source, name],
  ]),
);

/** The last commands that went through a proxy, for the story of a finding. */
export class CommandLog {
  #entries: LoggedCommand[] = [];

  add(entry: LoggedCommand): LoggedCommand {
    this.#entries.push(entry);
    if (this.#entries.length > 2 * KEPT) this.#entries = this.#entries.slice(-KEPT);
    return entry;
  }

  /** Whether a command about the key was answered since then by a server that was not the primary, or no longer. */
  isStale(key: string, since: number): boolean {
    return this.#about(key).some(
      ({ isStale, repliedAt = Infinity }) => isStale === true && repliedAt >= since,
    );
  }

  /**
   * The last commands about a key, in the order in which they arrived at a server.
   *
   * @param holders commands that concern them are marked
   * @param zero the time at which the storm began
   */
  story(key: string, zero: number, holders: readonly string[] = [], most = 60): string[] {
    const about = this.#about(key).filter(({ arrivedAt }) => arrivedAt !== undefined);
    about.sort((a, b) => a.arrivedAt! - b.arrivedAt!);
    const meant = about.filter((entry) => holders.some((holder) => mentions(entry, holder)));
    const shown = new Set([...about.slice(-most), ...meant.slice(-most)]);
    return about.filter((entry) => shown.has(entry)).map((entry) => this.#line(entry, zero, meant));
  }

  /** When a server first received the tombstone of a holder whose lease ran out; `Infinity` if it has not. */
  buriedAt(holder: string): number {
    const isBurial = (entry: LoggedCommand) =>
      NAMES.get(entry.command[1]!) === 'lock-bury' && mentions(entry, holder);
    const arrivals = this.#entries.filter(isBurial).map(({ arrivedAt = Infinity }) => arrivedAt);
    return Math.min(Infinity, ...arrivals);
  }

  /** The commands about a key that arrived at a server more than once, which may have counted twice. */
  copies(key: string, zero: number, most = 60): string[] {
    const same = new Map<string, LoggedCommand[]>();
    for (const entry of this.#about(key)) {
      if (entry.arrivedAt === undefined) continue;
      const text = entry.command.slice(1).join(' '); // EVAL and EVALSHA are the same
      same.set(text, [...(same.get(text) ?? []), entry]);
    }
    const copied = [...same.values()].filter(({ length }) => length > 1).flat();
    return copied.slice(-most).map((entry) => this.#line(entry, zero, []));
  }

  #about(key: string): LoggedCommand[] {
    return this.#entries.filter((entry) => mentions(entry, key));
  }

  #line(entry: LoggedCommand, zero: number, meant: readonly LoggedCommand[]): string {
    const { client, connection, server, arrival, sentAt, arrivedAt, reply, repliedAt } = entry;
    const at = (time: number | undefined) =>
      time === undefined ? 'never' : `${Math.round(time - zero)}`;
    return [
      meant.includes(entry) ? '>' : ' ',
      `${at(arrivedAt)}`.padStart(7),
      `${client}#${connection} -> server ${server}`,
      arrival === 'at once' && arrivedAt! - sentAt < 5 ? '' : `${arrival}, sent at ${at(sentAt)};`,
      this.#text(entry.command),
      `=> ${reply ?? 'no answer'} at ${at(repliedAt)}${entry.isStale ? ' (no primary)' : ''}`,
    ].join(' ');
  }

  #text([name = '', ...args]: readonly string[]): string {
    const script = name.toLowerCase().startsWith('eval') ? NAMES.get(args[0]!) : undefined;
    const shown = script === undefined ? [name, ...args] : [script, ...args.slice(1)];
    return shown.map(printable).join(' ').slice(0, LONGEST_TEXT);
  }
}

/** A reply in short form. */
export function replyText({ type, value }: RespFrame): string {
  const text = type === '-' ? `-${String(value)}` : JSON.stringify(value);
  return printable(text).slice(0, LONGEST_TEXT);
}

function mentions({ command }: LoggedCommand, text: string): boolean {
  return command.some((argument, n) => n > 1 && argument.includes(text));
}

// Fields of permits are bytes.
// eslint-disable-next-line no-control-regex
const printable = (text: string) => text.replace(/[\x00-\x1f\x7f-\uffff]+/g, '~');

/** One broken promise. */
export interface Finding {
  /** In ms since the storm began. */
  readonly at: number;
  /** The kind of promise: findings of one kind usually have one cause. */
  readonly kind: string;
  readonly text: string;
  /** The events that led to it, line by line. */
  readonly story: readonly string[];
}

/** Stories are long, and after the first few of a kind there is nothing new in them. */
const STORIES_OF_A_KIND = 3;

/** What the judges of a storm have found. */
export class Findings {
  readonly all: Finding[] = [];
  readonly #startedAt = performance.now();

  get count(): number {
    return this.all.length;
  }

  /** Milliseconds since the storm began. */
  get now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  add(kind: string, text: string, story: () => readonly string[] = () => []): void {
    const isTold = this.all.filter((finding) => finding.kind === kind).length < STORIES_OF_A_KIND;
    this.all.push({ at: this.now, kind, text, story: isTold ? story() : [] });
  }

  /** Number of findings of each kind. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { kind } of this.all) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }
}
