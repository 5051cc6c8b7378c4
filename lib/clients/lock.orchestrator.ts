import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type LoggerService,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import {
  type LockClient,
  type LockEvents,
  LockOptionsError,
  type LockSubject,
} from '../core/index.js';
import type { LockBackendOptions } from '../interfaces/lock-module-options.interface.js';
import { LOCK_CLIENT_FACTORY } from '../lock.constants.js';
import { createLockClient } from './lock-client.factory.js';
import { LockClientRegistry } from './lock-client.registry.js';

/** Logs the operations of all locks of `client` at the level `verbose`. */
function logOperations(logger: LoggerService, client: LockClient): void {
  const log = (what: string, subject: LockSubject, rest = '') => {
    const { recipe, key, participant, method = participant } = subject;
    const who = method === undefined ? '' : ` for ${method}`;
    logger.verbose?.(`Lock client "${client.name}": ${what} ${recipe} "${key}"${who}${rest}`);
  };
  client.on('acquired', (event) => log('acquired', event, ` after ${inMs(event.waitedMs)}`));
  client.on('contended', (event) => log('waits for', event));
  client.on('released', (event) => log('released', event, ` after ${inMs(event.heldMs)}`));
  client.on('lost', (event) => log('lost', event, ` after ${inMs(event.heldMs)}`));
  client.on('failed', (event) => {
    const why = event.error instanceof Error ? event.error.name : 'an error';
    log('was not granted', event, ` within ${inMs(event.waitedMs)}: ${why}`);
  });
}

const inMs = (ms: number) => `${ms.toFixed(1)} ms`;

/**
 * Opens the lock clients of an app and closes them at its shutdown.
 *
 * Nest runs no shutdown hooks after a failed boot. So the first failure closes every client that is open or being opened, and
 * all of them fail with that error.
 */
@Injectable()
export class LockOrchestrator implements BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  /** Clients, each with the bound on its closing in milliseconds. */
  readonly #clients = new Map<LockClient, number | undefined>();
  #failure?: { readonly error: unknown };

  constructor(
    private readonly registry: LockClientRegistry,
    @Optional()
    @Inject(LOCK_CLIENT_FACTORY)
    private readonly createClient: typeof createLockClient = createLockClient,
  ) {}

  /** Claims a name; a second client of that name fails here, before it is opened. */
  claim(name: string): Promise<string> {
    return this.bootStep(() => {
      this.registry.claim(name);
      return name;
    });
  }

  /** Creates a client and connects it. */
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
          `Lock client "${name}" is embedded: its locks exclude only callers in this process. For several processes, choose another backend.`,
        );
      return client;
    });
  }

  /** Runs a step of the boot; if it fails, no client is left open. */
  async bootStep<T>(step: () => Promise<T> | T): Promise<T> {
    try {
      return await step();
    } catch (error) {
      this.#failure ??= { error };
      await this.#close();
      throw this.#failure.error;
    }
  }

  /** Requests may still be in progress: they keep the locks that they hold and acquire no new ones. */
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

/** Creates a listener that logs the connection events of a client, at a level that fits their effect on the locks. */
export function connectionLogger(
  logger: LoggerService,
  client: string,
): (event: LockEvents['connection']) => void {
  const states = new Map<number | undefined, { state: string; hasFailed: boolean }>();
  return ({ state, reason, server }) => {
    const last = states.get(server) ?? { state: 'CONNECTING', hasFailed: false };
    // A failed attempt is an event with an unchanged state; only the first one is logged until the state changes.
    if (state === last.state) {
      if (!last.hasFailed)
        logger.warn(`Lock client "${client}" cannot connect: ${reason}; it goes on trying`);
      states.set(server, { state, hasFailed: true });
      return;
    }
    states.set(server, { state, hasFailed: false });
    const line = `Lock client "${client}": ${state} (${reason})`;
    if (state === 'CONNECTED' || state === 'RECONNECTED') logger.log(line);
    else if (state === 'LOST') logger.error(`${line}; all its locks are lost`);
    else if (state !== 'CLOSED') logger.warn(line);
  };
}
