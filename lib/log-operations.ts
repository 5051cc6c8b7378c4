import type { LoggerService } from '@nestjs/common';
import type { LockClient, LockSubject } from './core/index.js';

/** Logs whatever the locks of `client` do, at the level `verbose`. */
export function logOperations(logger: LoggerService, client: LockClient): void {
  const log = (what: string, subject: LockSubject, rest = '') => {
    const { recipe, key, participant, method = participant } = subject;
    const who = method === undefined ? '' : ` for ${method}`;
    logger.verbose?.(`Lock client "${client.name}": ${what} ${recipe} "${key}"${who}${rest}`);
  };
  client.on('acquired', (event) => log('acquired', event, ` after ${inMs(event.waitedMs)}`));
  client.on('contended', (event) => log('waits for', event));
  client.on('released', (event) => log('released', event, ` after ${inMs(event.heldMs)}`));
  client.on('lost', (event) => log('lost', event, ` after ${inMs(event.heldMs)}`));
  client.on('failed', (event) => {
    const why = event.error instanceof Error ? event.error.name : 'an error';
    log('was not granted', event, ` within ${inMs(event.waitedMs)}: ${why}`);
  });
}

const inMs = (ms: number) => `${ms.toFixed(1)} ms`;
