import { clientStatusSuite } from './client-status.suite.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { Stage } from './stage.js';

clientStatusSuite('the embedded tree', async () => Stage.build(new EmbeddedBackend()), {
  holders: (stage) => stage.contenders(),
  suspended: 'degraded',
  sessionId: ({ mine }) => mine.connection.session!.id,
});
