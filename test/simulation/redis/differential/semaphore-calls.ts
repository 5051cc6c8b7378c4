import { PERMIT_HOLDERS, type RandomOperands, textOf } from './random-operands.js';

/** Calls of the scripts of semaphores, with and without ids of permits, and of latches. */
export const semaphoreCalls = (draw: RandomOperands) => ({
  permitAcquire: () => {
    const { name, lease } = draw.some('permits');
    const { redisKey, permitTimeouts, wantedPermits, permitQueue, alive } = name;
    const holder = draw.pick(PERMIT_HOLDERS);
    const wanted = draw.pick(['', '2', '3', '3']);
    const [waits, isFair, timeToLive] = [draw.flag(), draw.flag(), draw.flag()];
    return {
      keys: [redisKey, permitTimeouts, wantedPermits, permitQueue, alive],
      args: [
        ...[lease, holder, textOf(holder), wanted, draw.publish(), waits, isFair],
        ...[draw.lease(), name.semaphoreChannel, name.gone(textOf(holder)), timeToLive],
        ...[draw.waiters(name), draw.integer(0, 9)],
      ],
    };
  },
  permitCount: () => {
    const { redisKey, permitTimeouts, wantedPermits } = draw.some('permits').name;
    const wanted = draw.pick(['', '2', '3']);
    return { keys: [redisKey, permitTimeouts, wantedPermits], args: [wanted] };
  },
  permitHolders: () => ({ keys: [draw.some('permits').name.permitTimeouts], args: [5] }),
  permitLease: () => ({
    keys: [draw.some('permits').name.permitTimeouts],
    args: [draw.permit()],
  }),
  permitRelease: () => {
    const { name } = draw.some('permits');
    const { redisKey, permitTimeouts, permitQueue, alive, wantedPermits } = name;
    const holder = draw.pick(PERMIT_HOLDERS);
    const text = textOf(holder);
    return {
      keys: [redisKey, permitTimeouts, permitQueue, alive, name.extended(text), wantedPermits],
      args: [
        ...[holder, text, draw.publish(), name.semaphoreChannel],
        ...[draw.tombstone(name, text), draw.pick(['', '50', '30000']), draw.waiters(name)],
      ],
    };
  },
  permitReleaseIds: () => {
    const { name } = draw.some('permits');
    const { redisKey, permitTimeouts, permitQueue, wantedPermits } = name;
    const ids = Array.from({ length: draw.integer(1, 2) }, () => draw.permit());
    const timeToLive = draw.pick(['', '50', '30000']);
    return {
      keys: [redisKey, permitTimeouts, permitQueue, wantedPermits, name.requests('c1')],
      args: [
        ...[...draw.terms(), draw.publish(), name.semaphoreChannel, timeToLive],
        ...[draw.waiters(name), ...ids],
      ],
    };
  },
  permitResize: () => {
    const { name } = draw.some('permits');
    const { redisKey, permitTimeouts, permitQueue } = name;
    const mode = draw.pick(['try', 'set', 'add']);
    return {
      keys: [redisKey, permitTimeouts, permitQueue, name.requests('c1')],
      args: [
        ...[...draw.terms(), draw.publish(), name.semaphoreChannel, draw.waiters(name)],
        ...[mode, draw.integer(-2, 4)],
      ],
    };
  },
  permitSetLease: () => {
    const { name } = draw.some('permits');
    const args = [...draw.terms(), draw.permit(), draw.lease()];
    return { keys: [name.permitTimeouts, name.requests('c1')], args };
  },
  permitToken: () => {
    const { permitTimeouts, token } = draw.some('permits').name;
    return { keys: [permitTimeouts, token], args: [draw.permit()] };
  },
  latchAwait: () => ({ keys: [draw.some('latch').name.redisKey], args: [] }),
  latchCountDown: () => draw.request('latch', []),
  latchDelete: () => draw.request('latch', []),
  latchSet: () => draw.request('latch', [draw.integer(1, 3)]),
  semaphoreAcquire: () => {
    const { name } = draw.some('semaphore');
    const args = [...draw.terms(), draw.integer(1, 3)];
    return { keys: [name.redisKey, name.requests('c1')], args };
  },
  semaphoreChange: () => {
    const mode = draw.pick(['release', 'add', 'release-if-exists', 'try', 'drain']);
    const life = draw.chance(0.3) ? [draw.lease()] : [];
    return draw.request('semaphore', [mode, draw.integer(-1, 3), ...life]);
  },
  semaphoreCount: () => ({ keys: [draw.some('semaphore').name.redisKey], args: [] }),
  semaphoreUndo: () => draw.request('semaphore', []),
});
