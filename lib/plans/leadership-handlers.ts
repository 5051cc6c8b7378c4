import { LockDecoratorTargetError, LockOptionsError } from '../core/index.js';
import type {
  LeaderElectionOptions,
  LeadershipHandler,
} from '../interfaces/leader-options.interface.js';
import { LEADERSHIP_HANDLERS } from '../lock.constants.js';
import { methodTarget } from './decorator-target.js';
import { givenOptions, validateDecoratorOptions } from './decorator-options.js';
import { withMethodInErrors, validateElectionName } from './define-plan.js';
import { LockDefaultsMetadata, omitUndefined } from './plan-metadata.js';

const above = (object: object) => Object.getPrototypeOf(object) as object | null;

const own = (prototype: object) =>
  Reflect.getOwnMetadata(LEADERSHIP_HANDLERS, prototype) as LeadershipHandler[] | undefined;

/** The methods of a class that are called when leadership is gained or lost, as metadata of its prototype. */
export const LeadershipHandlers = {
  /** Creates a decorator that adds the decorated method. */
  define(
    decorator: LeadershipHandler['decorator'],
    election: string,
    options: LeaderElectionOptions,
  ) {
    const { client } = givenOptions(options);
    return (target: object, property: string | symbol, descriptor?: PropertyDescriptor): void => {
      const { method, isStatic } = methodTarget(decorator, target, property, 'call');
      if (isStatic) refuse(decorator, method, 'it is static, and only instances are called');
      if (typeof descriptor?.value !== 'function') refuse(decorator, method, 'it is not a method');
      withMethodInErrors({ decorator, method }, () => {
        validateDecoratorOptions(decorator, options);
        validateElectionName(election);
        if (client !== undefined && (typeof client !== 'string' || client === ''))
          throw new LockOptionsError('client', client, 'the name of a lock client');
      });
      const handlers = [...(own(target) ?? []), { decorator, method, property, election, client }];
      Reflect.defineMetadata(LEADERSHIP_HANDLERS, handlers, target);
    };
  },

  /**
   * Handlers of the class of `instance` and of its superclasses, with the client of its `@LockDefaults`. A method that
   * overrides one of a superclass and repeats its decorator, election and client counts once.
   */
  of(instance: object): readonly LeadershipHandler[] {
    const defaults = LockDefaultsMetadata.of(instance);
    const handlers: LeadershipHandler[] = [];
    for (let it: object | null = instance; it !== null; it = above(it))
      for (const handler of own(it) ?? []) {
        const complete = { client: defaults?.client, ...omitUndefined(handler) };
        if (!handlers.some((other) => isSame(other, complete))) handlers.push(complete);
      }
    return handlers;
  },
};

const isSame = (one: LeadershipHandler, other: LeadershipHandler) =>
  (['decorator', 'property', 'election', 'client'] as const).every((it) => one[it] === other[it]);

function refuse(decorator: string, method: string, why: string): never {
  const advice = 'Put it on a method of a singleton provider or controller.';
  throw new LockDecoratorTargetError(decorator, method, why, advice, 'call');
}
