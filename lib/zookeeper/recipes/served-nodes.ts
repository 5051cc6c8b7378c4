/** Directories remembered; the one not served for longest is forgotten first. */
const CAPACITY = 1_000;

/**
 * Saves the listing for those who wait behind a node of the same client: for each directory, the last node of ours whose
 * turn it was.
 *
 * The argument: when it was its turn, nobody was ahead of it who could keep us waiting. All who are ahead of us were ahead
 * of it too, or are the node itself. So when it goes, it is our turn, provided that nobody can come in between (see
 * `LockInternalsDriver.isClosed`). Names are unique, so a directory that was made anew cannot mislead us.
 */
export class ServedNodes {
  readonly #names = new Map<string, string>();

  /** It is the turn of that node of ours. */
  note(directory: string, name: string): void {
    this.#names.delete(directory); // to the end
    this.#names.set(directory, name);
    if (this.#names.size <= CAPACITY) return;
    const [eldest] = this.#names.keys();
    this.#names.delete(eldest!);
  }

  /** Was it the turn of that node? False: not known. */
  has(directory: string, name: string): boolean {
    return this.#names.get(directory) === name;
  }
}
