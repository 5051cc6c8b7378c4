/**
 * What one step has read and changed: clients (what they know, and their messages under way), nodes and lists of children on the
 * server, what the judge compares, and how many faults are left.
 */
export class Footprint {
  /** A step that depends on all others. */
  static readonly ofAll = new Footprint(true);

  readonly #read = new Set<string>();
  readonly #written = new Set<string>();

  constructor(private readonly isOfAll = false) {}

  reads(thing: string): void {
    this.#read.add(thing);
  }

  writes(thing: string): void {
    this.#written.add(thing);
  }

  /**
   * Whether two steps that are both possible lead to the same state in either order: neither changes what the other reads or changes.
   */
  isIndependentOf(other: Footprint): boolean {
    if (this.isOfAll || other.isOfAll) return false;
    return (
      areDisjoint(this.#written, other.#written) &&
      areDisjoint(this.#written, other.#read) &&
      areDisjoint(this.#read, other.#written)
    );
  }
}

/**
 * The way of that client to the server, as far as the client does not feel it: a new link that attaches to its session changes nothing
 * that its users see, until it is up.
 */
export const linkOf = (client: string): string => `the link of ${client}`;

function areDisjoint(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const one of some) if (others.has(one)) return false;
  return true;
}
