/** What we need of a socket. */
export interface Corkable {
  readonly writableCorked: number;
  cork(): void;
  uncork(): void;
}

/** Commands in the first packet of a turn: the server is to have work soon. */
const FIRST_SIZE = 2;
/** Commands in one packet at most: each is twice the one before. */
const LARGEST_SIZE = 8;

/**
 * Puts the commands that one turn of the event loop writes to a socket into few packets: of all that a command costs this
 * process, writing it to the socket costs most. Nothing is held back beyond the turn.
 */
export class Packets {
  #commands = 0;
  #size = FIRST_SIZE;

  /** To be called before each command. */
  next(socket: Corkable | undefined): void {
    if (socket === undefined) return;
    if (socket.writableCorked === 0) {
      this.#begin(FIRST_SIZE);
      socket.cork();
      process.nextTick(() => socket.uncork());
    } else if (this.#commands === this.#size) {
      this.#begin(Math.min(2 * this.#size, LARGEST_SIZE));
      socket.uncork();
      socket.cork();
    }
    this.#commands += 1;
  }

  #begin(size: number): void {
    this.#commands = 0;
    this.#size = size;
  }
}
