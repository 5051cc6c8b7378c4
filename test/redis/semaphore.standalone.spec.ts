import { semaphoreSuite } from './semaphore.suite.js';

semaphoreSuite('standalone');
