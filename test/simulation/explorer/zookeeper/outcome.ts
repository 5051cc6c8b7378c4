import { withoutIds } from '../story.js';

/** What the judge compares with the nodes on the server. */
const KINDS: ReadonlySet<string> = new Set([
  'granted',
  'leads',
  'released',
  'lost',
  'lost on arrival',
  'number changed',
  'begun',
  'leaves',
  'ended',
  'set',
  'removed',
  'passed',
]);
/** What a client is notified of, beside what becomes of its requests. */
const STATES: ReadonlySet<string> = new Set(['SUSPENDED', 'RECONNECTED', 'CONNECTED', 'LOST']);

/** What the locks have done in a run, one after the other: the same in every order of independent steps. */
export class Outcome {
  readonly lines: string[] = [];
  /** The requests by their ids, which depend on the order. */
  readonly #names = new Map<string, string>();
  readonly #requests = new Map<string, number>();
  /** What each client has seen. */
  readonly #views = new Map<string, string[]>();

  /** Returns whether that belongs to it. */
  note(kind: string, all: string): boolean {
    const [details, hold] = all.split(/ as hold (\d+)/, 2) as [string, string?];
    if (hold) this.#names.set(hold, details);
    const [, client, id] = /by (client \d+) as (\d+)$/.exec(details) ?? [];
    if (id) this.#asked(client!, id);
    if (STATES.has(kind)) this.#saw(details, kind);
    const named = details.replace(/^(?:hold )?(\d+)/, (_, of: string) => this.#names.get(of)!);
    const [request, owner] = /^request \d+ of (client \d+)/.exec(named) ?? [];
    if (owner) this.#saw(owner, `${kind} ${request!.replace(/ of .*/, '')}`);
    if (!KINDS.has(kind)) return false;
    this.lines.push(withoutIds(`${kind} ${named}`));
    return true;
  }

  /** What each client has seen until its last request was over. */
  get views(): string[] {
    const views = [...this.#views].map(([client, seen]) => {
      const last = seen.findLastIndex((one) => !STATES.has(one));
      return `${seen.slice(0, last + 1).join(', ')}: ${client}`;
    });
    return views.sort();
  }

  #saw(client: string, what: string): void {
    this.#views.set(client, [...(this.#views.get(client) ?? []), what]);
  }

  #asked(client: string, id: string): void {
    const count = (this.#requests.get(client) ?? 0) + 1;
    this.#requests.set(client, count);
    this.#names.set(id, `request ${count} of ${client}`);
  }
}
