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

exports.assertDriverAbsent = function assertDriverAbsent() {
  assert.throws(() => require('zookeeper'), { code: 'MODULE_NOT_FOUND' });
};
