import type { Registration, Renewable } from '../connection/renewal-schedule.js';

/**
 * Has the watchdog ask whether the server still knows a hold whose lease is not renewed: nothing else would detect that it has
 * forgotten it, as after a failover that keeps the connections.
 *
 * Invariants:
 * - It changes no lease: it is sent with the lease 0.
 * - A server that was demoted does not confirm the hold: it refuses the script, as it refuses renewals.
 */
export class HoldCheck implements Renewable {
  readonly lease = 0;
  registration?: Registration;
  /** When the last command was sent that has confirmed the hold. */
  confirmedAt = -Infinity;

  /** @param period time within which it is asked for, in ms */
  constructor(
    private readonly hold: Pick<Renewable, 'keys' | 'field' | 'kind' | 'deadline' | 'gone'>,
    readonly period: number,
  ) {}

  get keys(): Renewable['keys'] {
    return this.hold.keys;
  }

  get field(): Renewable['field'] {
    return this.hold.field;
  }

  get kind(): Renewable['kind'] {
    return this.hold.kind;
  }

  get deadline(): number {
    return this.hold.deadline;
  }

  renewed(sentAt: number): void {
    this.confirmedAt = sentAt;
  }

  gone(): void {
    this.hold.gone();
  }

  /** The hold has a timer for that. */
  expired(): void {}
}
