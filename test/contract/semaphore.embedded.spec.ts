import { EmbeddedBackend } from './embedded-backend.js';
import { semaphoreSuite } from './semaphore.suite.js';

semaphoreSuite('the embedded tree', async () => new EmbeddedBackend());
