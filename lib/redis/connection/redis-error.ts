import {
  LockConnectionError,
  LockError,
  LockKeyError,
  type LockErrorContext,
} from '../../core/errors/index.js';

/** Replies with which a server refuses every command for now. */
const REFUSAL = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|BUSY|MISCONF|OOM)\b/;
/** Replies that the same command may not have a moment later: keys on the move, and `WAIT` on a master that was demoted. */
const MOMENTARY = /^(TRYAGAIN|UNBLOCKED)\b/;
/** Replies of a cluster to a client that is not a cluster client: ioredis' `Cluster` never lets them through. */
const OF_CLUSTER = /^(MOVED|ASK|CROSSSLOT)\b/;
/** Reply of servers that let a script use only the keys that it is given, such as Dragonfly. */
const UNDECLARED = /undeclared key/i;
/** Prefix that Redis before 7.0 puts before an error raised inside a script. */
const INSIDE_SCRIPT = /^ERR Error running script \(call to \w+\): (@user_script: ?\d+: )+-?/;
/** Prefix that an ioredis `Cluster` puts before the last error when it gives up following redirections. */
const REDIRECTIONS = /^Too many Cluster redirections\. Last error: ReplyError: /;

/** Whether it is a reply of the server, as opposed to a connection error. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError' && !isOfLogin(error);
}

/**
 * Whether a new connection was refused the login. ioredis rejects all that waits for it with that reply, but only the connection
 * was refused: the credentials may be replaced, and a later connection may be logged in.
 */
function isOfLogin({ command, message }: IoRedisError & Error): boolean {
  if (command?.name === 'info') return message.startsWith('NOAUTH'); // ioredis' look at the server, where it has no credentials
  return command?.name === 'auth' || command?.name === 'hello';
}

/** An error like that of a driver, for a reply that came as data. */
export function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

/** The error reply as Redis 7 words it, beginning with its code; an empty string for other errors. */
function answerOf(error: unknown): string {
  return isReply(error) ? error.message.replace(INSIDE_SCRIPT, '') : '';
}

/** True if the server does not know the script. */
export function isNoScript(error: unknown): boolean {
  return answerOf(error).startsWith('NOSCRIPT');
}

/** True if it is a copy of a numbered request that was answered, or given up. */
export function isSettledRequest(error: unknown): boolean {
  return answerOf(error).startsWith('GONE');
}

/** True if the server is too old for the command. */
export function isUnknownCommand(error: unknown): boolean {
  return /^ERR unknown/i.test(answerOf(error));
}

/** True if the key holds another type, and so no lock. */
export function isOtherType(error: unknown): boolean {
  return answerOf(error).includes('WRONGTYPE');
}

/** True if the server refuses all scripts for now. */
export function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { message } = error;
  const answer = REDIRECTIONS.test(message) ? message.replace(REDIRECTIONS, '') : answerOf(error);
  return REFUSAL.test(answer);
}

/** True if the server is a replica. */
export function isReadOnly(error: unknown): boolean {
  return answerOf(error).startsWith('READONLY');
}

/** Whether the same command may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return !isReply(error) || isRefusal(error) || MOMENTARY.test(answerOf(error));
}

/** Arguments of a command that a server repeats when it does not know the command, as where AUTH was renamed. */
const ECHO = /,? with args beginning with:.*/s;
/** A URL, or credentials before a host, as where a URL was given as the host. */
const CREDENTIALS = /\S*(?::\/\/|@)\S*/g;

/** Text of an error for messages and logs, without what may be a secret in it. */
export function reasonOf(error: unknown): string {
  return String(error).replace(ECHO, '').replaceAll(CREDENTIALS, '…');
}

/** Whether a reason says that the server does not accept the credentials. */
export function isRefusedLogin(reason: string): boolean {
  return /\b(WRONGPASS|NOAUTH|NOPERM|invalid password)\b/.test(reason);
}

/** What ioredis adds to an error. */
interface IoRedisError {
  command?: { readonly name: string; readonly args?: unknown };
  readonly lastNodeError?: unknown;
}

/** Whether it is the reply to a command that was to select a database; with ioredis only. */
export function isOfSelect(error: unknown): boolean {
  return isReply(error) && (error as IoRedisError).command?.name === 'select';
}

/**
 * Returns the error without the arguments of its command, which ioredis adds to it: those of AUTH are the password, and an error
 * tracker sends away everything that hangs on an error.
 */
export function withoutArguments<E>(error: E): E {
  if (typeof error !== 'object' || error === null) return error;
  const { command, lastNodeError } = error as IoRedisError;
  if (command?.args !== undefined) (error as IoRedisError).command = { name: command.name };
  withoutArguments(lastNodeError);
  if (error instanceof Error && ECHO.test(error.message)) {
    error.message = error.message.replace(ECHO, '');
    error.stack = error.stack?.replace(ECHO, '');
  }
  return error;
}

/** Throws it {@link withoutArguments}. */
export function rethrowBare(error: unknown): never {
  throw withoutArguments(error);
}

/** Text of the reply, without the position in a script (the scripts are internal) and without a full stop. */
export function replyText(reply: Error): string {
  return reply.message
    .replace(INSIDE_SCRIPT, '')
    .replace(ECHO, '')
    .replace(/ script: [0-9a-f]{40}.*/, '')
    .replace(/\.$/, '');
}

/** What an error of a lock is about. */
type KeyContext = LockErrorContext & { readonly key: string };

/** The error for the user, made from a reply that would stay the same, or from the end of the connection; others are returned. */
export function lockErrorOf(
  error: unknown,
  context: KeyContext,
  { hasEnded }: { readonly hasEnded: boolean },
): Error {
  if (!isReply(error))
    return hasEnded && !(error instanceof LockError)
      ? closedError(error, context)
      : (error as Error);
  const message = answerOf(error);
  const [, kind] = /LOCKKIND (.*)/.exec(message) ?? [];
  if (kind !== undefined)
    return new LockKeyError(
      context.key,
      `on the server it is ${kind} already, and neither lock would exclude the holders of the other; give each lock a key of its own`,
      { ...context, cause: error },
    );
  if (isOtherType(error))
    return new LockKeyError(
      context.key,
      'on the server there is something other than a lock under that name; choose another key, or give the client a `prefix`',
      { ...context, cause: error },
    );
  if (OF_CLUSTER.test(message))
    return new LockConnectionError(
      `This Redis server is a node of a cluster, and this client is one of a single server (${replyText(error)}). Name the nodes as the option \`cluster\`, or hand over an ioredis \`Cluster\`.`,
      { ...context, cause: error },
    );
  if (UNDECLARED.test(message))
    return new LockConnectionError(
      `This server does not let a script use keys that it finds on the server, and read/write locks need that (${replyText(error)}). Use a mutex, or have the server allow it: Dragonfly does with --default_lua_flags=allow-undeclared-keys.`,
      { ...context, cause: error },
    );
  return new LockConnectionError(
    `Redis refused a command of the lock: ${replyText(error)}. Check the permissions of the user, and that the server is Redis 6.2 or newer.`,
    { ...context, cause: error },
  );
}

function closedError(cause: unknown, context: KeyContext): LockConnectionError {
  return new LockConnectionError(
    `The connection of lock client "${context.client}" was closed before the server answered for "${context.key}": a change that was under way may have been carried out. Let its \`retryStrategy\` connect again for as long as locks are needed; after its \`close()\`, make another client.`,
    { ...context, cause },
  );
}
