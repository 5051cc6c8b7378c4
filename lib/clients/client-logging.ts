import type { LoggerService } from '@nestjs/common';
import type { LockClient, LockEvents, LockSubject } from '../core/index.js';

const inMs = (ms: number) => `${ms.toFixed(1)} ms`;

/** Logs the operations of all locks of `client` at the level `verbose`. */
export function logOperations(logger: LoggerService, client: LockClient): void {
  const log = (what: string, subject: LockSubject, rest = '') => {
    const { recipe, key, participant, method = participant } = subject;
    const by = method === undefined ? '' : ` for ${method}`;
    logger.verbose?.(`Lock client "${client.name}": ${what} ${recipe} "${key}"${by}${rest}`);
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

/** Creates a listener that logs the connection events of a client, at a level that fits their effect on the locks. */
export function connectionLogger(
  logger: LoggerService,
  client: string,
): (event: LockEvents['connection']) => void {
  const states = new Map<number | undefined, { state: string; hasFailed: boolean }>();
  return ({ state, reason, server }) => {
    const last = states.get(server) ?? { state: 'CONNECTING', hasFailed: false };
    // A failed attempt is an event with an unchanged state; only the first one is logged until the state changes.
    if (state === last.state) {
      if (!last.hasFailed)
        logger.warn(`Lock client "${client}" cannot connect: ${reason}; it goes on trying`);
      states.set(server, { state, hasFailed: true });
      return;
    }
    states.set(server, { state, hasFailed: false });
    const line = `Lock client "${client}": ${state} (${reason})`;
    if (state === 'CONNECTED' || state === 'RECONNECTED') logger.log(line);
    else if (state === 'LOST') logger.error(`${line}; all its locks are lost`);
    else if (state !== 'CLOSED') logger.warn(line);
  };
}
