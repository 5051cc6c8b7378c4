import { Injectable } from '@nestjs/common';
import { defer, Observable, type ObservableInput } from 'rxjs';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { LockClientRegistry } from '../lock-client.registry.js';
import { PlannedLock } from './planned-lock.js';

/** What every locked method of an app goes through: the one place where decorators meet locks. */
@Injectable()
export class LockInterceptor {
  readonly #locks = new WeakMap<LockPlan, PlannedLock>();

  constructor(private readonly clients: LockClientRegistry) {}

  /**
   * Runs `proceed` under the lock of `plan` for these arguments; settles as it does.
   *
   * @param signal ends the wait for the lock
   */
  around(
    plan: LockPlan,
    args: unknown[],
    proceed: () => unknown,
    signal?: AbortSignal,
  ): Promise<unknown> {
    return this.prepare(plan).run(args, proceed, signal);
  }

  /** Subscribes to what `proceed` gives under the lock, and holds that until the stream ends or nobody listens. */
  stream(
    plan: LockPlan,
    args: unknown[],
    proceed: () => ObservableInput<unknown>,
  ): Observable<unknown> {
    return new Observable((subscriber) => {
      const unsubscribed = new AbortController();
      subscriber.add(() => unsubscribed.abort());
      const flow = () =>
        new Promise<undefined>((resolve, reject) => {
          if (subscriber.closed) return resolve(undefined);
          const source = defer(proceed).subscribe({
            next: (value) => subscriber.next(value),
            error: reject,
            complete: () => resolve(undefined),
          });
          subscriber.add(() => {
            source.unsubscribe();
            resolve(undefined);
          });
        });
      // The end is told after the release, as a method's promise settles after it.
      this.around(plan, args, flow, unsubscribed.signal).then(
        (instead) => {
          if (instead !== undefined) subscriber.next(instead);
          subscriber.complete();
        },
        (error) => subscriber.error(error),
      );
    });
  }

  /**
   * The lock of a plan; looked up once.
   *
   * @throws LockClientUnknownError, LockKeyError, LockOptionsError naming the method
   */
  prepare(plan: LockPlan): PlannedLock {
    let lock = this.#locks.get(plan);
    if (lock === undefined) {
      lock = new PlannedLock(plan, this.clients);
      this.#locks.set(plan, lock);
    }
    return lock;
  }
}
