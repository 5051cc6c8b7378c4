import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { RedisArgument } from './ioredis.js';
import { isUnknownCommand } from './redis-error.js';
import { serverWarning } from './refusals.js';
import { retryUntilAnswered } from './retry-until-answered.js';
import { runIdIn } from './server-ids.js';

/** Number of round trips to measure: a single one may have been delayed by something else. */
const PINGS = 3;
/** Delay before a refused command is sent again, in ms. */
const RETRY_AFTER = 100;

/** A connection that is not in use yet. */
interface NewConnection {
  readonly isCluster: boolean;
  readonly hasEnded: boolean;
  readonly settings: { readonly shardedSubscriptionMode: 'auto' | 'on' | 'off' };
  read(command: string, ...args: RedisArgument[]): Promise<unknown>;
}

/** What a connection has to know of its servers before it is used. */
interface ServerFacts {
  /** Id of the process of a single server, if it says so. */
  readonly runId?: string | undefined;
  /** Whether messages go by sharded channels. */
  readonly isSharded: boolean;
}

/**
 * Resolves when the servers carry out commands. What they refuse for now, while they load their data for example, is sent again.
 *
 * Rejects with the error that ended the wait, or with a refusal that cannot pass.
 *
 * @param refused called with each refusal that may pass
 */
export async function handshake(
  connection: NewConnection,
  wait: WaitScope,
  name: string,
  refused: (error: unknown) => void,
): Promise<ServerFacts> {
  const answered = <T>(send: () => Promise<T>) =>
    retryUntilAnswered(connection, send, wait, () => RETRY_AFTER, refused);
  for (let i = 0; i < PINGS; i++) await answered(() => connection.read('ping'));
  if (connection.isCluster)
    return { isSharded: await answered(() => usesShardedChannels(connection)) };
  return { runId: await lookAtServer(connection, wait, name), isSharded: false };
}

/** Warns about a server that will refuse; if the user has no permission for `INFO`, that shows when it refuses. */
async function lookAtServer(
  connection: NewConnection,
  wait: WaitScope,
  name: string,
): Promise<string | undefined> {
  const info = String(await wait.until(connection.read('info').catch(() => '')));
  const warning = serverWarning(info, name);
  if (warning) process.emitWarning(warning);
  return runIdIn(info);
}

/** Redisson's rule: sharded channels if the servers of a cluster support them. */
async function usesShardedChannels(connection: NewConnection): Promise<boolean> {
  const { shardedSubscriptionMode } = connection.settings;
  if (shardedSubscriptionMode !== 'auto') return shardedSubscriptionMode === 'on';
  try {
    await connection.read('pubsub', 'shardnumsub');
    return true;
  } catch (error) {
    if (isUnknownCommand(error)) return false;
    throw error; // after a wrong guess, messages would reach no client
  }
}
