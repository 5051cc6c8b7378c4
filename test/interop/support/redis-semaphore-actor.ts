/** How a {@link RedisSemaphoreActor} acquires. */
export interface RedisSemaphoreOptions {
  /** Default 1. */
  readonly permits?: number;
  /** In ms, or forever. Default forever. */
  readonly wait?: number | 'forever';
}

/** A user of a semaphore that has permits without owners. It executes its commands one after the other. */
export class RedisSemaphoreActor {
  constructor(
    private readonly name: string,
    private readonly tell: (...words: (string | number)[]) => Promise<string>,
  ) {}

  /** Whether it was granted within the wait. */
  async acquire({ permits = 1, wait = 'forever' }: RedisSemaphoreOptions = {}): Promise<boolean> {
    return (await this.ask('acquire', permits, wait === 'forever' ? -1 : wait)) === 'granted';
  }

  async release(permits = 1): Promise<void> {
    await this.ask('release', permits);
  }

  /** Whether the semaphore existed. */
  async releaseIfExists(permits = 1): Promise<boolean> {
    return (await this.ask('releaseIfExists', permits)) === 'true';
  }

  async availablePermits(): Promise<number> {
    return Number(await this.ask('available'));
  }

  /** Whether it did not exist before. */
  async trySetPermits(permits: number): Promise<boolean> {
    return (await this.ask('trySetPermits', permits)) === 'true';
  }

  async addPermits(permits: number): Promise<void> {
    await this.ask('addPermits', permits);
  }

  /** How many it acquired. */
  async drainPermits(): Promise<number> {
    return Number(await this.ask('drain'));
  }

  private ask(command: string, ...words: (string | number)[]): Promise<string> {
    return this.tell(command, `semaphore:${this.name}`, ...words);
  }
}
