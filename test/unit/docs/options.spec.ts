import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { optionsOf } from './support/options-of.js';

const MODULE_OPTIONS = 'lib/interfaces/lock-module-options.interface.ts';

/** The tables of the page, with the types that have the options they list. */
const TABLES = [
  {
    heading: 'Of every client',
    options: [
      ...optionsOf(MODULE_OPTIONS, 'LockModuleOptions'),
      ...optionsOf(MODULE_OPTIONS, 'CommonOptions'),
    ],
  },
  {
    heading: 'Embedded',
    options: [...optionsOf('lib/embedded/create-embedded-lock-client.ts', 'EmbeddedLockOptions')],
  },
  {
    heading: 'ZooKeeper',
    options: [...optionsOf('lib/zookeeper/zookeeper-options.ts', 'ZooKeeperLockOptions')],
  },
  {
    heading: 'Redis',
    options: [...optionsOf('lib/redis/redis-options.ts', 'RedisLockOptions')],
  },
];

const page = readFileSync('docs/configuration.md', 'utf8');

/** Each option that a table names, with its default, as the comments in the code write it. */
function tableUnder(heading: string): [string, string][] {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const rows = section.split('\n#')[0]!.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm);
  return [...rows].map(([, option = '', given = '']) => [option, plain(given)]);
}

const plain = (text: string) =>
  text
    .replaceAll('`', '')
    .replaceAll(/(?<=\d),(?=\d{3})/g, '')
    .trim();

describe('The page on configuration', () => {
  it.each(TABLES)('lists the options with their defaults: $heading', ({ heading, options }) => {
    expect(options.length).toBeGreaterThan(1);
    const inCode = options.map(([option, given]) => [option, plain(given)]);
    expect(new Map(tableUnder(heading))).toEqual(new Map(inCode as [string, string][]));
  });
});
