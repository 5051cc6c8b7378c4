import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import { about, type RandomOperands } from './random-operands.js';

/** Calls of the scripts of mutexes, fair ones too, and of what is common to all locks. */
export const lockCalls = (draw: RandomOperands) => ({
  fairLockAcquire: () => {
    const { name, holder, lease } = draw.some('fair');
    const keys = [name.redisKey, name.queue, name.timeouts, name.alive];
    const args = [lease, holder, about(), draw.lease(), draw.lease(), draw.flag()];
    return {
      keys: draw.chance(0.5) ? [...keys, name.token] : keys,
      args: [...args, draw.publish(), name.channel, name.gone(holder)],
    };
  },
  fairLockRelease: () => {
    const { name, holder } = draw.some('fair');
    const keys = [name.redisKey, name.queue, name.timeouts, name.alive];
    const tombstone = draw.tombstone(name, holder);
    return { keys, args: [holder, draw.publish(), name.channel, draw.lease(), tombstone] };
  },
  lockAcquire: () => {
    const { name, holder, lease } = draw.some('lock');
    const names = draw.chance(0.3) ? ['lock', 'lock 2'].map((it) => new LockName(it)) : [name];
    const keys = names.map(({ redisKey }) => redisKey);
    const isFenced = names.length === 1 && draw.chance(0.5);
    const terms = [lease, holder, about(), names.length, ...names.map((it) => it.gone(holder))];
    const waiters = names.map((it) => it.waiters);
    const waits = draw.chance(0.6) ? [draw.integer(0, 9), draw.lease(), ...waiters] : [];
    const before = draw.integer(1, names.length);
    const other = [before, draw.publish(), names[before - 1]!.channel];
    const moves = waits.length > 0 && names.length > 1 && draw.chance(0.7);
    return {
      keys: isFenced ? [...keys, name.token] : keys,
      args: [...terms, ...waits, ...(moves ? other : [])],
    };
  },
  lockBury: () => {
    const { name, holder } = draw.some('lock');
    return { keys: [name.redisKey], args: [draw.tombstone(name, holder)] };
  },
  lockForceUnlock: () => {
    const { name } = draw.some('lock', 'fair');
    return {
      keys: [name.redisKey, name.queue, name.requests('c1')],
      args: [...draw.terms(), draw.publish(), name.channel, draw.waiters(name)],
    };
  },
  lockRelease: () => {
    const { name, holder } = draw.some('lock');
    const names = draw.chance(0.3) ? ['lock', 'lock 2'].map((it) => new LockName(it)) : [name];
    const each = names.flatMap((it) => [it.channel, draw.tombstone(it, holder), draw.waiters(it)]);
    return { keys: names.map((it) => it.redisKey), args: [holder, draw.publish(), ...each] };
  },
  lockRenew: () => {
    const all = Array.from({ length: draw.integer(1, 3) }, () => draw.renewed());
    return { keys: all.flatMap(({ keys }) => keys), args: all.flatMap(({ args }) => args) };
  },
  lockToken: () => {
    const { name, holder } = draw.some('lock', 'fair');
    return { keys: [name.redisKey, name.token], args: [holder] };
  },
  lockWanted: () => {
    const { name } = draw.some('lock', 'fair');
    const count = draw.publish() === 'publish' ? 'numsub' : 'shardnumsub';
    return {
      keys: [name.redisKey],
      args: [draw.waiters(name), count, name.channel, name.handingOn],
    };
  },
  lockView: () => {
    const { name } = draw.some('lock', 'fair', 'read/write', 'permits');
    return {
      keys: [name.redisKey, name.queue, name.permitQueue],
      args: [draw.integer(0, 4), 3],
    };
  },
  occurrenceRaise: () => {
    const { name } = draw.some('job');
    const occurrence = Date.now() + draw.pick([-5_000, -1_000, 0, 1_000, 90_000]);
    const request = draw.pick(['', 'q1', 'q2', 'q3']);
    return { keys: [name.occurrence], args: [occurrence, request, 60_000, draw.lease()] };
  },
  tokenRaise: () => {
    const { name, holder } = draw.some('lock', 'fair');
    return { keys: [name.redisKey, name.token], args: [holder, draw.integer(0, 9)] };
  },
});
