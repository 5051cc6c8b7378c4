import { afterEach, beforeEach, describe, it } from '@jest/globals';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { lockClientContract } from '../../lib/testing/index.js';

describe('The exported contract on the embedded tree', () => {
  lockClientContract(
    { describe, it, beforeEach, afterEach },
    {
      createClient: async () => {
        const client = createEmbeddedLockClient('default');
        await client.connect();
        return client;
      },
      isShared: false,
      patience: 15_000, // the machine may be busy
    },
  );
});
