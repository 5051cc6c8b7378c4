import { Story } from '../../explorer/story.js';
import type { RedisWorld } from './redis-world.js';

/** Something that happens by itself, and not because of something else. */
export interface Happening {
  readonly what: string;
  /** In ms. */
  readonly at: number;
}

/** One time that a user comes. */
export interface Visit {
  readonly name: string;
  /** When it begins; if it is not known, after a pause. */
  readonly at?: number;
}

/** What happens in a schedule: visits of users, accidents, and cuts at single commands. All that is random, or a part of it. */
export class Plan {
  /** What has happened. */
  readonly happened: Happening[] = [];
  /** What happened, and what came of it. */
  story?: Story;
  readonly #cuts: Happening[];

  /** @param kept all that is to happen again; by default it is random what happens */
  constructor(private readonly kept?: readonly Happening[]) {
    this.#cuts = kept?.filter(({ what }) => what.startsWith('cut ')) ?? [];
  }

  happens(what: string, at: number): void {
    this.happened.push({ what, at });
    this.story?.step(what);
  }

  /** Keeps the story of what happens from now on. */
  follow({ clock, history }: Pick<RedisWorld, 'clock' | 'history'>): void {
    const story = (this.story = new Story(() => clock.now()));
    const note = history.note.bind(history);
    history.note = (kind, details = '') => {
      story.news(`${kind} ${details}`);
      note(kind, details);
    };
  }

  has(what: string): boolean {
    return this.kept?.some((one) => one.what === what) ?? true;
  }

  /** The visits of a user, one after the other. */
  *visitsOf(user: string): Iterable<Visit> {
    if (this.kept === undefined)
      for (let number = 1; ; number++) yield { name: `${user} comes, ${number}` };
    for (const { what, at } of this.kept)
      if (what.startsWith(`${user} comes, `)) yield { name: what, at };
  }

  /** Name of a cut at the command that the client sends; `undefined`: there is none. */
  cutAt(client: string, command: string, now: number, isCut: () => boolean): string | undefined {
    const end = ` of ${client} at ${command}`;
    if (this.kept === undefined) {
      const number = this.happened.filter(({ what }) => what.startsWith('cut ')).length + 1;
      return isCut() ? `cut ${number}${end}` : undefined;
    }
    const index = this.#cuts.findIndex(({ what, at }) => at <= now && what.endsWith(end));
    return index < 0 ? undefined : this.#cuts.splice(index, 1)[0]!.what;
  }
}
