/**
 * The fencing token of a hold and of those inside of it: whoever asks for it first fetches it for all.
 *
 * A reader with a greater token than the writer it is inside of would have what is protected refuse that writer.
 */
export class SharedToken {
  #asking?: Promise<bigint>;

  /** @param value where it came with the grant */
  constructor(private value?: bigint) {}

  /** Where it came with the grant, or was asked for. */
  get known(): bigint | undefined {
    return this.value;
  }

  /** Resolves to the token; rejects as `ask` does, which the next one then tries with its own. */
  async get(ask: () => Promise<bigint>): Promise<bigint> {
    while (this.#asking !== undefined) await this.#asking.catch(() => {});
    if (this.value !== undefined) return this.value;
    this.#asking = ask();
    try {
      return (this.value = await this.#asking);
    } finally {
      this.#asking = undefined;
    }
  }
}
