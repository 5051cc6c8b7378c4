import { EmbeddedBackend } from './embedded-backend.js';
import { atomicNumbersSuite } from './atomic-numbers.suite.js';

atomicNumbersSuite('the embedded tree', async () => new EmbeddedBackend());
