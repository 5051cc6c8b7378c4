import { EmbeddedBackend } from './embedded-backend.js';
import { multiLockSuite } from './multi-lock.suite.js';

multiLockSuite('the embedded tree', async () => new EmbeddedBackend());
