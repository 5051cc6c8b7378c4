import {
  LockConnectionError,
  LockKeyError,
  type LockErrorContext,
} from '../../core/errors/index.js';

/** Answers of a server with which it refuses whatever it is asked, for now. */
const REFUSAL = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|BUSY|MISCONF|OOM)\b/;
/** Answers of a cluster to a client that is none of a cluster: ioredis' `Cluster` never lets them through. */
const OF_CLUSTER = /^(MOVED|ASK|CROSSSLOT)\b/;
/** Redis before 7.0 puts this before an error that came up inside of a script. */
const INSIDE_SCRIPT = /^ERR Error running script \(call to \w+\): (@user_script: ?\d+: )+-?/;
/** What a `Cluster` of ioredis says when it has asked often enough. */
const REDIRECTIONS = /^Too many Cluster redirections\. Last error: ReplyError: /;

/** Is that an answer of the server, and not a matter of the connection? */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** The answer as Redis 7 words it, which begins with its code; else an empty text. */
function answerOf(error: unknown): string {
  return isReply(error) ? error.message.replace(INSIDE_SCRIPT, '') : '';
}

/** Does the server not know the script? */
export function isNoScript(error: unknown): boolean {
  return answerOf(error).startsWith('NOSCRIPT');
}

/** Is the server too old for the command? */
export function isUnknownCommand(error: unknown): boolean {
  return /^ERR unknown/i.test(answerOf(error));
}

/** Is there something else under the key, and so no lock? */
export function isOtherType(error: unknown): boolean {
  return answerOf(error).includes('WRONGTYPE');
}

/** Does the server refuse all scripts for now? */
export function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { message } = error;
  const answer = REDIRECTIONS.test(message) ? message.replace(REDIRECTIONS, '') : answerOf(error);
  return REFUSAL.test(answer);
}

/** Is the server a replica? */
export function isReadOnly(error: unknown): boolean {
  return answerOf(error).startsWith('READONLY');
}

/** May the same command succeed a moment later? */
export function isPassing(error: unknown): boolean {
  return !isReply(error) || isRefusal(error) || answerOf(error).startsWith('TRYAGAIN');
}

/** What the server says, without the place in a script, as the scripts are ours, and without a full stop. */
export function replyText(reply: Error): string {
  return reply.message
    .replace(INSIDE_SCRIPT, '')
    .replace(/ script: [0-9a-f]{40}.*/, '')
    .replace(/\.$/, '');
}

/** What to tell the user about an answer that will stay the same. */
export function lockErrorOf(
  error: unknown,
  context: LockErrorContext & { readonly key: string },
): Error {
  if (!isReply(error)) return error as Error;
  const message = answerOf(error);
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
  if (OF_CLUSTER.test(message))
    return new LockConnectionError(
      `This Redis server is a node of a cluster, and the lock is a matter of another one (${replyText(error)}). Name the nodes as the option \`cluster\`, or hand over an ioredis \`Cluster\`.`,
      { ...context, cause: error },
    );
  return new LockConnectionError(
    `Redis refused a command of the lock: ${replyText(error)}. Check the permissions of the user, and that it is Redis 6.2 or newer.`,
    { ...context, cause: error },
  );
}
