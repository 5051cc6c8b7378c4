import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where Maven builds the Java peer. */
const TARGET = new URL('../redisson-java/target/', import.meta.url);

/** File with the class path of the libraries; it exists once the peer was built. */
export const redissonClassPathFile = fileURLToPath(new URL('classpath', TARGET));

/** Java class path of the peer; undefined where it was not built. */
export function redissonClassPath(): string | undefined {
  if (!existsSync(redissonClassPathFile)) return undefined;
  const libraries = readFileSync(redissonClassPathFile, 'utf8');
  return `${fileURLToPath(new URL('classes', TARGET))}:${libraries}`;
}
