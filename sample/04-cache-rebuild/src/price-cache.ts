import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { currentLease, ReadLock, WriteLock } from 'nestjs-interlock';

export const PRODUCTS = 50;

const KEYS = Array.from({ length: PRODUCTS }, (_, id) => `sample:price:${id}`);

/** The prices of all products, one key each, shared by all replicas. */
@Injectable()
export class PriceCache implements OnApplicationShutdown {
  private readonly redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost:6379');

  /** Empties the cache and fills it again. Whoever looks in between sees a part. */
  async rebuild(): Promise<void> {
    const lease = currentLease();
    await this.redis.del(KEYS);
    for (const key of KEYS) {
      const price = await loadPrice();
      lease?.assertHeld();
      await this.redis.set(key, price);
    }
  }

  /** The same, while nobody reads. */
  @WriteLock('prices')
  async rebuildAlone(): Promise<void> {
    await this.rebuild();
  }

  /** How many prices are there. */
  async read(): Promise<number> {
    const prices = await this.redis.mget(KEYS);
    return prices.filter((price) => price !== null).length;
  }

  /** The same, while nobody rebuilds. Readers do not wait for each other. */
  @ReadLock('prices')
  async readWhole(): Promise<number> {
    return this.read();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.redis.quit();
  }
}

/** As a query of the database takes. */
const loadPrice = () => pause(2, 100);
