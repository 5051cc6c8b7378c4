import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { LazyModuleLoader, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { LockClients } from './clients/lock-clients.js';
import { type NestModule, refuseRequestScopedOptions } from './clients/request-scoped-options.js';
import { type LeaderLatch, LockDecoratorTargetError } from './core/index.js';
import { LeaseScope } from './core/internal/lease-scope.js';
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
} from './lock.constants.js';
import { withMethodInErrors } from './plans/define-plan.js';
import { InstanceWiring } from './plans/instance-wiring.js';
import { LeadershipHandlers } from './plans/leadership-handlers.js';
import { LockPlans } from './plans/plan-metadata.js';

/** Nest's record of a provider, a controller, or a guard, pipe, interceptor or filter of a route. */
type InstanceWrapper = ReturnType<NestModule['providers']['get']> & object;
type MarkedWrapper = InstanceWrapper & { instance: object };

/**
 * Scans all providers, controllers, middleware, and guards, pipes, interceptors and filters of routes at boot, and those of each
 * module that is loaded lazily. Of those with locked methods it sets the interceptor on the instances that Nest did not construct itself
 * (`useFactory`, `useValue`), and checks that every plan can be carried out; it never wraps a method. The leadership handlers it
 * registers with their elections.
 */
@Injectable()
export class LockExplorer implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger('LockModule');
  #hasBooted = false;
  /** Number of loads under way. While there is none, all modules are complete. */
  #loads = 0;
  /** Modules that were complete, as was all that they import. */
  readonly #explored = new WeakSet<NestModule>();
  readonly #checked = new WeakSet<LockPlan>();
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
    lazyModules: LazyModuleLoader,
    // Another one, if a test has put it in place.
    @Inject(LOCK_INTERCEPTOR) private readonly interceptor: object,
  ) {
    const load = lazyModules.load.bind(lazyModules);
    const loadAndExplore: typeof load = async (...request) => {
      this.#loads += 1;
      const loaded = await load(...request).finally(() => (this.#loads -= 1));
      if (this.#hasBooted) await this.#exploreLoaded(this.#unexplored(loaded));
      return loaded;
    };
    lazyModules.load = loadAndExplore; // before the boot, which may leave a load behind that ends later
  }

  async onModuleInit(): Promise<void> {
    warnOfCopies();
    this.#hasBooted = true; // loads that end from now on are not in the boot's hands
    // None counts as explored: a load that began before `load` was wrapped may still be building it.
    await this.clients.bootStep(() => this.#explore([...this.modules.values()]));
  }

  /** Calls on values that another app has, too, are from now on its own. */
  onApplicationShutdown(): void {
    for (const instance of this.#shared) InstanceWiring.unshare(instance, this.interceptor);
  }

  async #exploreLoaded(modules: readonly NestModule[]): Promise<void> {
    if (await this.#explore(modules)) for (const module of modules) this.#explored.add(module);
  }

  /**
   * Checks all before it wires or connects anything: what is refused neither leads nor has its values wired, and stays unexplored,
   * so that each further load of it is refused as well. What other loads may be building stays so, too: they explore it at their end.
   * Resolves to whether there were none.
   */
  async #explore(modules: readonly NestModule[]): Promise<boolean> {
    for (const module of modules) refuseRequestScopedOptions(module);
    const areComplete = this.#loads === 0;
    const built = modules.flatMap(wrappersOf).filter(isMarked).filter(isBuilt);
    const plans = built.flatMap(({ instance }) => LockPlans.of(instance));
    for (const plan of plans) this.#check(plan);
    for (const plan of plans) await this.planner.prepare(plan).ready();
    for (const wrapper of built) this.#checkHandlers(wrapper);
    for (const { instance } of built) if (LockPlans.has(instance)) this.#wire(instance);
    for (const wrapper of built) this.#connectHandlers(wrapper);
    return areComplete;
  }

  /** The module of that reference and all that it imports, which is all that its load has built. */
  #unexplored(loaded: ModuleRef): NestModule[] {
    const isTarget = ({ providers }: NestModule) => providers.get(ModuleRef)?.instance === loaded;
    const found = new Set([...this.modules.values()].filter(isTarget));
    for (const module of found) {
      if (this.#explored.has(module)) found.delete(module);
      else for (const imported of module.imports) found.add(imported);
    }
    return [...found];
  }

  #wire(instance: object): void {
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

  #checkHandlers(wrapper: MarkedWrapper): void {
    for (const handler of LeadershipHandlers.of(wrapper.instance)) {
      refuseUnlessSingleton(wrapper, handler);
      this.#latchOf(handler);
    }
  }

  #connectHandlers({ instance, subtype, host }: MarkedWrapper): void {
    // Each module has an instance of its own of what its routes name, and of middleware, which alone has no host.
    const isOfRoutes = subtype !== undefined || host === undefined;
    if (this.#connected.has(isOfRoutes ? instance.constructor : instance)) return;
    this.#connected.add(instance).add(instance.constructor);
    const handlers = LeadershipHandlers.of(instance);
    for (const handler of handlers) this.#connect(instance, handler);
    for (const handler of handlers) this.#catchUp(instance, handler);
  }

  #connect(instance: object, handler: LeadershipHandler): void {
    const { decorator, method, election, client } = handler;
    const latch = this.#latchOf(handler);
    const call = (news: unknown) => this.#call(instance, handler, news);
    if (decorator === 'OnLeadership') latch.onLeadership(call);
    else latch.onLeadershipLost(call);
    this.#mapped(method, `${decorator} of "${election}"`, client);
  }

  /**
   * Calls what was loaded when the app led already. In the turn in which it was connected, so that it is called once for each term:
   * here for the one that has begun, by the latch for later ones; and after all of its instance are, which hear of the end.
   */
  #catchUp(instance: object, handler: LeadershipHandler): void {
    const { leadership } = this.#latchOf(handler);
    if (handler.decorator !== 'OnLeadership' || leadership === undefined) return;
    void LeaseScope.runOutside(() => this.#call(instance, handler, leadership));
  }

  #latchOf(handler: LeadershipHandler): LeaderLatch {
    const { method, election, client } = handler;
    return withMethodInErrors(handler, () =>
      this.elections.of(election, { client }, method).join(method),
    );
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

/** Nest's `DiscoveryService` does not know those of the routes, which their classes name only, and middleware. */
function wrappersOf(module: NestModule): InstanceWrapper[] {
  const { providers, controllers, injectables, middlewares } = module;
  return [providers, controllers, injectables, middlewares].flatMap((them) => [...them.values()]);
}

/** Whether it has locked methods or leadership handlers. */
function isMarked(wrapper: InstanceWrapper): wrapper is MarkedWrapper {
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) return false;
  return LockPlans.has(instance) || Reflect.hasMetadata(LEADERSHIP_HANDLERS, instance);
}

/**
 * Nest makes the instance of a class before it calls the constructor, and sets the `initTime` of a singleton when that and the
 * properties are complete. Of a request-scoped or transient class, there never is more than this instance.
 */
function isBuilt(wrapper: MarkedWrapper): boolean {
  if (wrapper.isNotMetatype || wrapper.initTime !== undefined) return true;
  return !isSingleton(wrapper);
}

const isSingleton = (wrapper: InstanceWrapper) =>
  !wrapper.isTransient && wrapper.isDependencyTreeStatic();

function refuseUnlessSingleton(wrapper: InstanceWrapper, { decorator, method }: LeadershipHandler) {
  if (isSingleton(wrapper)) return;
  throw new LockDecoratorTargetError(
    decorator,
    method,
    'its class is not a singleton: it is transient, or request-scoped by itself or by what it injects',
    'Move it to a singleton provider or controller.',
    'call',
  );
}
