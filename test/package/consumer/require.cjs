require('reflect-metadata');
const interlock = require('nestjs-interlock');
const { assertDriversAbsent, takeLock } = require('./use.cjs');

Promise.all([assertDriversAbsent(interlock), takeLock(interlock)]).catch((error) => {
  console.error(error);
  process.exit(1);
});
