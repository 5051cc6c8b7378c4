import { spinLockSuite } from './spin-lock.suite.js';

spinLockSuite('standalone');
