import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { LockOptionsError, type LockClient } from './core/index.js';
import { createLockClient } from './create-lock-client.js';
import type { LockBackendOptions } from './interfaces/lock-module-options.interface.js';
import { LockClientRegistry } from './lock-client.registry.js';
import { LOCK_CLIENT_FACTORY } from './lock.constants.js';
import { connectionLogger } from './connection-logger.js';
import { logOperations } from './log-operations.js';

/**
 * Opens the lock clients of an app, and closes them with it.
 *
 * A boot that fails has no shutdown hooks. So the first failure closes every client that is open or being opened, and is
 * what all of them fail with.
 */
@Injectable()
export class LockOrchestrator implements BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  /** With the bound on their closing, in milliseconds. */
  readonly #clients = new Map<LockClient, number | undefined>();
  #failure?: { readonly error: unknown };

  constructor(
    private readonly registry: LockClientRegistry,
    @Optional()
    @Inject(LOCK_CLIENT_FACTORY)
    private readonly createClient: typeof createLockClient = createLockClient,
  ) {}

  /** Takes a name; a second client of that name fails here, before it is opened. */
  claim(name: string): Promise<string> {
    return this.bootStep(() => {
      this.registry.claim(name);
      return name;
    });
  }

  /** Makes a client and connects it. */
  open(
    name: string,
    makeOptions: () => Promise<LockBackendOptions> | LockBackendOptions,
  ): Promise<LockClient> {
    return this.bootStep(async () => {
      const options = await makeOptions();
      const client = await this.createClient(name, options);
      this.#clients.set(client, shutdownTimeoutOf(options, name));
      if (this.#failure) throw this.#failure.error;
      client.on('connection', connectionLogger(this.#logger, name));
      if (options.logOperations === true) logOperations(this.#logger, client);
      await client.connect();
      if ((options.backend ?? 'embedded') === 'embedded')
        this.#logger.log(
          `Lock client "${name}" is embedded: it excludes inside this process only. For several processes, choose a backend.`,
        );
      return client;
    });
  }

  /** Does a part of the boot; when it fails, nothing is left open. */
  async bootStep<T>(step: () => Promise<T> | T): Promise<T> {
    try {
      return await step();
    } catch (error) {
      this.#failure ??= { error };
      await this.#close();
      throw this.#failure.error;
    }
  }

  /** Requests may still be under way: they keep the locks that they hold, and get no new ones. */
  beforeApplicationShutdown(): void {
    for (const client of this.#clients.keys()) client.refuse();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#close();
  }

  async #close(): Promise<void> {
    const closing = [...this.#clients].map(([client, timeout]) => client.close(timeout));
    await Promise.all(closing);
  }
}

function shutdownTimeoutOf(
  { shutdownTimeout }: LockBackendOptions,
  name: string,
): number | undefined {
  if (shutdownTimeout === undefined || (Number.isFinite(shutdownTimeout) && shutdownTimeout > 0))
    return shutdownTimeout;
  throw new LockOptionsError('shutdownTimeout', shutdownTimeout, 'milliseconds above 0', {
    client: name,
  });
}
