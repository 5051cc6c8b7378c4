import { Inject } from '@nestjs/common';
import { getLockClientToken } from './get-lock-client-token.js';

/**
 * Injects a lock client.
 *
 * @param name default: `default`
 */
export function InjectLockClient(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getLockClientToken(name));
}
