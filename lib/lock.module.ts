import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  type FactoryProvider,
  Global,
  Module,
  type Provider,
} from '@nestjs/common';
import { LockClients } from './clients/lock-clients.js';
import { type LockClient, LockOptionsError } from './core/index.js';
import { getLockClientToken } from './decorators/inject-lock-client.decorator.js';
import { LeaderElections } from './elections/leader-elections.js';
import { LockInterceptor } from './interceptors/lock.interceptor.js';
import type {
  LockBackendOptions,
  LockModuleAsyncOptions,
  LockModuleOptions,
} from './interfaces/lock-module-options.interface.js';
import {
  DEFAULT_LOCK_CLIENT,
  LEADER_ELECTIONS,
  LOCK_CLIENT,
  LOCK_CLIENT_NAME,
  LOCK_CLIENTS,
  LOCK_INTERCEPTOR,
  LOCK_OPTIONS,
  LOCK_REGISTRATION,
} from './lock.constants.js';
import { warnOfCopies } from './loaded-copies.js';
import { LockExplorer } from './lock.explorer.js';
import { LockLifecycle } from './lock.lifecycle.js';

/** A module of its own, as Nest orders hooks by module. */
@Module({ providers: [LockLifecycle] })
class LockLifecycleModule {}

/** The parts that an app has once, however many clients it registers. Their symbols are the tokens that all copies of this package know. */
@Global()
@Module({
  imports: [LockLifecycleModule],
  providers: [
    { provide: LOCK_CLIENTS, useClass: LockClients },
    { provide: LockClients, useExisting: LOCK_CLIENTS },
    { provide: LEADER_ELECTIONS, useClass: LeaderElections },
    { provide: LeaderElections, useExisting: LEADER_ELECTIONS },
    LockInterceptor,
    { provide: LOCK_INTERCEPTOR, useExisting: LockInterceptor },
    LockExplorer,
  ],
  exports: [LOCK_CLIENTS, LockClients, LEADER_ELECTIONS, LeaderElections, LOCK_INTERCEPTOR],
})
class LockCoreModule {}

/**
 * What one import adds to the module that Nest's builder has defined: a client, global, under its name.
 *
 * @param isMade whether a provider makes its options
 */
function withClient(
  { providers = [], ...definition }: DynamicModule,
  isMade: boolean,
  name = DEFAULT_LOCK_CLIENT,
): DynamicModule {
  warnOfCopies(); // here, as what another copy cannot find may fail the boot before any hook
  const token = getLockClientToken(name);
  return {
    ...definition,
    global: true,
    providers: [
      ...providers.map(asBootStep),
      {
        provide: LOCK_CLIENT_NAME,
        inject: [LOCK_CLIENTS],
        useFactory: (clients: LockClients) => clients.claim(name),
      },
      {
        provide: token,
        inject: [LOCK_CLIENTS, LOCK_CLIENT_NAME, LOCK_OPTIONS],
        useFactory: (clients: LockClients, claimed: string, options: LockBackendOptions) =>
          clients.open(claimed, options, isMade),
      },
      { provide: LOCK_CLIENT, useExisting: token },
    ],
    exports: [token],
  };
}

/** A factory of options that runs as a step of the boot: if it fails, no other client is left open. */
function asBootStep(provider: Provider): Provider {
  if (typeof provider === 'function' || !('useFactory' in provider)) return provider;
  const { inject = [], useFactory } = provider as FactoryProvider<unknown>;
  return {
    ...provider,
    inject: [LOCK_CLIENTS, LOCK_CLIENT_NAME, ...inject],
    useFactory: (clients: LockClients, claimed: string, ...args: unknown[]) =>
      clients.bootStep(() => useFactory(...args), claimed),
  };
}

// Without `setExtras` for the name: that would copy the options, and a URL or a Map, given by mistake, would become `{}`.
const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<LockBackendOptions>({
  optionsInjectionToken: LOCK_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createLockOptions')
  .build();

/**
 * Registers a lock client for the whole app and serves the lock decorators. Import it in the root module, once per client.
 *
 * The client is connected before any `onModuleInit`. At shutdown it waits for work under its locks before any
 * `onApplicationShutdown`, and grants locks until all of these hooks have run; then it is closed.
 */
@Module({
  imports: [LockCoreModule],
  providers: [
    {
      provide: LOCK_REGISTRATION,
      // The client is resolved through its public token, so that the decorators use the override of a test.
      inject: [LOCK_CLIENTS, LOCK_CLIENT_NAME, LOCK_CLIENT, LOCK_OPTIONS],
      useFactory: (
        clients: LockClients,
        name: string,
        client: LockClient,
        options: LockBackendOptions,
      ) => clients.add(name, client, options),
    },
  ],
})
export class LockModule extends ConfigurableModuleClass {
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
  static override forRoot(options: LockModuleOptions = {}): DynamicModule {
    return withClient(super.forRoot(options), false, options?.name);
  }

  /**
   * As `forRoot`, with options created by a provider, of singletons only. Boot fails with `LockOptionsError` where it injects
   * something request-scoped, and where the options name no `backend`.
   *
   * @throws LockOptionsError without `useFactory`, `useClass` and `useExisting`
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
  static override forRootAsync(options: LockModuleAsyncOptions): DynamicModule {
    const { useFactory } = options;
    if (useFactory !== undefined && typeof useFactory !== 'function')
      throw new LockOptionsError('useFactory', useFactory, 'a function that returns the options');
    // Any token will do for Nest as `useExisting`; only the type of its builder asks for a class.
    if (useFactory ?? options.useClass ?? options.useExisting)
      return withClient(
        super.forRootAsync(options as Parameters<typeof ConfigurableModuleClass.forRootAsync>[0]),
        true,
        options.name,
      );
    throw new LockOptionsError('useFactory', undefined, 'it, `useClass` or `useExisting`');
  }
}
