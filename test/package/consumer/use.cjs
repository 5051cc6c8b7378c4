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

/** Without the drivers everything else works, and asking for one says what to install. */
exports.assertDriversAbsent = async function assertDriversAbsent({ LockModule }) {
  const { Test } = require('@nestjs/testing');
  for (const [backend, connect, driver] of [
    ['zookeeper', '127.0.0.1:2181', 'zookeeper'],
    ['redis', 'redis://127.0.0.1', 'ioredis'],
  ]) {
    const module = Test.createTestingModule({
      imports: [LockModule.forRoot({ backend, connect })],
    });
    await assert.rejects(module.compile(), {
      code: 'LOCK_CONNECTION',
      message: new RegExp(`npm install ${driver}`),
    });
  }
};
