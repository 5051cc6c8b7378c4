import { Inject } from '@nestjs/common';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';

/**
 * Injects a lock client.
 *
 * @param name default: `default`
 */
export function InjectLockClient(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getLockClientToken(name));
}

/**
 * Injection token of a lock client, for factories, `moduleRef.get` and `overrideProvider`.
 *
 * @param name default: `default`
 */
export function getLockClientToken(name = DEFAULT_LOCK_CLIENT): symbol {
  const options = name === DEFAULT_LOCK_CLIENT ? '' : `{ name: '${name}' }`;
  return Symbol.for(
    `nestjs-interlock:LockClient "${name}" (is LockModule.forRoot(${options}) imported?)`,
  );
}
