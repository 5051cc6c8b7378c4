import type { LoggerService } from '@nestjs/common';
import type { LockEvents } from './core/index.js';

/** A listener that logs what happens to the connection of a client, as loudly as it matters to the locks. */
export function connectionLogger(
  logger: LoggerService,
  client: string,
): (event: LockEvents['connection']) => void {
  let last = 'CONNECTING';
  return ({ state, reason }) => {
    const isFailedAttempt = state === last;
    last = state;
    const line = `Lock client "${client}": ${state} (${reason})`;
    if (isFailedAttempt) logger.warn(`Lock client "${client}" cannot connect: ${reason}`);
    else if (state === 'CONNECTED' || state === 'RECONNECTED') logger.log(line);
    else if (state === 'LOST') logger.error(`${line}; all its locks are lost`);
    else if (state !== 'CLOSED') logger.warn(line);
  };
}
