import type {
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Type,
} from '@nestjs/common';
import type {
  EmbeddedClientOptions,
  RedisClientOptions,
  ZooKeeperClientOptions,
} from './lock-client-options.interface.js';
import type { OnBusy, OnLost } from './lock-method-options.interface.js';

/** Options of a client of every backend, in a Nest app. */
interface AppOptions {
  /**
   * Whether to log every acquire and release, with its key, at the level `verbose`.
   *
   * @default false
   */
  readonly logOperations?: boolean | undefined;
  /**
   * When the app shuts down: for how long the client waits for decorated methods and `using` blocks under way that nothing else
   * waits for, such as jobs of `@Cron`, in milliseconds; 0 waits for none. It begins before any `onApplicationShutdown`, and
   * counts on in these hooks. When they have run and the time is up, the signals abort, and `unfinished` applies.
   *
   * @default 20000
   */
  readonly drainTimeout?: number | undefined;
  /**
   * Default of the option `onBusy` of decorated methods on this client, see `LockMethodOptions`; `@LockDefaults` and the decorator
   * override it. Make sure that the return types of the methods include its result: the compiler does not check this.
   *
   * @default 'throw'
   */
  readonly onBusy?: OnBusy<unknown[]> | undefined;
  /**
   * Default of the option `onLost` of decorated methods on this client; see `onBusy`.
   *
   * @default 'throw'
   */
  readonly onLost?: OnLost<unknown[]> | undefined;
  /**
   * Bound on the release of locks and the closing of the connection when the app shuts down, and from
   * `beforeApplicationShutdown` on also on each wait for a lock that has none, in milliseconds.
   *
   * @default 5000
   */
  readonly shutdownTimeout?: number | undefined;
  /**
   * What happens to the lock of work that still runs after `drainTimeout`. With `'keep'`, others are kept out until the work
   * ends, or the process and then the lease or the session. With `'release'`, they may get the lock at once, beside that work.
   *
   * @default 'keep'
   */
  readonly unfinished?: 'keep' | 'release' | undefined;
}

/** Locks inside this process, without a server: for development, tests, and apps of one process. */
export interface EmbeddedBackendOptions extends EmbeddedClientOptions, AppOptions {}

/** Locks on ZooKeeper, by this package alone, or with the npm package `zookeeper`. */
export interface ZooKeeperBackendOptions extends ZooKeeperClientOptions, AppOptions {}

/** Locks on Redis, of which exactly one option says where it is. Needs the npm package `ioredis` or `redis`. */
export type RedisBackendOptions = RedisClientOptions & AppOptions;

/** A backend with its options. */
export type LockBackendOptions =
  EmbeddedBackendOptions | ZooKeeperBackendOptions | RedisBackendOptions;

/** Options of `LockModule.forRoot`. */
export type LockModuleOptions = LockBackendOptions & {
  /**
   * Name of the client, if an app has more than one.
   *
   * @default 'default'
   */
  readonly name?: string | undefined;
};

/** A provider that creates the options of a lock client. */
export interface LockOptionsFactory {
  /** Called once, when Nest creates the client. */
  createLockOptions(): Promise<LockBackendOptions> | LockBackendOptions;
}

/** Options of `LockModule.forRootAsync`: `useFactory`, `useClass` or `useExisting`. */
export interface LockModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /**
   * Name of the client, if an app has more than one. It is set here because it must be known before the options are.
   *
   * @default 'default'
   */
  readonly name?: string | undefined;
  /** Creates the options; its arguments are the providers in `inject`. */
  readonly useFactory?:
    ((...args: never[]) => Promise<LockBackendOptions> | LockBackendOptions) | undefined;
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  /** Class that creates the options; it is registered as a provider. */
  readonly useClass?: Type<LockOptionsFactory> | undefined;
  /** Token of the existing provider that creates the options. */
  readonly useExisting?: InjectionToken<LockOptionsFactory> | undefined;
}
