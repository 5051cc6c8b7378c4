import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where Maven builds the Java peer, one folder for each release of Curator. */
const TARGET = new URL('../java/target/', import.meta.url);

/**
 * The newest release, and the one that Debian packages: before 5.5.0, a queued writer got past a downgraded reader. Both come
 * from Maven, not the older one from Debian's jars: that is the same release, and one way to build serves every system.
 */
export const CURATOR_RELEASES = ['5.9.0', '5.4.0'] as const;

export type CuratorRelease = (typeof CURATOR_RELEASES)[number];

/** File with the class path of the libraries; it exists once the peer was built. */
export function classPathFile(release: CuratorRelease): string {
  return fileURLToPath(new URL(`${release}/classpath`, TARGET));
}

/** Java class path of the peer; undefined where it was not built. */
export function curatorClassPath(release: CuratorRelease): string | undefined {
  const file = classPathFile(release);
  if (!existsSync(file)) return undefined;
  return `${fileURLToPath(new URL(`${release}/classes`, TARGET))}:${readFileSync(file, 'utf8')}`;
}
