import { AsyncLocalStorage } from 'node:async_hooks';
import type { Operation } from './operation.js';

/** The operation of which the calls are running: it identifies the acquire that sent a request. */
export const currentOperation = new AsyncLocalStorage<Operation>();
