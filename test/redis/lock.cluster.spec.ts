import { lockSuite } from './lock.suite.js';

lockSuite('cluster');
