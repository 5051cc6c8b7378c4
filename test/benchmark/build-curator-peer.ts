import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CURATOR_RELEASES, curatorClassPath } from '../interop/support/curator-build.js';

const PROJECT = fileURLToPath(new URL('../interop/java', import.meta.url));
const DEBIAN_JARS = [
  'curator-recipes',
  'curator-framework',
  'curator-client',
  'zookeeper',
  'slf4j-simple',
].map((name) => `/usr/share/java/${name}.jar`);

/** The Java peer, ready to run, or why there is none. */
export type CuratorBuild =
  { readonly classPath: string; readonly release: string } | { readonly missing: string };

/** Builds it with Maven against the newest Curator, else against that of Debian's packages. */
export function buildCuratorPeer(): CuratorBuild {
  if (!runs('javac', '-version')) return { missing: 'no JDK' };
  return (
    withMaven() ??
    withDebian() ?? {
      missing: "neither Maven, with what it downloads, nor Debian's libcurator-recipes-java",
    }
  );
}

function withMaven(): CuratorBuild | undefined {
  const [release] = CURATOR_RELEASES;
  if (!runs('mvn', '-q', '-B', '-f', PROJECT, `-Dcurator.version=${release}`, 'compile'))
    return undefined;
  return { classPath: curatorClassPath(release)!, release };
}

function withDebian(): CuratorBuild | undefined {
  if (!DEBIAN_JARS.every((jar) => existsSync(jar))) return undefined;
  const classes = join(PROJECT, 'target/debian');
  const sources = join(PROJECT, 'src/main/java/benchmark');
  const files = readdirSync(sources).map((file) => join(sources, file));
  const jars = DEBIAN_JARS.join(':');
  if (!runs('javac', '-d', classes, '-cp', jars, ...files)) return undefined;
  return { classPath: `${classes}:${jars}`, release: 'of Debian' };
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}
