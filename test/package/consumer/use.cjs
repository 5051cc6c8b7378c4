// What every consumer does with the package, however it loaded it.
const assert = require('node:assert/strict');

exports.takeLock = async function takeLock({ LockModule, LockTimeoutError, getLockClientToken }) {
  const { Test } = require('@nestjs/testing');
  const app = await Test.createTestingModule({ imports: [LockModule.forRoot()] }).compile();
  await app.init();
  try {
    const mutex = app.get(getLockClientToken()).mutex('seat');
    const lease = await mutex.acquire();
    assert.equal(lease.isHeld, true);
    await assert.rejects(mutex.acquire({ wait: 1 }), LockTimeoutError);
    await lease.release();
  } finally {
    await app.close();
  }
};

/** Without the drivers everything else works, ZooKeeper too, and asking for one says what to install. */
exports.assertDriversAbsent = async function assertDriversAbsent({ LockModule }) {
  const { Test } = require('@nestjs/testing');
  for (const [options, driver] of [
    [{ backend: 'zookeeper', connect: '127.0.0.1:2181', driver: 'native' }, 'zookeeper'],
    [{ backend: 'redis', connect: 'redis://127.0.0.1' }, 'ioredis'],
  ]) {
    const module = Test.createTestingModule({ imports: [LockModule.forRoot(options)] });
    await assert.rejects(module.compile(), {
      code: 'LOCK_CONNECTION',
      message: new RegExp(`npm install ${driver}`),
    });
  }
  await locksOnZooKeeper(LockModule, Test);
};

/** The server is that of `ZOOKEEPER_CONNECT`; without one, it is at least looked for. */
async function locksOnZooKeeper(LockModule, Test) {
  const { ZOOKEEPER_CONNECT: connect = '127.0.0.1:1' } = process.env;
  const options = {
    backend: 'zookeeper',
    connect,
    connectTimeout: connect === '127.0.0.1:1' ? 200 : 15_000,
  };
  const module = Test.createTestingModule({ imports: [LockModule.forRoot(options)] });
  if (connect === '127.0.0.1:1')
    return assert.rejects(module.compile(), { code: 'LOCK_CONNECTION', message: /ECONNREFUSED/ });
  const app = await module.compile();
  const { getLockClientToken } = require('nestjs-interlock');
  await app
    .get(getLockClientToken())
    .mutex('seat')
    .using((lease) => assert.equal(lease.isHeld, true));
  await app.close();
}
