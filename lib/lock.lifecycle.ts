import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { LockClients } from './clients/lock-clients.js';
import type { LeaderElections } from './elections/leader-elections.js';
import { LEADER_ELECTIONS, LOCK_CLIENTS } from './lock.constants.js';

/**
 * What is done when all of the app is up, and as long as it is: as the last one of the hooks of the boot, and as the first one of
 * each kind of hook of a shutdown. `LockClients` has the opposite place, since the hooks of others need the clients.
 */
@Injectable()
export class LockLifecycle
  implements
    OnApplicationBootstrap,
    OnModuleDestroy,
    BeforeApplicationShutdown,
    OnApplicationShutdown
{
  constructor(
    @Inject(LOCK_CLIENTS) private readonly clients: LockClients,
    @Inject(LEADER_ELECTIONS) private readonly elections: LeaderElections,
    @Inject(ModulesContainer) modules: ModulesContainer,
  ) {
    for (const module of modules.values())
      if (module.providers.has(LockLifecycle)) module.distance = -1;
  }

  /** A leader works at once, and may need whatever the other hooks have opened. */
  onApplicationBootstrap(): void {
    this.clients.booted();
    this.elections.start();
  }

  /** The other hooks may close what a leader needs. */
  onModuleDestroy(): void {
    this.elections.leave();
  }

  /** The other hooks may wait for locks. */
  beforeApplicationShutdown(): void {
    this.clients.announce();
  }

  /**
   * Requests are answered, and timers were stopped in `beforeApplicationShutdown`: what holds a lock now is a job that needs the
   * databases, and these close in hooks of this kind. No caller is refused yet: queue workers that other hooks wait for need locks.
   */
  async onApplicationShutdown(): Promise<void> {
    await this.clients.finish();
  }
}
