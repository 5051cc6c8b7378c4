import {
  createLockClient,
  LockTimeoutError,
  type RedisLockClient,
  withLock,
} from 'nestjs-interlock/core';

export async function book(): Promise<string> {
  await using locks: RedisLockClient = await createLockClient({
    backend: 'redis',
    connect: 'redis://127.0.0.1',
  });
  const options = { client: locks, onBusy: (error: LockTimeoutError) => error.waitedMs };
  const reserve = withLock(async (seat: { id: string }) => seat.id, 'seat:{0.id}', options);
  const reserved: string | number = await reserve({ id: '7' });
  // @ts-expect-error -- the arguments are those of the function
  await reserve('7');
  // @ts-expect-error -- this is an option of LockModule
  await createLockClient({ drainTimeout: 5 });
  return await locks.mutex('hall').using(({ key }) => `${key} ${reserved}`);
}
