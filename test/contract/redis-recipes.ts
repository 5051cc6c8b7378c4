import type { RedisRecipe } from './redis-recipe.js';

const client = 'contract';

/** The locks that there are on Redis. */
export const redisRecipes = {
  mutex: { client, mutex: (locks, key) => locks.mutex(key) },
  fenced: { client, mutex: (locks, key) => locks.mutex(key, { fenced: true }) },
  fair: { client, mutex: (locks, key) => locks.mutex(key, { fair: true }) },
  spin: { client, mutex: (locks, key) => locks.spinLock(key), isSpinning: true },
  semaphoreMutex: { client, mutex: (locks, key) => locks.semaphoreMutex(key) },
  multiLock: {
    mutex: (locks, key) => locks.multiLock([locks.mutex(`${key}.b`), locks.mutex(`${key}.a`)]),
    firstKey: (key) => `${key}.a`,
  },
  slotMultiLock: {
    mutex: (locks, key) => locks.multiLock([locks.mutex(`{${key}}.b`), locks.mutex(`{${key}}.a`)]),
    firstKey: (key) => `{${key}}.a`,
  },
  fencedMultiLock: {
    mutex: (locks, key) =>
      locks.multiLock(['b', 'a'].map((part) => locks.mutex(`${key}.${part}`, { fenced: true }))),
    firstKey: (key) => `${key}.a`,
  },
  writersFirst: { client, mutex: (locks, key) => locks.mutex(key), preferWriters: true },
} satisfies Record<string, RedisRecipe>;
