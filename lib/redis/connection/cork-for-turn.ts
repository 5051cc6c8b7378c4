/** What we need of a socket. */
export interface Corkable {
  readonly writableCorked: number;
  cork(): void;
  uncork(): void;
}

/**
 * Holds back what is written to the socket until this turn of the event loop is over, so that it goes out in one packet: of
 * all that a command costs this process, writing it to the socket costs most.
 */
export function corkForTurn(socket: Corkable | undefined): void {
  if (socket === undefined || socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}
