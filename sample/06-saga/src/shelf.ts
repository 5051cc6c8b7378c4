import { setTimeout as pause } from 'node:timers/promises';

/** Numbers by name, behind a service that takes a moment: the stock of the warehouse, the balances of the bank. */
export class Shelf {
  private readonly numbers: Map<string, number>;

  constructor(numbers: Record<string, number>) {
    this.numbers = new Map(Object.entries(numbers));
  }

  get(name: string): number {
    return this.numbers.get(name) ?? 0;
  }

  /**
   * Reads the number, and writes it with the change. It knows of no lock.
   *
   * @returns false, and nothing is changed, when there is not enough
   */
  async change(name: string, by: number): Promise<boolean> {
    const before = this.get(name);
    await pause(5);
    if (before + by < 0) return false;
    this.numbers.set(name, before + by);
    return true;
  }
}
