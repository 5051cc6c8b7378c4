import { EmbeddedBackend } from './embedded-backend.js';
import { leaderSelectorSuite } from './leader-selector.suite.js';

leaderSelectorSuite('the embedded tree', async () => new EmbeddedBackend());
