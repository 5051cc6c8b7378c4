import { LockConnectionError, LockError, LockTimeoutError } from '../core/errors/index.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { WaitScope, type WaitScopeContext } from '../core/internal/wait-scope.js';
import type { RedisConnection } from './connection/redis-connection.js';

/** Connects a client within `connectTimeout` ms; closes the connection where that fails. */
export async function connectToRedis(
  connection: RedisConnection,
  events: LockEventEmitter,
  context: WaitScopeContext & { readonly client: string },
  connectTimeout: number,
): Promise<void> {
  const { client } = context;
  const wait = new WaitScope(context, { wait: connectTimeout });
  let lastReason = 'no server has answered';
  const stop = events.on('connection', ({ reason }) => (lastReason = reason));
  try {
    await connection.connect(wait, client);
  } catch (cause) {
    stop(); // the closing is not what it failed of
    connection.close();
    if (cause instanceof LockError && !(cause instanceof LockTimeoutError)) throw cause;
    const why = cause instanceof LockError ? lastReason : String(cause);
    throw new LockConnectionError(
      `Lock client "${client}" could not connect to Redis within ${connectTimeout} ms (${why}). Check \`connect\` and that the server runs, or raise \`connectTimeout\`.`,
      { client, cause },
    );
  } finally {
    stop();
    wait.end();
  }
}
