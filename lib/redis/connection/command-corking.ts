/** The part of a socket that is used here. */
export interface Corkable {
  readonly writableCorked: number;
  cork(): void;
  uncork(): void;
}

/** Commands in the first packet of a turn: few, so that the server has work soon. */
const FIRST_SIZE = 2;
/** Maximum number of commands in one packet: the size doubles with each packet, up to this one. */
const LARGEST_SIZE = 8;

/**
 * Groups the commands that one turn of the event loop writes to a socket into few packets: the socket write is the largest
 * cost of a command in this process. No command is held back beyond its turn, and the first command of a turn is not held
 * back at all if the turn before had only one.
 */
export class CommandCorking {
  /** Number of commands in this turn. */
  #commands = 0;
  #wasAlone = false;
  /** Number of commands that the current packet still takes. */
  #left = 0;
  #size = FIRST_SIZE;

  /** Must be called before each command. */
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
