import { EmbeddedBackend } from './embedded-backend.js';
import { sharedCountSuite } from './shared-count.suite.js';

sharedCountSuite('the embedded tree', async () => new EmbeddedBackend());
