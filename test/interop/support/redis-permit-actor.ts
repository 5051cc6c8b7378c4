/** How a {@link RedisPermitActor} acquires. */
export interface RedisPermitOptions {
  /** Default 1. */
  readonly permits?: number;
  /** In ms, or forever. Default forever. */
  readonly wait?: number | 'forever';
  /** In ms. Default: until it is released; renewed meanwhile in Node, without expiry in Java. */
  readonly lease?: number;
}

/** A user of a semaphore that has permits with ids and leases. It executes its commands one after the other. */
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

  /** Releases the most recent acquire. */
  async release(): Promise<void> {
    await this.ask('release');
  }

  /** Releases these permits, whichever actor acquired them; whether all of them were held. */
  async releaseIds(ids: readonly string[]): Promise<boolean> {
    return (await this.ask('releaseIds', ...ids)) === 'true';
  }

  /** Whether it holds its most recent acquire, as far as it knows; Node only. */
  async isHeld(): Promise<boolean> {
    return (await this.ask('isHeld')) === 'true';
  }

  /** Available, acquired, and all of them. */
  async counts(): Promise<number[]> {
    const answers = ['available', 'acquired', 'permits'].map((which) => this.ask(which));
    return (await Promise.all(answers)).map(Number);
  }

  /** Whether it did not exist before. */
  async trySetPermits(permits: number): Promise<boolean> {
    return (await this.ask('trySetPermits', permits)) === 'true';
  }

  async setPermits(permits: number): Promise<void> {
    await this.ask('setPermits', permits);
  }

  async addPermits(permits: number): Promise<void> {
    await this.ask('addPermits', permits);
  }

  /** Remaining time of that permit, in ms; -1 when it does not expire. */
  async leaseTime(id: string): Promise<number> {
    return Number(await this.ask('leaseTime', id));
  }

  /** Whether that permit was held, so that it now has that many ms. */
  async updateLeaseTime(id: string, lease: number): Promise<boolean> {
    return (await this.ask('updateLeaseTime', id, lease)) === 'true';
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, `permits:${this.name}`, ...words);
  }
}
