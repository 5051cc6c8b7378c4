/** What a lock is to protect: it notices when two are inside. */
export class CriticalSection {
  private inside = 0;
  /** The most that were ever inside at once. */
  most = 0;
  /** The visitors, in the order in which they came in. */
  readonly visitors: string[] = [];

  enter(visitor: string): void {
    this.visitors.push(visitor);
    this.most = Math.max(this.most, (this.inside += 1));
  }

  leave(): void {
    this.inside -= 1;
  }
}
