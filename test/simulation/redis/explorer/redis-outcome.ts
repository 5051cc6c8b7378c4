/** What the judge compares with the server. */
const KINDS: ReadonlySet<string> = new Set(['granted', 'released', 'lost', 'lost on arrival']);
/** What says which request it is about. */
const OF_REQUEST = /^(?:hold )?(\d+)/;

/** What the locks have done in a run, one after the other: the same in every order of independent steps. */
export class RedisOutcome {
  readonly lines: string[] = [];
  /** The requests by their ids, which depend on the order. */
  readonly #names = new Map<string, string>();
  readonly #requests = new Map<string, number>();
  /** What each client has seen. */
  readonly #views = new Map<string, string[]>();

  /** Returns whether that belongs to it. */
  note(kind: string, details: string): boolean {
    if (kind === 'asked' || kind === 'tried') this.#asked(details);
    const id = OF_REQUEST.exec(details)?.[1];
    const name = id === undefined ? undefined : this.#names.get(id);
    const client = /client \d+/.exec(name ?? details)?.[0];
    if (client) this.#saw(client, `${kind} ${name ?? ''}`);
    if (name === undefined || !KINDS.has(kind)) return false;
    this.lines.push(`${kind} ${name}`);
    return true;
  }

  /** What each client has seen. */
  get views(): string[] {
    return [...this.#views].map(([client, seen]) => `${seen.join(', ')}: ${client}`).sort();
  }

  #saw(client: string, what: string): void {
    this.#views.set(client, [...(this.#views.get(client) ?? []), what]);
  }

  #asked(details: string): void {
    const [, id, client] = /^(\d+): .* by (client \d+)$/.exec(details)!;
    const count = (this.#requests.get(client!) ?? 0) + 1;
    this.#requests.set(client!, count);
    this.#names.set(id!, `request ${count} of ${client}`);
  }
}
