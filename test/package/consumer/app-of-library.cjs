// An app whose library was loaded in the other format: one client, known to both, and re-entry across.
const assert = require('node:assert/strict');
const { Logger } = require('@nestjs/common');
const { Test } = require('@nestjs/testing');

exports.runWithLibrary = async function runWithLibrary(interlock, { Stock, StockModule }) {
  const { LockModule, LockTimeoutError, getLockClientToken } = interlock;
  const warnings = [];
  Logger.overrideLogger({ warn: (text) => warnings.push(text), log() {}, error() {} });
  const imports = [LockModule.forRoot(), StockModule];
  const app = await Test.createTestingModule({ imports }).setLogger(false).compile();
  await app.init();
  try {
    const client = app.get(getLockClientToken());
    const stock = app.get(Stock);
    assert.equal(stock.client, client);
    await client.mutex('stock').using(() => stock.take());
    await stock.take(() => client.mutex('stock').using(async () => undefined));
    const lease = await client.mutex('stock').acquire();
    await assert.rejects(stock.take(), (error) => error instanceof LockTimeoutError);
    await lease.release();
  } finally {
    await app.close();
  }
  return warnings;
};
