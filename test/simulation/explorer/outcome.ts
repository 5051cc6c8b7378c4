import { withoutIds } from './story.js';

/** What the judge compares with the nodes on the server. */
const KINDS: ReadonlySet<string> = new Set(['granted', 'released', 'lost', 'lost on arrival']);

/** What the locks have done in a run, one after the other: the same in every order of independent steps. */
export class Outcome {
  readonly #lines: string[] = [];
  /** The requests by their ids, which depend on the order. */
  readonly #names = new Map<string, string>();
  readonly #requests = new Map<string, number>();

  /** Returns whether that belongs to it. */
  note(kind: string, details: string): boolean {
    const [, client, id] = /by (client \d+) as (\d+)$/.exec(details) ?? [];
    if (kind === 'asked') this.#asked(client!, id!);
    if (!KINDS.has(kind)) return false;
    const named = details.replace(/^(?:hold )?(\d+)/, (_, of: string) => this.#names.get(of)!);
    this.#lines.push(withoutIds(`${kind} ${named}`));
    return true;
  }

  toString(): string {
    return this.#lines.join('\n');
  }

  #asked(client: string, id: string): void {
    const count = (this.#requests.get(client) ?? 0) + 1;
    this.#requests.set(client, count);
    this.#names.set(id, `request ${count} of ${client}`);
  }
}
