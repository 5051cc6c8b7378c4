import { barrierSuite } from './barrier.suite.js';
import { EmbeddedBackend } from './embedded-backend.js';

barrierSuite('the embedded tree', async () => new EmbeddedBackend());
