/** How a {@link RedisPermitActor} acquires. */
export interface RedisPermitOptions {
  /** Default 1. */
  readonly permits?: number;
  /** In ms, or for ever. Default for ever. */
  readonly wait?: number | 'forever';
  /** In ms. Default: until it is released; renewed meanwhile in Node, without an end in Java. */
  readonly lease?: number;
}

/** One user of a semaphore whose permits have ids and leases. It does its commands one after the other. */
export class RedisPermitActor {
  constructor(
    private readonly name: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  /** Ids of the permits; `undefined` when it was not granted within the wait. */
  async acquire(options: RedisPermitOptions = {}): Promise<string[] | undefined> {
    const { permits = 1, wait = 'forever', lease = -1 } = options;
    const answer = await this.ask('acquire', permits, wait === 'forever' ? -1 : wait, lease);
    const [outcome, ...ids] = answer.split(' ');
    return outcome === 'granted' ? ids : undefined;
  }

  /** Gives back what it acquired last. */
  async release(): Promise<void> {
    await this.ask('release');
  }

  /** Gives these permits back, whoever acquired them; whether all of them were out. */
  async releaseIds(ids: readonly string[]): Promise<boolean> {
    return (await this.ask('releaseIds', ...ids)) === 'true';
  }

  /** Whether it holds what it acquired last, as far as it knows; Node only. */
  async isHeld(): Promise<boolean> {
    return (await this.ask('isHeld')) === 'true';
  }

  /** Available, acquired, and all of them. */
  async counts(): Promise<number[]> {
    const answers = ['available', 'acquired', 'permits'].map((which) => this.ask(which));
    return (await Promise.all(answers)).map(Number);
  }

  /** Whether it was not there before. */
  async trySetPermits(permits: number): Promise<boolean> {
    return (await this.ask('trySetPermits', permits)) === 'true';
  }

  async setPermits(permits: number): Promise<void> {
    await this.ask('setPermits', permits);
  }

  async addPermits(permits: number): Promise<void> {
    await this.ask('addPermits', permits);
  }

  /** What that permit has left, in ms; -1 when it does not end. */
  async leaseTime(id: string): Promise<number> {
    return Number(await this.ask('leaseTime', id));
  }

  /** Whether somebody had that permit, so that it has so many ms from now. */
  async updateLeaseTime(id: string, lease: number): Promise<boolean> {
    return (await this.ask('updateLeaseTime', id, lease)) === 'true';
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, `permits:${this.name}`, ...words);
  }
}
