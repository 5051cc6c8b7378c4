import type { RedisNode } from './redis-client.js';

/** What a connection logs in with. */
interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** Has each further connection of `client` log in as one of `other` would by then: tokens of cloud providers expire. */
export function followCredentials(client: RedisNode, other: RedisNode): void {
  client.on('close', () => {
    const { username, password } = other.options as Credentials;
    Object.assign(client.options, { username, password });
  });
}
