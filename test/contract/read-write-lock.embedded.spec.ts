import { EmbeddedBackend } from './embedded-backend.js';
import { readWriteLockSuite } from './read-write-lock.suite.js';

readWriteLockSuite('the embedded tree', async () => new EmbeddedBackend());
