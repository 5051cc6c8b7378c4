import { EmbeddedBackend } from './embedded-backend.js';
import { lockInternalsSuite } from './lock-internals.suite.js';

lockInternalsSuite('the embedded tree', async () => new EmbeddedBackend());
