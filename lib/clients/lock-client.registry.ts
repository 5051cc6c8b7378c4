import { Injectable } from '@nestjs/common';
import {
  type LockClient,
  LockClientDuplicateError,
  LockClientUnknownError,
  LockConnectionError,
  LockOptionsError,
} from '../core/index.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';

/** The lock clients of one app, by name. */
@Injectable()
export class LockClientRegistry {
  /** `undefined` while the name is claimed and the client is not connected yet. */
  readonly #clients = new Map<string, LockClient | undefined>();

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
   * Claims a name for a client that is about to be created.
   *
   * @internal
   * @throws LockClientDuplicateError
   */
  claim(name: string): void {
    if (typeof name !== 'string' || name === '')
      throw new LockOptionsError('name', name, 'a name that is not empty, or none');
    if (this.#clients.has(name)) throw new LockClientDuplicateError(name);
    this.#clients.set(name, undefined);
  }

  /**
   * Registers the client of a claimed name.
   *
   * @internal
   */
  add(name: string, client: LockClient): void {
    this.#clients.set(name, client);
  }
}
