const { useLocks } = require('./use.cjs');

void useLocks(require('nestjs-interlock/core'));
