import type { LoggerService } from '@nestjs/common';
import { systemClock } from '../core/clock.js';
import { stallText } from '../core/errors/lock-lost-error.js';
import type { LockClient, LockEvents, LockSubject } from '../core/index.js';

const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
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

/** Locks that are endangered at once are one line, and another one for the rest of them, so many ms later. */
const OF_ONE_MOMENT = 1_000;

/** Creates a listener that warns of locks that may be lost soon. */
export function endangeredLogger(
  logger: Pick<LoggerService, 'warn'>,
  client: string,
  clock = systemClock,
): (event: LockEvents['endangered']) => void {
  /** Number of those that were not logged; `undefined` if the next one is. */
  let others: number | undefined;
  return ({ key, method, participant = method, confirmedAgoMs, safeForMs, stall }) => {
    if (others !== undefined) {
      others += 1;
      return;
    }
    const by = participant === undefined ? '' : ` of ${participant}`;
    const why = stall === undefined ? '' : ` (${stallText(stall)})`;
    logger.warn(
      `Lock client "${client}": the servers have not confirmed lock "${key}"${by} for ${inSeconds(confirmedAgoMs)}${why}; it is lost in ${inSeconds(safeForMs)}`,
    );
    others = 0;
    const logOthers = () => {
      if (others! > 0)
        logger.warn(`Lock client "${client}": the same is true of ${others} more of its locks`);
      others = undefined;
    };
    clock.setTimer(logOthers, OF_ONE_MOMENT, true);
  };
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
