import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LockPlans } from './plans/plan-metadata.js';
import { LockInterceptor } from './interceptors/lock.interceptor.js';
import type { LockPlan } from './interfaces/lock-plan.interface.js';
import {
  DEFAULT_LOCK_CLIENT,
  INTERCEPTOR_PROPERTY,
  LOCK_INTERCEPTOR,
  LOCK_PLANS,
} from './lock.constants.js';
import { LockOrchestrator } from './clients/lock.orchestrator.js';

/**
 * Scans all providers and controllers at boot: sets the interceptor on locked instances that Nest did not construct itself
 * (`useFactory`, `useValue`), and checks that every plan can be carried out. It never wraps a method.
 */
@Injectable()
export class LockExplorer implements OnModuleInit {
  readonly #logger = new Logger('LockModule');
  readonly #checked = new Set<LockPlan>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly orchestrator: LockOrchestrator,
    private readonly planner: LockInterceptor,
    @Inject(LOCK_INTERCEPTOR) private readonly interceptor: object,
  ) {}

  async onModuleInit(): Promise<void> {
    const wrappers = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    await this.orchestrator.bootStep(() => {
      // For a request-scoped or transient class, Nest made `instance` without calling the constructor.
      for (const { instance } of wrappers) if (this.#explore(instance)) this.#complete(instance);
    });
  }

  /** Checks the plans of `target`; true if it has any. */
  #explore(target: unknown): target is object {
    if (typeof target !== 'object' || target === null) return false;
    if (!Reflect.hasMetadata(LOCK_PLANS, target)) return false;
    for (const plan of LockPlans.of(target)) this.#check(plan);
    return true;
  }

  #check(plan: LockPlan): void {
    if (this.#checked.has(plan)) return;
    this.#checked.add(plan);
    this.planner.prepare(plan);
    const { method, lock, options } = plan;
    const client = options.client ?? DEFAULT_LOCK_CLIENT;
    this.#logger.debug(`Mapped {${method}, ${lock.recipe}, ${client}}`);
  }

  #complete(instance: object): void {
    if (Reflect.get(instance, INTERCEPTOR_PROPERTY) === this.interceptor) return;
    // On a frozen object it cannot be set; calls of its locked methods then fail.
    Reflect.defineProperty(instance, INTERCEPTOR_PROPERTY, {
      value: this.interceptor,
      configurable: true,
      writable: true,
    });
  }
}
