import { about, HOLDERS, type RandomOperands } from './random-operands.js';

/** Calls of the scripts of read/write locks. */
export const readWriteCalls = (draw: RandomOperands) => ({
  readLockAcquire: () => {
    const { name, holder, lease } = draw.some('read/write');
    const inside = draw.chance(0.3) ? `${draw.pick(HOLDERS)}:write` : '';
    return {
      keys: [name.redisKey, name.hold(holder), name.writers, name.readers],
      args: [lease, holder, about(), inside, draw.flag(), name.gone(holder)],
    };
  },
  readLockRelease: () => {
    const { name, holder } = draw.some('read/write');
    const tombstone = draw.tombstone(name, holder);
    return {
      keys: [name.redisKey, name.hold(holder), name.readers],
      args: [
        ...[holder, draw.publish(), name.tagged, name.readWriteChannel, tombstone],
        draw.waiters(name),
      ],
    };
  },
  readWriteForceUnlock: () => {
    const { name } = draw.some('read/write');
    const { redisKey, readers, readWriteChannel } = name;
    const mode = draw.pick(['read', 'write']);
    return {
      keys: [redisKey, readers, name.requests('c1')],
      args: [...draw.terms(), draw.publish(), readWriteChannel, mode, draw.waiters(name)],
    };
  },
  writeLockAcquire: () => {
    const { name, holder, lease } = draw.some('read/write');
    const field = `${holder}:write`;
    return {
      keys: [name.redisKey, name.hold(field), name.writers],
      args: [
        ...[lease, field, about(), draw.lease(), draw.flag(), name.gone(field)],
        ...(draw.chance(0.6) ? [draw.integer(0, 9), draw.lease(), name.waiters] : []),
      ],
    };
  },
  writeLockRelease: () => {
    const { name, holder } = draw.some('read/write');
    const field = `${holder}:write`;
    const tombstone = draw.tombstone(name, field);
    return {
      keys: [name.redisKey, name.hold(field), name.writers, name.readers],
      args: [
        ...[field, draw.publish(), name.tagged, name.readWriteChannel, tombstone],
        draw.waiters(name),
      ],
    };
  },
});
