import type { Tenure } from '../../core/hand-off.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/**
 * Has the tenure `want` as soon as there are others in the queue, of any client: by one listing with a child watch. If that is
 * lost, or the server does not answer, they may be there.
 *
 * @param own number of nodes that hold the lock
 */
export function lookForOthers(
  connection: ZooKeeperConnection,
  directory: string,
  own: number,
  tenure: Tenure,
): void {
  const changed = () => tenure.want();
  const stopLooking = () => connection.unwatch(directory, changed);
  tenure.stopLooking = stopLooking;
  connection.getChildren(directory, changed).then((children) => {
    if (children.length > own) changed();
  }, changed);
}
