import { Inject, Module, type DynamicModule } from '@nestjs/common';
import type { LockClient } from './core/index.js';
import { getLockClientToken } from './decorators/get-lock-client-token.js';
import type {
  LockModuleAsyncOptions,
  LockModuleOptions,
} from './interfaces/lock-module-options.interface.js';
import { LockClientRegistry } from './lock-client.registry.js';
import { LockCoreModule } from './lock-core.module.js';
import { DEFAULT_LOCK_CLIENT, LOCK_CLIENT, LOCK_CLIENT_NAME } from './lock.constants.js';
import { LockOrchestrator } from './lock.orchestrator.js';
import { optionsSource, type OptionsSource } from './options-source.js';

/**
 * Registers a lock client for the whole app, and serves the lock decorators. Import it in the root module, once a client.
 *
 * The client is connected before any `onModuleInit`. At shutdown it grants nothing from `beforeApplicationShutdown` on,
 * and is closed in `onApplicationShutdown`.
 */
@Module({ imports: [LockCoreModule] })
export class LockModule {
  // The client comes by its public token, so that the decorators use what a test has put there.
  constructor(
    registry: LockClientRegistry,
    @Inject(LOCK_CLIENT_NAME) name: string,
    @Inject(LOCK_CLIENT) client: LockClient,
  ) {
    registry.add(name, client);
  }

  /**
   * Registers a client; without options, one of the embedded backend.
   *
   * Boot fails with `LockOptionsError`, with `LockClientDuplicateError`, or with `LockConnectionError` after the
   * client's `connectTimeout`.
   *
   * @example
   * ```ts
   * LockModule.forRoot({ backend: 'zookeeper', connect: 'zk1:2181,zk2:2181,zk3:2181' })
   * ```
   */
  static forRoot(options: LockModuleOptions = {}): DynamicModule {
    return register(options?.name, { inject: [], make: () => options, providers: [] });
  }

  /**
   * As `forRoot`, with options that a provider makes.
   *
   * @example
   * ```ts
   * LockModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({
   *     backend: 'zookeeper',
   *     connect: config.getOrThrow('ZOOKEEPER'),
   *   }),
   * })
   * ```
   */
  static forRootAsync(options: LockModuleAsyncOptions): DynamicModule {
    return register(options.name, optionsSource(options), options.imports);
  }
}

function register(
  name = DEFAULT_LOCK_CLIENT,
  { inject, make, providers }: OptionsSource,
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  const token = getLockClientToken(name);
  return {
    module: LockModule,
    global: true,
    imports,
    providers: [
      ...providers,
      {
        provide: LOCK_CLIENT_NAME,
        inject: [LockOrchestrator],
        useFactory: (orchestrator: LockOrchestrator) => orchestrator.claim(name),
      },
      {
        provide: token,
        inject: [LockOrchestrator, LOCK_CLIENT_NAME, ...inject],
        useFactory: (orchestrator: LockOrchestrator, claimed: string, ...args: never[]) =>
          orchestrator.open(claimed, () => make(...args)),
      },
      { provide: LOCK_CLIENT, useExisting: token },
    ],
    exports: [token],
  };
}
