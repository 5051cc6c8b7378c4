import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { LeaderElections } from './leader-elections.js';
import { LeadershipExplorer } from './leadership.explorer.js';
import { LockInterceptor } from './interceptors/lock.interceptor.js';
import { LockClientRegistry } from './lock-client.registry.js';
import { LOCK_INTERCEPTOR } from './lock.constants.js';
import { LockExplorer } from './lock.explorer.js';
import { LockOrchestrator } from './lock.orchestrator.js';

/** What an app has once, however many clients it registers. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    LockClientRegistry,
    LockOrchestrator,
    LockExplorer,
    LeaderElections,
    LeadershipExplorer,
    LockInterceptor,
    { provide: LOCK_INTERCEPTOR, useExisting: LockInterceptor },
  ],
  exports: [LeaderElections, LockClientRegistry, LockOrchestrator, LOCK_INTERCEPTOR],
})
export class LockCoreModule {}
