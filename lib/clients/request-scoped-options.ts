import type { ModulesContainer } from '@nestjs/core';
import { NotShown } from '../core/errors/shown-value.js';
import { LockOptionsError } from '../core/index.js';
import { LOCK_CLIENT_NAME, LOCK_OPTIONS, LOCK_REGISTRATION } from '../lock.constants.js';

/** A module of an app. */
export type NestModule = ReturnType<ModulesContainer['get']> & object;

/**
 * Nest makes anew for each request what is made of something request-scoped: each would open a client, and connections, of its
 * own, none of which a locked method could use.
 *
 * @throws LockOptionsError if the client of that module is so
 */
export function refuseRequestScopedOptions({ providers }: NestModule): void {
  const registration = providers.get(LOCK_REGISTRATION);
  if (registration === undefined || registration.isDependencyTreeStatic()) return;
  const client = String(providers.get(LOCK_CLIENT_NAME)?.instance);
  const parts = providers.get(LOCK_OPTIONS)?.getCtorMetadata() ?? [];
  const scoped = parts.find((part) => !part.isDependencyTreeStatic());
  const made = `made of ${String(scoped?.name)}, which is request-scoped by itself or by what it injects`;
  const expected = `it, \`useClass\` or \`useExisting\` singletons only: else each request would open a lock client "${client}" of its own`;
  throw new LockOptionsError('useFactory', new NotShown(made), expected, { client });
}
