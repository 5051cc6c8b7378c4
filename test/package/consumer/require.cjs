require('reflect-metadata');
const interlock = require('nestjs-interlock');
const { assertDriverAbsent, takeLock } = require('./use.cjs');

assertDriverAbsent();
takeLock(interlock).catch((error) => {
  console.error(error);
  process.exit(1);
});
