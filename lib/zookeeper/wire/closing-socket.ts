import type { Socket } from 'node:net';
import type { Clock } from '../../core/clock.js';

/** How long the socket of a closed link waits for a server that has fallen silent, in ms. */
const PATIENCE = 2_500;
/** How long it waits for one that goes on sending, in ms: it answers what was asked before, and then hangs up. */
const LONGEST = 10_000;

/**
 * Destroys the socket of a link that has notified the server of its end: the server hangs up when it has read that. One that does not, in
 * 2.5 s without a byte, or in 10 s, must not keep the process alive.
 */
export function destroyUnlessEnded(socket: Socket, clock: Clock): void {
  const destroy = () => void socket.destroy();
  const listen = () => clock.setTimer(destroy, PATIENCE);
  const atLast = clock.setTimer(destroy, LONGEST);
  let silence = listen();
  socket.on('data', () => {
    silence.cancel();
    silence = listen();
  });
  socket.once('close', () => {
    silence.cancel();
    atLast.cancel();
  });
}

/** Why the server may have closed a connection on which it has accepted no session. */
export const NOT_ACCEPTED =
  'the server closed the connection before it accepted the session: it may have no quorum, too many connections, or less data than this client has seen';

/**
 * Why a socket has failed. A server that has too many connections resets them, before they can be written to or after, and the error of
 * the socket alone does not say so.
 *
 * @param closed what is said of a server that closes the connection now
 */
export function socketFailure({ message, code }: NodeJS.ErrnoException, closed: string): string {
  const isReset = code === 'ECONNRESET' || code === 'EPIPE';
  return isReset ? `${closed} (${message})` : message;
}
