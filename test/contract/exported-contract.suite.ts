import { afterEach, beforeEach, describe, it } from '@jest/globals';
import type { LockClient } from '../../lib/core/lock-client.js';
import { lockClientContract } from '../../lib/testing/index.js';

/** What the package exports for the backends of others, asked of ours. */
export function exportedContractSuite(
  name: string,
  makeClient: () => LockClient | Promise<LockClient>,
  traits: { readonly isFair?: boolean; readonly isShared?: boolean } = {},
): void {
  describe(`The exported contract on ${name}`, () => {
    const createClient = async () => {
      const client = await makeClient();
      await client.connect();
      return client;
    };
    const patience = 15_000; // the machine may be busy
    lockClientContract(
      { describe, it, beforeEach, afterEach },
      { createClient, patience, ...traits },
    );
  });
}
