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
