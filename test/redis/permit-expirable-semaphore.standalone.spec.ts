import { permitExpirableSemaphoreSuite } from './permit-expirable-semaphore.suite.js';

permitExpirableSemaphoreSuite('standalone');
