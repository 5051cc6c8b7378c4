import { LockLostError } from '../../lib/core/errors/index.js';
import type { SimulatedClient } from './client.js';
import type { SimulatedLock } from './locks.js';
import { Observer } from './observer.js';
import type { ObservedHold } from './operation.js';

/**
 * A lock that is lost because the servers were silent was endangered before, as the event says while it is still held; and none is
 * where nothing is wrong.
 */
export class WarningRule extends Observer {
  readonly #warnedAt = new Map<SimulatedClient, Map<string, number>>();

  joined(client: SimulatedClient): void {
    const warnedAt = new Map<string, number>();
    this.#warnedAt.set(client, warnedAt);
    client.events.on('endangered', ({ key, safeForMs }) => {
      this.note('endangered', `${key} of ${client.name}`);
      warnedAt.set(key, this.now);
      if (safeForMs <= 0) this.accuse(`${key} of ${client.name} is endangered when it is lost`);
      if (this.now > client.calmSince + client.sessionTimeout)
        this.accuse(`${key} of ${client.name} is endangered by nothing`);
    });
  }

  lost({ id, client, lock, parts, grantedAt }: ObservedHold, reason: unknown): void {
    if (parts.length > 0) return; // its parts are
    if (!(reason instanceof LockLostError) || !SILENCE.test(reason.message)) return;
    const since = this.now - reason.confirmedAgoMs!;
    // A process that does not run warns of nothing; a lock that is granted in doubt is endangered from the start.
    if (client.process.thawedAt >= since || grantedAt > since) return;
    const warnedAt = this.#warnedAt.get(client)!.get((lock as SimulatedLock).key) ?? -Infinity;
    if (warnedAt < since) this.accuse(`hold ${id} is lost without a warning`);
  }
}

const SILENCE = /no proof/;
