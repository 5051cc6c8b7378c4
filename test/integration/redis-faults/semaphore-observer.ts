import type { Redis } from 'ioredis';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { permitsOf } from './semaphore-permits-of.js';

/** Looks at a semaphore from outside, and notices when more permits are valid than are allowed, or some are gone. */
export class SemaphoreObserver {
  /** What was noticed, in words. */
  readonly faults: string[] = [];
  /** How often it has looked at the server. */
  looks = 0;
  readonly #inside = new Set<RedisLease>();
  /** As many as there are, or as were held when there were more. */
  #allowed: number;

  constructor(
    private readonly redis: Redis,
    private readonly semaphore: RedisPermitExpirableSemaphore,
    private permits: number,
  ) {
    this.#allowed = permits;
  }

  enter(lease: RedisLease): void {
    this.#inside.add(lease);
    this.#count();
  }

  /** To be called just before it is released. */
  leave(lease: RedisLease): void {
    this.#count();
    this.#inside.delete(lease);
  }

  /** Sets how many there are. */
  async resize(permits: number): Promise<void> {
    this.#allowed = Math.max(this.#allowed, permits); // some may be taken before the answer comes
    await this.semaphore.setPermits(permits);
    this.permits = permits;
  }

  /** Looks at the server; the semaphore must not be resized meanwhile. */
  async look(): Promise<void> {
    const { free, taken } = await permitsOf(this.redis, this.semaphore.key);
    this.looks += 1;
    if (free + taken !== this.permits)
      this.faults.push(`${free} free and ${taken} taken of ${this.permits}`);
    if (taken > this.#allowed) this.faults.push(`${taken} taken of ${this.#allowed}`);
    if (taken <= this.permits) this.#allowed = this.permits;
  }

  #count(): void {
    const valid = [...this.#inside].filter((lease) => lease.isHeld);
    const permits = valid.reduce((sum, lease) => sum + lease.permitIds.length, 0);
    if (permits > this.#allowed) this.faults.push(`${permits} valid of ${this.#allowed}`);
  }
}
