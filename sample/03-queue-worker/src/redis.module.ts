import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';

export const REDIS_URL = process.env.REDIS_URL ?? 'redis://localhost:6379';

/** The app's own connection. The locks have another one, as they subscribe to messages. */
@Module({
  providers: [{ provide: Redis, useFactory: () => new Redis(REDIS_URL) }],
  exports: [Redis],
})
export class RedisModule implements OnApplicationShutdown {
  constructor(private readonly redis: Redis) {}

  async onApplicationShutdown(): Promise<void> {
    await this.redis.quit();
  }
}
