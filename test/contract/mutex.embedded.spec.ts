import { EmbeddedBackend } from './embedded-backend.js';
import { mutexSuite } from './mutex.suite.js';

mutexSuite('the embedded tree', async () => new EmbeddedBackend());
