import { multiLockSuite } from './multi-lock.suite.js';

multiLockSuite('standalone');
