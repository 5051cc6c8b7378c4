import { doubleBarrierSuite } from './double-barrier.suite.js';
import { EmbeddedBackend } from './embedded-backend.js';

doubleBarrierSuite('the embedded tree', async () => new EmbeddedBackend());
