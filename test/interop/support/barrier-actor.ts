/** A user of a barrier in a peer, or a member of a double barrier. It executes its commands one after the other. */
export class BarrierActor {
  constructor(
    /** `barrier:/a`, or `doubleBarrier#3#member:/a` for three. */
    private readonly specification: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  async set(): Promise<void> {
    await this.ask('set');
  }

  async remove(): Promise<void> {
    await this.ask('remove');
  }

  /** Whether it was open within that many ms. */
  async wait(wait = 20_000): Promise<boolean> {
    return (await this.ask('wait', wait)) === 'true';
  }

  /** Whether all had entered within that many ms. */
  async enter(wait = 20_000): Promise<boolean> {
    return (await this.ask('enter', wait)) === 'true';
  }

  /** Whether all had left within that many ms. */
  async leave(wait = 20_000): Promise<boolean> {
    return (await this.ask('leave', wait)) === 'true';
  }

  private ask(command: string, ...words: number[]): Promise<string> {
    return this.tell(command, this.specification, ...words);
  }
}
