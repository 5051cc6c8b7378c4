import { LockConnectionError } from '../../core/errors/index.js';
import { lockErrorOf } from '../connection/redis-error.js';
import { Deadline } from '../connection/retry-until-answered.js';
import type { RecipeContext } from '../recipe-context.js';

/**
 * Settles as the request about a lock does. A request waits for a connection without bound, so this rejects with
 * `LockConnectionError` if there is no answer within the client's `connectTimeout`; with `LockKeyError` if the key holds something
 * else.
 */
export async function answerInTime<T>(
  { clock, connection, connectTimeout }: RecipeContext,
  about: { readonly key: string; readonly client?: string | undefined },
  request: Promise<T>,
): Promise<T> {
  const over = () =>
    new LockConnectionError(
      `Redis did not answer a request about "${about.key}" of client "${about.client}" within ${connectTimeout} ms. Check that the server runs, or raise \`connectTimeout\`.`,
      { ...about, cause: connection.trouble },
    );
  try {
    return await new Deadline(clock, clock.now() + connectTimeout, over).until(request);
  } catch (error) {
    throw lockErrorOf(error, about, connection);
  }
}
