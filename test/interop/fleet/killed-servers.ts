import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import type { Accident } from './accident.js';

/** One server after the other is killed and started again, so many of them, one every `interval` ms. */
export function killedServers(kills: number, interval: number): Accident {
  return {
    name: 'killed servers',
    async happen({ ensemble, history }) {
      for (let n = 0; n < kills; n++) {
        const victim = ensemble.servers[n % ensemble.servers.length]!;
        await Promise.all([delay(interval), victim.kill().then(() => victim.restart())]);
        const then = new Map(history.grants);
        await eventually('the fleet goes on', () => history.hasServedAll(then), { within: 30_000 });
      }
    },
  };
}
