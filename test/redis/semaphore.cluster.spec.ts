import { semaphoreSuite } from './semaphore.suite.js';

semaphoreSuite('cluster');
