import { EmbeddedBackend } from './embedded-backend.js';
import { sharedValueSuite } from './shared-value.suite.js';

sharedValueSuite('the embedded tree', async () => new EmbeddedBackend());
