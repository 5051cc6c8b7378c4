import { jest } from '@jest/globals';
import type { Client } from './client.js';

/**
 * Whenever the client has read the data of `path`, `meddle` comes first, before the client can do anything about what it has
 * read; with the number of the reading, from 1.
 *
 * @returns what ends that
 */
export function afterReading(
  { connection }: Client,
  path: string,
  meddle: (reading: number) => Promise<unknown>,
): () => void {
  const getData = connection.getData.bind(connection);
  let readings = 0;
  const spy = jest.spyOn(connection, 'getData').mockImplementation(async (asked, watcher) => {
    const seen = await getData(asked, watcher);
    if (asked === path) await meddle((readings += 1));
    return seen;
  });
  return () => spy.mockRestore();
}
