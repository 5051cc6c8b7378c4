import { describe, expect, it } from '@jest/globals';
import { serverWarning } from '../../../lib/redis/connection/refusals.js';

/** What `INFO` says. */
const info = (role: string, isCluster: 0 | 1) =>
  `# Replication\r\nrole:${role}\r\n# Cluster\r\ncluster_enabled:${isCluster}\r\n`;

describe('A server, for a client that is not one of a cluster,', () => {
  it('causes no warning where it is a primary of its own, or does not say what it is', () => {
    for (const text of [info('master', 0), '', 'undefined'])
      expect(serverWarning(text, 'app')).toBeUndefined();
  });

  it('causes a warning where it is a node of a cluster, or a replica', () => {
    expect(serverWarning(info('master', 1), 'app')).toMatch(/"app".*node of.*Cluster.*`cluster`/);
    expect(serverWarning(info('slave', 0), 'app')).toMatch(/"app".*replica.*primary/);
  });
});
