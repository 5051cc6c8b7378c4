import { readWriteLockSuite } from './read-write-lock.suite.js';

readWriteLockSuite('standalone');
