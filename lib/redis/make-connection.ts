import { systemClock } from '../core/clock.js';
import { LockConnectionError, LockError, LockTimeoutError } from '../core/errors/index.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { WaitScope } from '../core/internal/wait-scope.js';
import { isRefusedLogin, reasonOf, replyText } from './connection/redis-error.js';
import { RedisConnection } from './connection/redis-connection.js';
import { makeClient } from './make-client.js';
import type { RecipeContext, RedisLockClientSettings } from './recipe-context.js';
import type { RedisLockOptions } from './redis-options.js';

/**
 * Creates the connection that the options describe, not connected yet.
 *
 * Rejects as `makeClient` does.
 *
 * @param events emits its state changes
 */
export async function makeConnection(
  name: string,
  options: RedisLockOptions,
  events: LockEventEmitter,
): Promise<RedisConnection> {
  const { shardedSubscriptionMode = 'auto' } = options;
  return new RedisConnection({
    client: await makeClient(name, options),
    shardedSubscriptionMode,
    clock: systemClock,
    onStateChange: (state, reason) => events.emit('connection', { state, reason }),
  });
}

/** From this `connectTimeout` on, in ms, there is no bound on the connecting. */
export const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** Connects a client within its `connectTimeout`, or closes the connection; starts its renewal worker. */
export async function connectToRedis(
  { events }: Pick<RedisLockClientSettings, 'events'>,
  { client, clock, connection, connectTimeout, waits, renewalWorker }: RecipeContext,
): Promise<void> {
  // One of several servers is tried without an end, and a timer for that would keep the process alive.
  const bound = connectTimeout < LONGEST_TIMEOUT ? connectTimeout : 'forever';
  const wait = new WaitScope({ client, clock, open: waits }, { wait: bound });
  let lastReason = 'no server has answered';
  const stop = events.on('connection', ({ state, reason }) => {
    if (state !== 'CONNECTED' && state !== 'RECONNECTED') lastReason = reason;
  });
  try {
    await connection.connect(wait, client);
  } catch (cause) {
    stop(); // the close that follows is not the reason of the failure
    if (connection.isReady && connection.trouble) lastReason = replyText(connection.trouble);
    connection.close();
    if (cause instanceof LockError && !(cause instanceof LockTimeoutError)) throw cause;
    const isLate = cause instanceof LockTimeoutError;
    const why = isLate ? lastReason : reasonOf(cause);
    const within = isLate ? ` within ${connectTimeout} ms` : '';
    const advice = isRefusedLogin(why)
      ? 'Check the user and the password'
      : 'Check `connect` and that the server runs';
    const raise = isLate ? ', or raise `connectTimeout`' : '';
    throw new LockConnectionError(
      `Lock client "${client}" could not connect to Redis${within} (${why}). ${advice}${raise}.`,
      { client, cause },
    );
  } finally {
    stop();
    wait.end();
  }
  await renewalWorker?.start();
}
