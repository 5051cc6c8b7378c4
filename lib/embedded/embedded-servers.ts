import type { Servers } from '../zookeeper/connection/server-list.js';

/** The one address of an embedded server: there is nothing to choose from, and nothing to resolve. */
export const embeddedServers: Servers = {
  size: 1,
  next: async () => ({ host: 'embedded', port: 0 }),
};
