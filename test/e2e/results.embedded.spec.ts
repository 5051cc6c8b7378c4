import { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import { getLockClientToken, LockModule } from '../../lib/index.js';
import { resultsSuite } from './results.suite.js';
import { Apps } from './support/apps.js';
import { connectTo } from './support/tree-client.js';

resultsSuite('the embedded backend', async () => {
  const apps = new Apps();
  const server = new EmbeddedServer();
  const client = await connectTo(server);
  return {
    boot: (metadata) =>
      apps.boot({ imports: [LockModule.forRoot()], ...metadata }, (builder) =>
        builder.overrideProvider(getLockClientToken()).useValue(client),
      ),
    die: async () => {
      server.freeze();
      server.cut(client.status().sessionId!);
    },
    comeBack: async () => server.thaw(),
    end: async () => {
      await apps.close();
      await client.close();
    },
  };
});
