import { Inject, Injectable, Logger, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import {
  type LockClient,
  LockClientClosedError,
  LockClientDuplicateError,
  LockClientUnknownError,
  LockConnectionError,
  LockOptionsError,
} from '../core/index.js';
import type { LockBackendOptions } from '../interfaces/lock-module-options.interface.js';
import { DEFAULT_LOCK_CLIENT, LOCK_CLIENT_FACTORY, LOCK_CLIENTS } from '../lock.constants.js';
import { ClientShutdown } from './client-shutdown.js';
import { connectionLogger, endangeredLogger, logOperations } from './client-logging.js';
import { LivenessWatch } from './liveness-watch.js';
import { createLockClient, refuseWithoutBackend } from './lock-client.factory.js';

/** Looks at an idle process, one every 100 ms, after which nothing can come of its boot. */
const IDLE_LOOKS = 5;

/**
 * The lock clients of an app, by name: opens them at boot, drains and closes them at shutdown.
 *
 * Nest runs no shutdown hooks after a failed boot. So the first failure of a step of ours closes every client that is open or
 * being opened, and all of them fail with that error. In an app that is up, such a step is of a module that is loaded lazily, and
 * its failure is that of the load alone.
 */
@Injectable()
export class LockClients implements OnApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  /** Clients that can be used. `undefined` while the name is claimed and the client is not connected yet. */
  readonly #clients = new Map<string, LockClient | undefined>();
  /** The shutdown of the clients that this service has created; one that a test puts in place is not ours. */
  readonly #shutdown = new ClientShutdown(this.#logger);
  readonly #boot = new LivenessWatch(IDLE_LOOKS);
  readonly #policies = new Map<string, Pick<LockBackendOptions, 'onBusy' | 'onLost'>>();
  #failure?: { readonly error: unknown };
  #isUp = false;

  /** @internal */
  constructor(
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Optional()
    @Inject(LOCK_CLIENT_FACTORY)
    private readonly createClient: typeof createLockClient = createLockClient,
  ) {
    // Nest calls the hooks of the module that is farthest from the root first at boot and last at shutdown. Among global
    // modules the order of import would decide, and the locks be gone while a hook of another one still needs them.
    for (const module of this.#ours) module.distance = Infinity;
  }

  /** Names of all clients. */
  get names(): string[] {
    return [...this.#clients.keys()];
  }

  /**
   * Returns the client of that name.
   *
   * @param name default: `default`
   * @param method class and method of the caller, for the message
   * @throws LockClientUnknownError
   * @throws LockConnectionError while the app is being built and the client is not connected yet
   */
  get(name = DEFAULT_LOCK_CLIENT, method?: string): LockClient {
    const client = this.#clients.get(name);
    if (client !== undefined) return client;
    if (!this.#clients.has(name)) throw new LockClientUnknownError(name, this.names, method);
    const who = method === undefined ? '' : ` when ${method} was called`;
    throw new LockConnectionError(
      `Lock client "${name}" was not connected yet${who}. Acquire locks from onModuleInit on, or inject the client where it is needed earlier.`,
      { client: name },
    );
  }

  /**
   * The defaults that decorated methods have by their client.
   *
   * @internal
   */
  policiesOf(name = DEFAULT_LOCK_CLIENT): Pick<LockBackendOptions, 'onBusy' | 'onLost'> {
    return this.#policies.get(name) ?? {};
  }

  /**
   * Claims a name for a client that is about to be opened, and returns it. A second client of that name fails here.
   *
   * @internal
   */
  claim(name: string): Promise<string> {
    return this.bootStep(() => {
      if (typeof name !== 'string' || name === '')
        throw new LockOptionsError('name', name, 'a name that is not empty, or none');
      if (this.#clients.has(name)) throw new LockClientDuplicateError(name);
      if (this.#ours.length > 1) throw LockClientDuplicateError.ofCopies(name);
      this.#clients.set(name, undefined);
      return name;
    });
  }

  /**
   * Creates a client and connects it.
   *
   * @param isMade whether a provider has made the options
   * @internal
   */
  open(name: string, options: LockBackendOptions, isMade: boolean): Promise<LockClient> {
    return this.bootStep(async () => {
      const client = await this.createClient(name, options);
      try {
        this.#shutdown.add(client, options);
        await this.#connect(client, options, isMade);
      } catch (error) {
        if (this.#isUp) await this.#shutdown.discard(client); // else all of them are closed
        throw error;
      }
      return client;
    }, name);
  }

  /**
   * Makes the client of a claimed name known, and the policies of its registration: the client that was opened, or the one that a
   * test has put in its place.
   *
   * @internal
   */
  add(name: string, client: LockClient, options: LockBackendOptions): void {
    this.#policies.set(name, options);
    this.#clients.set(name, client);
  }

  /**
   * Runs a step of the boot; if it fails, no client is left open.
   *
   * @param claimed the name of the client that the step is for, which is free again if it fails in an app that is up
   * @internal
   */
  async bootStep<T>(step: () => Promise<T> | T, claimed = ''): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (this.#isUp) {
        if (this.#clients.get(claimed) === undefined) this.#clients.delete(claimed);
        throw error;
      }
      this.#failure ??= { error };
      this.#boot.end();
      await this.#shutdown.close();
      throw this.#failure.error;
    }
  }

  /**
   * The boot of the app is over: from now on the connections keep the process alive.
   *
   * @internal
   */
  booted(): void {
    this.#isUp = true;
    this.#boot.end();
  }

  /**
   * Nest waits for hooks and requests from now on: they take the locks they need, but none keeps it waiting for ever.
   *
   * @internal
   */
  announce(): void {
    this.#shutdown.announce();
  }

  /**
   * Nest waits for no request any more; work that is not awaited may still hold locks, and need what hooks are about to close.
   *
   * @internal
   */
  async finish(): Promise<void> {
    this.#boot.end();
    await this.#shutdown.finish();
  }

  /** All other hooks have run. */
  async onApplicationShutdown(): Promise<void> {
    this.#boot.end();
    await this.#shutdown.drain();
    this.#failure ??= { error: new LockClientClosedError() }; // of a module that is loaded from now on
    await this.#shutdown.close();
  }

  async #connect(client: LockClient, options: LockBackendOptions, isMade: boolean): Promise<void> {
    const { name } = client;
    if (this.#failure) throw this.#failure.error;
    if (!this.#isUp) this.#boot.add(client);
    if (isMade) refuseWithoutBackend(name, options);
    client.on('connection', connectionLogger(this.#logger, name));
    client.on('endangered', endangeredLogger(this.#logger, name));
    if (options.logOperations === true) logOperations(this.#logger, client);
    await client.connect();
    if ((options.backend ?? 'embedded') === 'embedded')
      this.#logger.log(
        `Lock client "${name}" is embedded: its locks exclude only callers in this process, and in this thread of it. For several, choose another backend.`,
      );
  }

  /** The module of this service, and that of every other copy of this package: each copy would have clients of its own. */
  get #ours() {
    return [...this.modules.values()].filter(({ providers }) => providers.has(LOCK_CLIENTS));
  }
}
