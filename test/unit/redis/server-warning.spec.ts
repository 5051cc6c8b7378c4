import { describe, expect, it } from '@jest/globals';
import { serverWarning } from '../../../lib/redis/connection/refusals.js';

/** What `INFO` says. */
const info = (role: string, isCluster: 0 | 1) =>
  `# Replication\r\nrole:${role}\r\n# Cluster\r\ncluster_enabled:${isCluster}\r\n`;

describe('A server, for a client that is not one of a cluster,', () => {
  it('is as it should be where it is a primary of its own, or tells nothing', () => {
    for (const text of [info('master', 0), '', 'undefined'])
      expect(serverWarning(text, 'app')).toBeUndefined();
  });

  it('is warned of where it is a node of a cluster, or a replica', () => {
    expect(serverWarning(info('master', 1), 'app')).toMatch(/"app".*node of.*Cluster.*`cluster`/);
    expect(serverWarning(info('slave', 0), 'app')).toMatch(/"app".*replica.*primary/);
  });
});
