import { MutexEmbeddedBackend } from './mutex-embedded-backend.js';
import { mutexSuite } from './mutex.suite.js';

mutexSuite('the embedded tree', async () => new MutexEmbeddedBackend());
