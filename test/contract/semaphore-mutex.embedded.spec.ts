import { EmbeddedBackend } from './embedded-backend.js';
import { semaphoreMutexSuite } from './semaphore-mutex.suite.js';

semaphoreMutexSuite('the embedded tree', async () => new EmbeddedBackend());
