/** A user of a shared value in a peer: a number, or bytes that are a word. It executes its commands one after the other. */
export class ValueActor {
  constructor(
    /** `count:/a` or `value:/a`. */
    private readonly specification: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  async start(seed: string): Promise<void> {
    await this.ask('start', seed);
  }

  /** The value seen last. */
  get(): Promise<string> {
    return this.ask('get');
  }

  async set(value: string): Promise<void> {
    await this.ask('set', value);
  }

  /** False when it was set elsewhere since it was seen last. */
  async trySet(value: string): Promise<boolean> {
    return (await this.ask('trySet', value)) === 'true';
  }

  /** What the listener has received. */
  async heard(): Promise<string[]> {
    return (await this.ask('heard')).split(' ').filter(Boolean);
  }

  private ask(command: string, ...words: string[]): Promise<string> {
    return this.tell(command, this.specification, ...words);
  }
}
