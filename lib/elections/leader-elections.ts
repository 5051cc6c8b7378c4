import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { LockClients } from '../clients/lock-clients.js';
import type { LeaderElectionOptions } from '../interfaces/leader-options.interface.js';
import { DEFAULT_LOCK_CLIENT, LOCK_CLIENTS } from '../lock.constants.js';
import { LeaderElection, type LeaderElectionState } from './leader-election.js';

/**
 * The elections in which an app takes part: those of its decorators and those that it requests here.
 *
 * The app stands for election after all hooks of its boot, and leaves before those of its shutdown: another replica leads
 * while Nest still waits for the requests of this one, as soon as no `@LeaderOnly` method runs here any more, at the latest
 * when the lock client has closed.
 *
 * @example
 * ```ts
 * constructor(elections: LeaderElections) {
 *   this.election = elections.of('mailer');
 * }
 * ```
 */
@Injectable()
export class LeaderElections implements OnModuleInit {
  readonly #elections: LeaderElection[] = [];
  #phase: 'construction' | 'boot' | 'up' | 'shutdown' = 'construction';

  /** @internal */
  constructor(@Inject(LOCK_CLIENTS) private readonly clients: LockClients) {}

  /**
   * Returns the election of that name on that client, the same object every time. From the first call the app takes part in it,
   * starting at the end of its boot. It may be called in constructors: errors then fail the boot.
   *
   * @param name a key as for any lock; it must not also be the key of another kind of lock of the client
   * @param method class and method of the caller, for the message
   * @throws LockClientUnknownError, LockKeyError
   */
  of(
    name: string,
    { client = DEFAULT_LOCK_CLIENT }: LeaderElectionOptions = {},
    method?: string,
  ): LeaderElection {
    const known = this.#elections.find((it) => it.name === name && it.client === client);
    if (known) return known;
    const election = new LeaderElection(name, client, (asker) =>
      this.clients.get(client, asker).leaderLatch(name),
    );
    // During construction, its client may not be connected yet.
    if (this.#phase !== 'construction' || method !== undefined) election.join(method);
    this.#elections.push(election);
    if (this.#phase === 'up') election.start();
    if (this.#phase === 'shutdown') election.leave();
    return election;
  }

  /**
   * State of the app in each of its elections on that client, by election name; `undefined` if there are none.
   *
   * @param client name of the client; default: `default`
   */
  states(client = DEFAULT_LOCK_CLIENT): Record<string, LeaderElectionState> | undefined {
    const elections = this.#elections.filter((election) => election.client === client);
    if (elections.length === 0) return undefined;
    return Object.fromEntries(elections.map(({ name, state }) => [name, state]));
  }

  async onModuleInit(): Promise<void> {
    await this.clients.bootStep(() => {
      for (const election of this.#elections) election.join();
    });
    if (this.#phase === 'construction') this.#phase = 'boot';
  }

  /**
   * The app is up, or it is closed already: Nest goes on with a boot during which that happens.
   *
   * @internal
   */
  start(): void {
    if (this.#phase === 'shutdown') return;
    this.#phase = 'up';
    for (const election of this.#elections) election.start();
  }

  /**
   * The app shuts down. Leaving is not awaited: runs in progress may finish, as far as the closing of the client permits.
   *
   * @internal
   */
  leave(): void {
    this.#phase = 'shutdown';
    for (const election of this.#elections) election.leave();
  }
}
