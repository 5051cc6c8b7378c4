import type { RedisLockClient, ZooKeeperLockClient } from 'nestjs-interlock';

type ShownMutex = ReturnType<(ZooKeeperLockClient | RedisLockClient)['mutex']>;

/** Numbers of the holder and of those who wait, in the order of service; on Redis, which has no queue, of the holder. */
export async function queueOf(mutex: ShownMutex): Promise<number[]> {
  if ('participants' in mutex) {
    const nodes = await mutex.participants();
    return nodes.map((path) => Number(path.slice(-10))); // their names end with ten digits
  }
  const holders = await mutex.holders();
  return holders.map(({ id }) => Number(id.split(':').at(-1))); // <uuid of the process>:<number>
}
