import {
  LockConnectionError,
  LockKeyError,
  type LockErrorContext,
} from '../../core/errors/index.js';

/** Answers of a server that may be another one in a moment. */
const PASSING =
  /^(LOADING|READONLY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|BUSY|MISCONF|OOM|MOVED|ASK)\b/;

/** What ioredis says when the user has subscribed with the client, which then sends no other commands. */
const SUBSCRIBER_MODE = 'Connection in subscriber mode';

/** Is that an answer of the server, and not a matter of the connection? */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Does the server not know the script? */
export function isNoScript(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('NOSCRIPT');
}

/** Is the server too old for the command? */
export function isUnknownCommand(error: unknown): boolean {
  return isReply(error) && /^ERR unknown/i.test(error.message);
}

/** Is there something else under the key, and so no lock? */
export function isOtherType(error: unknown): boolean {
  return isReply(error) && error.message.includes('WRONGTYPE');
}

/** May the same command succeed a moment later? */
export function isPassing(error: unknown): boolean {
  if (isReply(error)) return PASSING.test(error.message);
  return !isSubscriber(error);
}

function isSubscriber(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith(SUBSCRIBER_MODE);
}

/** What the server says, without the place in a script: the scripts are ours. */
export function replyText(reply: Error): string {
  return reply.message.replace(/ script: [0-9a-f]{40}.*/, '');
}

/** What to tell the user about an answer that will stay the same. */
export function lockErrorOf(
  error: unknown,
  context: LockErrorContext & { readonly key: string },
): Error {
  if (isSubscriber(error))
    return new LockConnectionError(
      'The Redis client was made a subscriber, so it sends no commands. Subscribe with a duplicate of it.',
      { ...context, cause: error },
    );
  if (!isReply(error)) return error as Error;
  const { message } = error;
  const [, kind] = /LOCKKIND (.*)/.exec(message) ?? [];
  if (kind !== undefined)
    return new LockKeyError(
      context.key,
      `on the server it is ${kind} already, and neither would keep out the holders of the other; give each lock a key of its own`,
      { ...context, cause: error },
    );
  if (isOtherType(error))
    return new LockKeyError(
      context.key,
      'on the server there is something else than a lock under that name; choose another key, or give the client a `prefix`',
      { ...context, cause: error },
    );
  return new LockConnectionError(
    `Redis refused a command of the lock: ${replyText(error)}. Check the permissions of the user, and that it is Redis 6.2 or newer.`,
    { ...context, cause: error },
  );
}
