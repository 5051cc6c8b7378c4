import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { LockClient } from './core/index.js';
import type { LeaderElectionOptions } from './interfaces/leader-election-options.interface.js';
import { LeaderElection, type LeaderElectionState } from './leader-election.js';
import { LockClientRegistry } from './lock-client.registry.js';

/**
 * The elections in which an app takes part: those of its decorators, and those that it asks for here.
 *
 * It stands for election from `onApplicationBootstrap` on, and leaves in `beforeApplicationShutdown`: another replica leads as
 * soon as no `@LeaderOnly` method runs here any more, at the latest when the lock client has closed.
 *
 * @example
 * ```ts
 * constructor(private readonly elections: LeaderElections) {}
 *
 * get isLeader(): boolean {
 *   return this.elections.of('mailer').isLeader;
 * }
 * ```
 */
@Injectable()
export class LeaderElections implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #elections = new Map<LockClient, readonly LeaderElection[]>();
  #phase: 'boot' | 'up' | 'shutdown' = 'boot';

  constructor(private readonly clients: LockClientRegistry) {}

  /**
   * The election of that name on that client, the same object every time. With the first call the app takes part in it, from
   * the end of its boot on.
   *
   * @param name a key as of any lock; it may not be the key of another kind of lock of the client too
   * @param method class and method that ask, for the message
   * @throws LockClientUnknownError, LockKeyError
   * @throws LockConnectionError while the app is being built and the client is not connected yet: ask from onModuleInit on
   */
  of(name: string, { client }: LeaderElectionOptions = {}, method?: string): LeaderElection {
    const locks = this.clients.get(client, method);
    const known = this.#of(locks).find((election) => election.name === name);
    if (known) return known;
    const election = new LeaderElection(locks.leaderLatch(name), locks);
    this.#elections.set(locks, [...this.#of(locks), election]);
    if (this.#phase === 'up') election.start();
    if (this.#phase === 'shutdown') election.leave();
    return election;
  }

  /**
   * What the app is in each of its elections on that client, by their names; `undefined` without any.
   *
   * @param client its name; default: `default`
   * @throws LockClientUnknownError
   */
  states(client?: string): Record<string, LeaderElectionState> | undefined {
    const elections = this.#of(this.clients.get(client));
    if (elections.length === 0) return undefined;
    return Object.fromEntries(elections.map(({ name, state }) => [name, state]));
  }

  onApplicationBootstrap(): void {
    this.#phase = 'up';
    for (const election of this.#all()) election.start();
  }

  /** Not awaited: what runs may take its time, as far as the closing of the client lets it. */
  beforeApplicationShutdown(): void {
    this.#phase = 'shutdown';
    for (const election of this.#all()) election.leave();
  }

  #of(client: LockClient): readonly LeaderElection[] {
    return this.#elections.get(client) ?? [];
  }

  #all(): LeaderElection[] {
    return [...this.#elections.values()].flat();
  }
}
