import { parentPath } from '../../lib/zookeeper/connection/znode-path.js';
import { Timing } from './timing.js';
import type { SimulatedClient } from './simulated-client.js';
import type { World } from './world.js';

/** Closes all clients of a world without faults, and looks for what they leave behind. @throws if there is anything */
export async function closeDown(world: World): Promise<void> {
  const { clients, history, judge, server, clock, counts, observers } = world;
  const queues = [...world.queues.values()];
  const longestSession = Math.max(...clients.map(({ sessionTimeout }) => sessionTimeout));
  const expired = longestSession + 2 * Timing.tick;
  const alive = clients.filter(({ process }) => !process.isDead);
  const isUp = ({ connection }: SimulatedClient) =>
    connection.state === 'CLOSED' || connection.isConnected;
  await world.until(() => alive.every(isUp)); // the judge knows how long that may take
  await world.wait(Promise.all(alive.map((client) => client.close())), 10 * Timing.latency);
  await world.pass(Timing.watchAfter + 10 * Timing.latency);
  for (const { name, process, userTimers } of alive)
    if (process.pendingTimers > 0)
      history.accuse(`${name} leaves ${process.pendingTimers} timers (${userTimers} of users)`);

  await world.pass(expired);
  for (const { first } of queues) if (first) history.accuse(`${first.path} is left`);
  for (const observer of [...queues, ...counts, ...observers]) observer.stop();
  const watchCount = server.tree.watchCount + (world.ensemble?.watchCount ?? 0);
  if (watchCount > 0) history.accuse(`${watchCount} watches are left on the server`);
  await clock.runUntil(() => clock.isIdle, 10 * 60_000); // except for containers, there is nothing left to do
  const directories = new Set(queues.flatMap(({ directory }) => upwards(directory)));
  const lasting = observers.reduce((sum, observer) => sum + observer.lasting, counts.length);
  if (server.tree.size > directories.size + lasting)
    history.accuse('there is more than directories left');
  judge.check();
}

/** That directory and all its ancestors. */
function upwards(directory: string): string[] {
  return directory === '/' ? ['/'] : [directory, ...upwards(parentPath(directory))];
}
