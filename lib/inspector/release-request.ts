import { BadRequestException } from '@nestjs/common';

/** What is to be released. */
export interface ReleaseRequest {
  readonly client: string;
  readonly name: string;
  readonly ids: readonly string[];
}

/** @throws BadRequestException when the body is none */
export function releaseRequest(body: unknown): ReleaseRequest {
  const { client, name, ids } = Object(body) as Partial<ReleaseRequest>;
  const isIds = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (typeof client === 'string' && typeof name === 'string' && isIds) return { client, name, ids };
  throw new BadRequestException('Send { client, name, ids } as in a snapshot, as JSON.');
}
