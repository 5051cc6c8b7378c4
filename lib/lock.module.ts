import {
  type DynamicModule,
  type FactoryProvider,
  Global,
  Inject,
  Module,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { LockClientRegistry } from './clients/lock-client.registry.js';
import { LockOrchestrator } from './clients/lock.orchestrator.js';
import { type LockClient, LockOptionsError } from './core/index.js';
import { getLockClientToken } from './decorators/inject-lock-client.decorator.js';
import { LeaderElections } from './elections/leader-elections.js';
import { LeadershipExplorer } from './elections/leadership.explorer.js';
import { LockInterceptor } from './interceptors/lock.interceptor.js';
import type {
  LockBackendOptions,
  LockModuleAsyncOptions,
  LockModuleOptions,
  LockOptionsFactory,
} from './interfaces/lock-module-options.interface.js';
import {
  DEFAULT_LOCK_CLIENT,
  LOCK_CLIENT,
  LOCK_CLIENT_NAME,
  LOCK_INTERCEPTOR,
} from './lock.constants.js';
import { LockExplorer } from './lock.explorer.js';

/** The parts that an app has once, however many clients it registers. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    LockClientRegistry,
    LockOrchestrator,
    LockExplorer,
    LeaderElections,
    LeadershipExplorer,
    LockInterceptor,
    { provide: LOCK_INTERCEPTOR, useExisting: LockInterceptor },
  ],
  exports: [LeaderElections, LockClientRegistry, LockOrchestrator, LOCK_INTERCEPTOR],
})
class LockCoreModule {}

/** Source of the options of a client. */
interface OptionsSource {
  /** Tokens of the arguments of `make`. */
  readonly inject: NonNullable<FactoryProvider['inject']>;
  readonly make: (...args: never[]) => Promise<LockBackendOptions> | LockBackendOptions;
  readonly providers: Provider[];
}

/**
 * The source that the options of `forRootAsync` describe.
 *
 * @throws LockOptionsError when they describe none
 */
function optionsSource(options: LockModuleAsyncOptions): OptionsSource {
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

/**
 * Registers a lock client for the whole app and serves the lock decorators. Import it in the root module, once per client.
 *
 * The client is connected before any `onModuleInit`. At shutdown it grants no locks from `beforeApplicationShutdown` on, and is
 * closed in `onApplicationShutdown`.
 */
@Module({ imports: [LockCoreModule] })
export class LockModule {
  // The client is resolved through its public token, so that the decorators use the override of a test.
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
   * As `forRoot`, with options created by a provider.
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
