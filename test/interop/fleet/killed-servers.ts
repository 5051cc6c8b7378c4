import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import type { Accident } from './accident.js';
import type { ZooKeeperGround } from './zookeeper-ground.js';

/** That many times a server is killed and restarted, the leader and a follower in turn, one every `interval` ms. */
export function killedServers(kills: number, interval: number): Accident<ZooKeeperGround> {
  return {
    name: 'killed servers',
    async happen({ ground: { ensemble }, history }) {
      for (let n = 0; n < kills; n++) {
        const leader = await ensemble.leader();
        const victim = n % 2 === 0 ? leader : ensemble.servers.find((server) => server !== leader)!;
        await Promise.all([delay(interval), victim.kill().then(() => victim.restart())]);
        const then = new Map(history.grants);
        await eventually('the fleet goes on', () => history.hasServedAll(then), { within: 30_000 });
      }
    },
  };
}
