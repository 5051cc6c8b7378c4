/** The waiting actors of this process. */
export class Waiters {
  private static count = 0;

  /** How many there are. */
  static get waiting(): number {
    return Waiters.count;
  }

  /** Counts one more until that promise settles. */
  static async during<T>(wait: () => Promise<T>): Promise<T> {
    Waiters.count += 1;
    try {
      return await wait();
    } finally {
      Waiters.count -= 1;
    }
  }
}
