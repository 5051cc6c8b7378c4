/**
 * What a decorated call locks.
 *
 * - A text: one lock for all calls. Placeholders `{0}` and `{0.order.id}` stand for an argument, counted from 0, and what
 *   is inside of it: `'order:{0.id}'`.
 * - A function of the method's arguments, or of the first of them: `(order: Order) => `order:${order.id}``.
 */
export type LockKey<A extends unknown[] = []> = string | ((...args: A) => string);
