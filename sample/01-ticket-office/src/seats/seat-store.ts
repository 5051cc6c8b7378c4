import type { RushResult } from '../rush/rush-result.js';
import type { Show } from './show.js';

/** Where the seats are counted. Every call takes a moment, as it does with a database. */
export abstract class SeatStore {
  /** Opens the sale anew. From now on every call takes `latency` milliseconds. */
  abstract open(latency: number): Promise<void>;

  abstract load(): Promise<Show>;

  /** Writes how many seats are left now that `seat` is sold. */
  abstract save(left: number, seat: number): Promise<void>;

  /** Notes how a rush went. */
  abstract record(rush: RushResult): Promise<void>;
}
