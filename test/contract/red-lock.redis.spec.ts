import { redLockSuite } from './red-lock.suite.js';

redLockSuite(5, 'mutex');
redLockSuite(3, 'semaphoreMutex');
