import type { LockErrorAnswer } from './lock-error-answer.js';

/** What the responses of Express and Fastify have in common; `raw` is Node's, which that of Express is itself. */
interface HttpResponse extends NodeResponse {
  readonly raw?: NodeResponse;
  status(code: number): HttpResponse;
  header(name: string, value: string): HttpResponse;
  send(body: unknown): unknown;
}

interface NodeResponse {
  readonly headersSent: boolean;
  end(): void;
}

/** Sends the answer; a response that has begun already can only be ended. */
export function answerHttp(
  response: HttpResponse,
  { status, retryAfter, body }: LockErrorAnswer,
): void {
  const raw = response.raw ?? response;
  if (raw.headersSent) return raw.end();
  if (retryAfter !== undefined) response.header('Retry-After', `${retryAfter}`);
  response.status(status).send(body);
}
