import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { LockClientRegistry } from '../clients/lock-client.registry.js';
import { LockOrchestrator } from '../clients/lock.orchestrator.js';
import type { LeaderElectionOptions } from '../interfaces/leader-options.interface.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import { LeaderElection, type LeaderElectionState } from './leader-election.js';

/**
 * The elections in which an app takes part: those of its decorators, and those that it asks for here.
 *
 * It stands for election from `onApplicationBootstrap` on, and leaves in `beforeApplicationShutdown`: another replica leads as
 * soon as no `@LeaderOnly` method runs here any more, at the latest when the lock client has closed.
 *
 * @example
 * ```ts
 * constructor(elections: LeaderElections) {
 *   this.election = elections.of('mailer');
 * }
 * ```
 */
@Injectable()
export class LeaderElections
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  readonly #elections: LeaderElection[] = [];
  #phase: 'construction' | 'boot' | 'up' | 'shutdown' = 'construction';

  /** @internal */
  constructor(
    private readonly clients: LockClientRegistry,
    private readonly orchestrator: LockOrchestrator,
  ) {}

  /**
   * The election of that name on that client, the same object every time. With the first call the app takes part in it, from
   * the end of its boot on. May be called in constructors: what is wrong then fails the boot.
   *
   * @param name a key as of any lock; it may not be the key of another kind of lock of the client too
   * @param method class and method that ask, for the message
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
    // Its client may not be there yet.
    if (this.#phase !== 'construction' || method !== undefined) election.join(method);
    this.#elections.push(election);
    if (this.#phase === 'up') election.start();
    if (this.#phase === 'shutdown') election.leave();
    return election;
  }

  /**
   * What the app is in each of its elections on that client, by their names; `undefined` without any.
   *
   * @param client its name; default: `default`
   */
  states(client = DEFAULT_LOCK_CLIENT): Record<string, LeaderElectionState> | undefined {
    const elections = this.#elections.filter((election) => election.client === client);
    if (elections.length === 0) return undefined;
    return Object.fromEntries(elections.map(({ name, state }) => [name, state]));
  }

  async onModuleInit(): Promise<void> {
    await this.orchestrator.bootStep(() => {
      for (const election of this.#elections) election.join();
    });
    this.#phase = 'boot';
  }

  onApplicationBootstrap(): void {
    this.#phase = 'up';
    for (const election of this.#elections) election.start();
  }

  /** Not awaited: what runs may take its time, as far as the closing of the client lets it. */
  beforeApplicationShutdown(): void {
    this.#phase = 'shutdown';
    for (const election of this.#elections) election.leave();
  }
}
