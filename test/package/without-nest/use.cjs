// What a program without Nest does with the package. Nothing but the package, and its dependency, is installed here.
const assert = require('node:assert/strict');
const { setImmediate: turn } = require('node:timers/promises');

exports.useLocks = async function useLocks({ createLockClient, withLock }) {
  const client = await createLockClient();
  const running = [];
  const work = withLock(
    async (seat) => {
      running.push(seat);
      assert.equal(running.length, 1);
      await turn();
      running.pop();
      return seat;
    },
    'hall:{0.hall}',
    { client },
  );
  const seats = [{ hall: 1 }, { hall: 1 }, { hall: 1 }];
  assert.deepEqual(await Promise.all(seats.map(work)), seats);
  await client.close();
  for (const name of ['@nestjs/common', 'rxjs', 'reflect-metadata', 'ioredis', 'zookeeper'])
    assert.throws(() => require(name), { code: 'MODULE_NOT_FOUND' });
  assert.equal(Reflect.getMetadata, undefined);
  for (const backend of [
    { backend: 'redis', connect: 'redis://127.0.0.1:1' },
    { backend: 'zookeeper', connect: '127.0.0.1:1', driver: 'native' },
  ])
    await assert.rejects(createLockClient(backend), {
      message: /npm install (?:ioredis|zookeeper)/,
    });
};
