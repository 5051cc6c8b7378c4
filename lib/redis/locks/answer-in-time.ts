import { LockConnectionError, LockError } from '../../core/errors/index.js';
import { isRefusedLogin, lockErrorOf, reasonOf } from '../connection/redis-error.js';
import { Deadline } from '../connection/retry-until-answered.js';
import type { RecipeContext } from '../recipe-context.js';

/**
 * Settles as the request about a lock does. A request waits for a connection without bound, so this rejects with
 * `LockConnectionError` if there is no answer within the client's `connectTimeout`, or there will be none; with `LockKeyError` if
 * the key holds something else.
 */
export async function answerInTime<T>(
  { clock, connection, connectTimeout }: RecipeContext,
  about: { readonly key: string; readonly client?: string | undefined },
  request: Promise<T>,
): Promise<T> {
  const unanswered = (when: string, cause: unknown, advice: string) =>
    new LockConnectionError(
      `Redis did not answer a request about "${about.key}" of client "${about.client}" ${when}. ${advice}.`,
      { ...about, cause },
    );
  const over = () =>
    unanswered(
      `within ${connectTimeout} ms`,
      connection.trouble,
      'Check that the server runs, or raise `connectTimeout`',
    );
  try {
    return await new Deadline(clock, clock.now() + connectTimeout, over).until(request);
  } catch (error) {
    const settled = lockErrorOf(error, about, connection);
    if (settled instanceof LockError) throw settled;
    const why = reasonOf(error);
    const advice = isRefusedLogin(why)
      ? 'Check the user and the password'
      : 'Check that the server runs';
    throw unanswered(`(${why})`, error, advice);
  }
}
