import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { MethodLock } from '../calls/method-lock.js';
import type { LockPlan, LockTracer } from '../interfaces/lock-plan.interface.js';
import type { LeaderElections } from '../elections/leader-elections.js';
import type { LockClients } from '../clients/lock-clients.js';
import { LEADER_ELECTIONS, LOCK_CLIENTS, LOCK_TRACER } from '../lock.constants.js';

const logger = new Logger('LockModule');

/** Handles every call of a locked method of an app: the one place where decorators meet locks. */
@Injectable()
export class LockInterceptor {
  readonly #locks = new WeakMap<LockPlan, MethodLock>();

  constructor(
    @Inject(LOCK_CLIENTS) private readonly clients: LockClients,
    @Inject(LEADER_ELECTIONS) private readonly elections: LeaderElections,
    @Optional() @Inject(LOCK_TRACER) private readonly tracer?: LockTracer,
  ) {}

  /**
   * Runs `proceed` under the lock of `plan` for these arguments; settles as it does.
   *
   * @param signal aborts the wait for the lock
   * @param self the instance, which is `this` in the functions of the decorator
   */
  around(
    plan: LockPlan,
    args: unknown[],
    proceed: () => unknown,
    signal?: AbortSignal,
    self?: unknown,
  ): Promise<unknown> {
    return this.prepare(plan).run({ self, args, proceed, signal });
  }

  /**
   * Returns the lock of a plan; it is resolved once.
   *
   * @throws LockClientUnknownError, LockKeyError, LockOptionsError naming the method
   */
  prepare(plan: LockPlan): MethodLock {
    let lock = this.#locks.get(plan);
    if (lock === undefined) {
      const { clients, elections, tracer } = this;
      lock = new MethodLock(plan, { clients, elections, tracer, logger });
      this.#locks.set(plan, lock);
    }
    return lock;
  }
}
