import { EmbeddedBackend } from './embedded-backend.js';
import { leaderLatchSuite } from './leader-latch.suite.js';

leaderLatchSuite('the embedded tree', async () => new EmbeddedBackend());
