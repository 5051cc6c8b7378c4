import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { LockClients } from './clients/lock-clients.js';
import { LockDecoratorTargetError } from './core/index.js';
import type { LeaderElections } from './elections/leader-elections.js';
import { warnOfCopies } from './loaded-copies.js';
import { LockInterceptor } from './interceptors/lock.interceptor.js';
import type { LeadershipHandler } from './interfaces/leader-options.interface.js';
import type { LockPlan } from './interfaces/lock-plan.interface.js';
import {
  DEFAULT_LOCK_CLIENT,
  INTERCEPTOR_PROPERTY,
  LEADER_ELECTIONS,
  LEADERSHIP_HANDLERS,
  LOCK_CLIENTS,
  LOCK_INTERCEPTOR,
  LOCK_PLANS,
} from './lock.constants.js';
import { withMethodInErrors } from './plans/define-plan.js';
import { LeadershipHandlers } from './plans/leadership-handlers.js';
import { LockPlans } from './plans/plan-metadata.js';

/** Nest's record of a provider or a controller. */
type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * Scans all providers and controllers at boot. Of those with locked methods it sets the interceptor on the instances that Nest
 * did not construct itself (`useFactory`, `useValue`), and checks that every plan can be carried out; it never wraps a method.
 * The leadership handlers it registers with their elections.
 */
@Injectable()
export class LockExplorer implements OnModuleInit {
  readonly #logger = new Logger('LockModule');
  readonly #checked = new Set<LockPlan>();
  /** Instances with handlers; one may be registered under several tokens. */
  readonly #connected = new WeakSet<object>();

  constructor(
    private readonly discovery: DiscoveryService,
    @Inject(LOCK_CLIENTS) private readonly clients: LockClients,
    @Inject(LEADER_ELECTIONS) private readonly elections: LeaderElections,
    private readonly planner: LockInterceptor,
    // Another one, if a test has put it in place.
    @Inject(LOCK_INTERCEPTOR) private readonly interceptor: object,
  ) {}

  async onModuleInit(): Promise<void> {
    warnOfCopies();
    const wrappers = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    await this.clients.bootStep(async () => {
      for (const wrapper of wrappers) {
        // For a request-scoped or transient class, Nest made `instance` without calling the constructor.
        const instance: unknown = wrapper.instance;
        if (typeof instance !== 'object' || instance === null) continue;
        if (Reflect.hasMetadata(LOCK_PLANS, instance)) this.#visitPlans(instance);
        if (Reflect.hasMetadata(LEADERSHIP_HANDLERS, instance))
          this.#visitHandlers(wrapper, instance);
      }
      for (const plan of this.#checked) await this.planner.prepare(plan).ready();
    });
  }

  #visitPlans(instance: object): void {
    for (const plan of LockPlans.of(instance)) this.#check(plan);
    if (Reflect.get(instance, INTERCEPTOR_PROPERTY) === this.interceptor) return;
    // On a frozen object it cannot be set; calls of its locked methods then fail.
    Reflect.defineProperty(instance, INTERCEPTOR_PROPERTY, {
      value: this.interceptor,
      configurable: true,
      writable: true,
    });
  }

  #check(plan: LockPlan): void {
    if (this.#checked.has(plan)) return;
    this.#checked.add(plan);
    this.planner.prepare(plan);
    const { method, lock, options } = plan;
    this.#mapped(method, lock.recipe ?? 'mutex', options.client);
  }

  #visitHandlers(wrapper: InstanceWrapper, instance: object): void {
    if (this.#connected.has(instance)) return;
    this.#connected.add(instance);
    for (const handler of LeadershipHandlers.of(instance)) {
      refuseUnlessSingleton(wrapper, handler);
      this.#connect(instance, handler);
    }
  }

  #connect(instance: object, handler: LeadershipHandler): void {
    const { decorator, method, election: name, client } = handler;
    const latch = withMethodInErrors(handler, () =>
      this.elections.of(name, { client }, method).join(method),
    );
    const call = (news: unknown) => this.#call(instance, handler, news);
    if (decorator === 'OnLeadership') latch.onLeadership(call);
    else latch.onLeadershipLost(call);
    this.#mapped(method, `${decorator} of "${name}"`, client);
  }

  async #call(
    instance: object,
    { property, method }: LeadershipHandler,
    news: unknown,
  ): Promise<void> {
    try {
      await (Reflect.get(instance, property) as (news: unknown) => unknown).call(instance, news);
    } catch (error) {
      this.#logger.error(`${method} failed`, error);
    }
  }

  #mapped(method: string, what: string, client = DEFAULT_LOCK_CLIENT): void {
    this.#logger.debug(`Mapped {${method}, ${what}, ${client}}`);
  }
}

function refuseUnlessSingleton(wrapper: InstanceWrapper, { decorator, method }: LeadershipHandler) {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) return;
  throw new LockDecoratorTargetError(
    decorator,
    method,
    'its class is not a singleton: it is transient, or request-scoped by itself or by what it injects',
    'Move it to a singleton provider or controller.',
    'call',
  );
}
