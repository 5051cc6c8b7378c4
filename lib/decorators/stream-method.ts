import { asyncGeneratorMethod } from './async-generator-method.js';
import type { MethodShape } from './method-shape.js';
import { observableMethod } from './observable-method.js';
import { tagOf } from './tag-of.js';

/** The shape that a method has, of those of streams. */
export function streamMethod(method: unknown): MethodShape {
  const isGenerator = typeof method === 'function' && tagOf(method) === 'AsyncGeneratorFunction';
  return isGenerator ? asyncGeneratorMethod : observableMethod;
}
