import type { LoggerService } from '@nestjs/common';
import type { LockEvents } from './core/index.js';

/** A listener that logs what happens to the connection of a client, as loudly as it matters to the locks. */
export function connectionLogger(
  logger: LoggerService,
  client: string,
): (event: LockEvents['connection']) => void {
  const states = new Map<number | undefined, { state: string; hasFailed: boolean }>();
  return ({ state, reason, server }) => {
    const last = states.get(server) ?? { state: 'CONNECTING', hasFailed: false };
    // A failed attempt comes as the state that it has not changed; the first of many is enough.
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
