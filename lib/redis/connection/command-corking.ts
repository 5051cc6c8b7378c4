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
 * process, writing it to the socket costs most. Nothing is held back beyond the turn, nor the first command of a turn where
 * the turn before had no second one.
 */
export class CommandCorking {
  /** Of this turn. */
  #commands = 0;
  #wasAlone = false;
  /** Of the packet that is being filled. */
  #left = 0;
  #size = FIRST_SIZE;

  /** To be called before each command. */
  next(socket: Corkable | undefined): void {
    if (socket === undefined) return;
    if (this.#commands === 0) process.nextTick(this.#endTurn);
    this.#commands += 1;
    if (this.#commands === 1 && this.#wasAlone) return;
    if (socket.writableCorked === 0) {
      this.#begin(FIRST_SIZE);
      socket.cork();
      process.nextTick(() => socket.uncork());
    } else if (this.#left === 0) {
      this.#begin(Math.min(2 * this.#size, LARGEST_SIZE));
      socket.uncork();
      socket.cork();
    }
    this.#left -= 1;
  }

  readonly #endTurn = (): void => {
    this.#wasAlone = this.#commands === 1;
    this.#commands = 0;
  };

  #begin(size: number): void {
    this.#left = size;
    this.#size = size;
  }
}
