import type { LockErrorAnswer } from './lock-error-answer.js';

/** Throws what GraphQL servers make the answer of: they take over `extensions`, and Apollo from `http` status and headers. */
export function answerGraphQL(
  cause: unknown,
  { status, retryAfter, body }: LockErrorAnswer,
): never {
  const headers = new Map<string, string>();
  if (retryAfter !== undefined) headers.set('retry-after', `${retryAfter}`);
  const extensions = { code: body.code, statusCode: status, retryAfter, http: { status, headers } };
  throw Object.assign(new Error(body.message, { cause }), { extensions });
}
