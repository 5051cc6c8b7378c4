import type { Redis } from 'ioredis';

/** Calls the listener at each message to a subscriber that is made of that connection. */
export function onMessages(redis: Redis, listener: () => void): void {
  const { duplicate } = redis;
  redis.duplicate = (override) => {
    const subscriber = duplicate.call(redis, override);
    return subscriber.on('message', listener).on('smessage', listener);
  };
}
