import type { Attributes } from '@opentelemetry/api';
import type { LockSubject } from '../index.js';

/**
 * What spans and metrics tell of a lock: no more than the code of the app has variants of.
 *
 * Made for every event, so at once, and in the order in which the SDK sorts them: that is cheaper.
 */
export function attributesOf(
  client: string,
  { recipe, method }: Pick<LockSubject, 'recipe' | 'method'>,
): Attributes {
  if (method === undefined)
    return { 'nestjs_interlock.client': client, 'nestjs_interlock.recipe': recipe };
  return {
    'nestjs_interlock.client': client,
    'nestjs_interlock.method': method,
    'nestjs_interlock.recipe': recipe,
  };
}
