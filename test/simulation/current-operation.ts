import { AsyncLocalStorage } from 'node:async_hooks';
import type { Operation } from './operation.js';

/** The operation in whose calls the running code is: so a request tells which acquire sent it. */
export const currentOperation = new AsyncLocalStorage<Operation>();
