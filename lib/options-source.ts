import type { FactoryProvider, Provider } from '@nestjs/common';
import { LockOptionsError } from './core/index.js';
import type {
  LockBackendOptions,
  LockModuleAsyncOptions,
  LockOptionsFactory,
} from './interfaces/lock-module-options.interface.js';

/** Where the options of a client come from. */
export interface OptionsSource {
  /** Tokens of the arguments of `make`. */
  readonly inject: NonNullable<FactoryProvider['inject']>;
  readonly make: (...args: never[]) => Promise<LockBackendOptions> | LockBackendOptions;
  readonly providers: Provider[];
}

/**
 * The source that the options of `forRootAsync` describe.
 *
 * @throws LockOptionsError when there is none
 */
export function optionsSource(options: LockModuleAsyncOptions): OptionsSource {
  const { useFactory, useClass, useExisting, inject = [] } = options;
  if (useFactory) return { inject, make: useFactory, providers: [] };
  const token = useExisting ?? useClass;
  if (token === undefined)
    throw new LockOptionsError('useFactory', undefined, 'it, `useClass` or `useExisting`');
  return {
    inject: [token],
    make: (factory: LockOptionsFactory) => factory.createLockOptions(),
    providers: useClass ? [useClass] : [],
  };
}
