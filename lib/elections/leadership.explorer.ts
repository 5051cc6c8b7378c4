import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LockOrchestrator } from '../clients/lock.orchestrator.js';
import { LockDecoratorTargetError } from '../core/index.js';
import type { LeadershipHandler } from '../interfaces/leader-options.interface.js';
import { DEFAULT_LOCK_CLIENT, LEADERSHIP_HANDLERS } from '../lock.constants.js';
import { withMethodInErrors } from '../plans/define-plan.js';
import { LeadershipHandlers } from '../plans/leadership-handlers.js';
import { LeaderElections } from './leader-elections.js';

/** Nest's record of a provider or a controller. */
type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Scans all providers and controllers at boot for leadership handlers and registers them with their elections. */
@Injectable()
export class LeadershipExplorer implements OnModuleInit {
  readonly #logger = new Logger('LockModule');
  /** One instance may be registered under several tokens. */
  readonly #explored = new WeakSet<object>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly orchestrator: LockOrchestrator,
    private readonly elections: LeaderElections,
  ) {}

  async onModuleInit(): Promise<void> {
    const wrappers = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    await this.orchestrator.bootStep(() => {
      for (const wrapper of wrappers) this.#explore(wrapper);
    });
  }

  #explore(wrapper: InstanceWrapper): void {
    const instance: unknown = wrapper.instance;
    if (typeof instance !== 'object' || instance === null || this.#explored.has(instance)) return;
    if (!Reflect.hasMetadata(LEADERSHIP_HANDLERS, instance)) return;
    this.#explored.add(instance);
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
    this.#logger.debug(
      `Mapped {${method}, ${decorator} of "${name}", ${client ?? DEFAULT_LOCK_CLIENT}}`,
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
