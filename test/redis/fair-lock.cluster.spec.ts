import { fairLockSuite } from './fair-lock.suite.js';

fairLockSuite('cluster');
