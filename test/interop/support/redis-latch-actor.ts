/** A user of a count-down latch. It executes its commands one after the other. */
export class RedisLatchActor {
  constructor(
    private readonly name: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  /** Whether it was open, and is closed now. */
  async trySetCount(count: number): Promise<boolean> {
    return (await this.ask('trySetCount', count)) === 'true';
  }

  async countDown(): Promise<void> {
    await this.ask('countDown');
  }

  async count(): Promise<number> {
    return Number(await this.ask('count'));
  }

  /** Whether it opened within that many ms; default: it waits forever. */
  async await(wait = -1): Promise<boolean> {
    return (await this.ask('await', wait)) === 'open';
  }

  /** Whether it was closed. */
  async delete(): Promise<boolean> {
    return (await this.ask('delete')) === 'true';
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, `latch:${this.name}`, ...words);
  }
}
