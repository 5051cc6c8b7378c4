import type {
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Type,
} from '@nestjs/common';
import type { LockBackendOptions } from './lock-module-options.interface.js';
import type { LockOptionsFactory } from './lock-options-factory.interface.js';

/** Options of `LockModule.forRootAsync`: `useFactory`, `useClass` or `useExisting`. */
export interface LockModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /**
   * Name of the client, where an app has more than one. It stands here, as it must be known before the options are.
   *
   * @default 'default'
   */
  readonly name?: string;
  /** Makes the options; its arguments are the providers in `inject`. */
  readonly useFactory?: (...args: never[]) => Promise<LockBackendOptions> | LockBackendOptions;
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[];
  /** Becomes a provider, and is asked. */
  readonly useClass?: Type<LockOptionsFactory>;
  /** Token of the provider that is asked. */
  readonly useExisting?: InjectionToken<LockOptionsFactory>;
}
