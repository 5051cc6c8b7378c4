import { setImmediate } from 'node:timers';

// All are captured at load time, because fake timers of a test runner replace the global ones.

/** Calls a function when the microtasks that are due have run. */
export const microtask = globalThis.queueMicrotask;

/** Calls a function when all microtasks have run. */
export const nextTick = process.nextTick.bind(process);

/** Calls a function in a later turn of the event loop. */
export const nextTurn = setImmediate;
