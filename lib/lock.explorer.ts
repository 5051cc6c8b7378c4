import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { LazyModuleLoader, ModulesContainer } from '@nestjs/core';
import type { LockClients } from './clients/lock-clients.js';
import { type NestModule, refuseRequestScopedOptions } from './clients/request-scoped-options.js';
import { LockDecoratorTargetError } from './core/index.js';
import type { LeaderElections } from './elections/leader-elections.js';
import { warnOfCopies } from './loaded-copies.js';
import { LockInterceptor } from './interceptors/lock.interceptor.js';
import type { LeadershipHandler } from './interfaces/leader-options.interface.js';
import type { LockPlan } from './interfaces/lock-plan.interface.js';
import {
  DEFAULT_LOCK_CLIENT,
  LEADER_ELECTIONS,
  LEADERSHIP_HANDLERS,
  LOCK_CLIENTS,
  LOCK_INTERCEPTOR,
  LOCK_PLANS,
} from './lock.constants.js';
import { withMethodInErrors } from './plans/define-plan.js';
import { InstanceWiring } from './plans/instance-wiring.js';
import { LeadershipHandlers } from './plans/leadership-handlers.js';
import { LockPlans } from './plans/plan-metadata.js';

/** Nest's record of a provider, a controller, or a guard, pipe, interceptor or filter of a route. */
type InstanceWrapper = ReturnType<NestModule['providers']['get']> & object;

/**
 * Scans all providers, controllers, and guards, pipes, interceptors and filters of routes at boot, and those of each module that
 * is loaded lazily. Of those with locked methods it sets the interceptor on the instances that Nest did not construct itself
 * (`useFactory`, `useValue`), and checks that every plan can be carried out; it never wraps a method. The leadership handlers it
 * registers with their elections.
 */
@Injectable()
export class LockExplorer implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  readonly #checked = new Set<LockPlan>();
  /** Instances with handlers, of which one may be registered under several tokens; and their classes. */
  readonly #connected = new WeakSet<object>();
  /** Instances that other apps may have, too. */
  readonly #shared = new Set<object>();
  readonly #warned = new WeakSet<object>();

  constructor(
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(LOCK_CLIENTS) private readonly clients: LockClients,
    @Inject(LEADER_ELECTIONS) private readonly elections: LeaderElections,
    private readonly planner: LockInterceptor,
    private readonly lazyModules: LazyModuleLoader,
    // Another one, if a test has put it in place.
    @Inject(LOCK_INTERCEPTOR) private readonly interceptor: object,
  ) {}

  async onModuleInit(): Promise<void> {
    warnOfCopies();
    await this.clients.bootStep(() => this.#explore());
    const { lazyModules } = this;
    const load = lazyModules.load.bind(lazyModules);
    const loadAndExplore: typeof load = async (...request) => {
      const loaded = await load(...request);
      await this.#explore();
      return loaded;
    };
    lazyModules.load = loadAndExplore;
  }

  /** Calls on values that another app has, too, are from now on its own. */
  onApplicationShutdown(): void {
    for (const instance of this.#shared) InstanceWiring.unshare(instance, this.interceptor);
  }

  async #explore(): Promise<void> {
    for (const module of this.modules.values()) refuseRequestScopedOptions(module);
    for (const wrapper of this.#wrappers()) {
      // For a request-scoped or transient class, Nest made `instance` without calling the constructor.
      const instance: unknown = wrapper.instance;
      if (typeof instance !== 'object' || instance === null) continue;
      if (Reflect.hasMetadata(LOCK_PLANS, instance)) this.#visitPlans(instance);
      if (Reflect.hasMetadata(LEADERSHIP_HANDLERS, instance))
        this.#visitHandlers(wrapper, instance);
    }
    for (const plan of this.#checked) await this.planner.prepare(plan).ready();
  }

  /** Nest's `DiscoveryService` does not know those of the routes, which their classes name only. */
  #wrappers(): InstanceWrapper[] {
    const modules = [...this.modules.values()];
    const kinds = ['providers', 'controllers', 'injectables'] as const;
    return kinds.flatMap((kind) => modules.flatMap((module) => [...module[kind].values()]));
  }

  #visitPlans(instance: object): void {
    for (const plan of LockPlans.of(instance)) this.#check(plan);
    this.#warnOfOverrides(Object.getPrototypeOf(instance) as object);
    if (InstanceWiring.get(instance) === this.interceptor) return;
    this.#shared.add(instance);
    InstanceWiring.share(instance, this.interceptor);
  }

  #warnOfOverrides(prototype: object): void {
    if (this.#warned.has(prototype)) return;
    this.#warned.add(prototype);
    for (const { override, name, plan } of LockPlans.overridden(prototype))
      this.#logger.warn(
        `${override} runs without a lock: it overrides ${plan.method}, which has @${plan.decorator}. Repeat the decorator on it, or call super.${name}().`,
      );
  }

  #check(plan: LockPlan): void {
    if (this.#checked.has(plan)) return;
    this.planner.prepare(plan);
    this.#checked.add(plan);
    const { method, lock, options } = plan;
    this.#mapped(method, lock.recipe ?? 'mutex', options.client);
  }

  #visitHandlers(wrapper: InstanceWrapper, instance: object): void {
    // Each module has an instance of its own of what its routes name.
    const isOfRoutes = wrapper.subtype !== undefined;
    if (this.#connected.has(isOfRoutes ? instance.constructor : instance)) return;
    this.#connected.add(instance).add(instance.constructor);
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
