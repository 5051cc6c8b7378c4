import { afterEach, describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { LockError, LockModule, type LockModuleOptions } from '../../lib/index.js';
import { expectNoSecret, FullLogger, printedBy, SECRET, writtenOut } from './support/secrets.js';

const redis = (options: object) => ({ backend: 'redis', ...options });
const zookeeper = (options: object) => ({ backend: 'zookeeper', connect: 'zk1', ...options });
const url = `redis://me:${SECRET}@host:6379`;
const [host, password] = ['127.0.0.1', SECRET];
const lazy = { lazyConnect: true };

/** Mistakes that people make with a password at hand, and what the message tells them to do. */
const MISTAKES: [string, unknown, string][] = [
  // Options of other names
  ['a `url`', redis({ url }), 'Give it as `connect`'],
  ['a `uri`', redis({ uri: url }), 'Give it as `connect`'],
  [
    'a password beside `connect`',
    redis({ connect: `redis://${host}`, password }),
    'inside of `connect`',
  ],
  ['a host with password and no `connect`', redis({ host, password }), 'inside of `connect`'],
  ['a port that is a password', redis({ port: password }), 'inside of `connect`'],
  ['`conect`', redis({ conect: url }), 'Give `connect`'],
  ['`watchdogTimout`', redis({ connect: url, watchdogTimout: password }), 'Give `watchdogTimeout`'],
  ['`redisOptions`', redis({ redisOptions: { password } }), 'inside of `connect`'],
  ['a `url` without a backend', { url }, "Give `backend`: 'zookeeper' or 'redis'"],
  [
    '`conect` without a backend',
    { conect: url },
    "Give `connect` and `backend`: 'zookeeper' or 'redis'",
  ],
  ['`connect` without a backend', { connect: url }, "Give 'zookeeper', 'redis' or 'embedded'"],
  ['a backend that is the URL', { backend: url }, "Give 'zookeeper', 'redis' or 'embedded'"],
  ['a password for ZooKeeper', zookeeper({ password }), '`auth`: [{ scheme:'],
  ['`hosts` for ZooKeeper', zookeeper({ hosts: `me:${password}@zk1` }), "as `connect`: 'host:port"],
  // URLs
  ['a URL with a wrong port', redis({ connect: `${url}x` }), 'percent-encoded'],
  [
    'a URL of another scheme',
    redis({ connect: `https://me:${password}@host` }),
    "a URL such as 'redis://",
  ],
  ['two URLs', redis({ connect: `${url},${url}` }), 'independent `nodes`'],
  ['a URL object', redis({ connect: new URL(url) }), "a URL such as 'redis://"],
  ['a promise of a URL', redis({ connect: Promise.resolve(url) }), "a URL such as 'redis://"],
  ['a list of URLs', redis({ connect: [url] }), "a URL such as 'redis://"],
  [
    'a password with a slash',
    redis({ connect: `redis://me:${password}/@host` }),
    'percent-encoded',
  ],
  ['a password with a hash', redis({ connect: `redis://:${password}#1@host` }), 'percent-encoded'],
  [
    'digits, a hash, and the rest',
    redis({ connect: `redis://me:1#${password}@host` }),
    'percent-encoded',
  ],
  [
    'a password with a percent sign',
    redis({ connect: `redis://:%${password}@host` }),
    'percent-encoded',
  ],
  [
    'a URL with a name as its database',
    redis({ connect: `${url}/orders` }),
    'number of a database',
  ],
  ['a URL without its host', redis({ connect: `redis://:${password}@` }), 'percent-encoded'],
  [
    'the connection string of Azure',
    redis({ connect: `h:6380,password=${password}` }),
    "'redis://",
  ],
  ['a URL inside of an object', redis({ connect: { url } }), 'the URL itself, as a text'],
  ['a URL as the host', redis({ connect: { host: url } }), 'a host name'],
  ['a password as the port', redis({ connect: { host, port: password } }), 'from 0 to 65535'],
  ['a client as `connect`', redis({ connect: new Redis(url, lazy) }), 'as `client`'],
  // Several servers
  [
    'a cluster node with a wrong port',
    redis({ cluster: { nodes: [`${url}x`] } }),
    'percent-encoded',
  ],
  ['a cluster node that is a list', redis({ cluster: { nodes: [[url]] } }), 'nodes: [{ host:'],
  ['a URL as a cluster', redis({ cluster: url }), 'nodes: [{ host:'],
  [
    'options of a cluster beside `options`',
    redis({ cluster: { nodes: [{ host }], redisOptions: { password } } }),
    'inside of its `options`',
  ],
  [
    'a URL as a Sentinel',
    redis({ connect: { sentinels: [{ host: url }], name: 'm', password } }),
    'a host name',
  ],
  [
    'one URL as Sentinels',
    redis({ connect: { sentinels: url, name: 'm' } }),
    '`sentinels` as a list',
  ],
  ['too few nodes', redis({ nodes: [url, url] }), 'at least 3 servers'],
  ['a node twice', redis({ nodes: [url, url, url] }), 'each of them once'],
  ['a node with a wrong port', redis({ nodes: [`${url}x`, url, url] }), 'percent-encoded'],
  [
    'nodes that are options of a client',
    redis({ nodes: [1, 2, 3].map((i) => ({ connect: `${url}${i}` })) }),
    'the URL itself',
  ],
  ['`nodes` beside `connect`', redis({ connect: url, nodes: [url] }), 'Give one of `connect:'],
  [
    'an unknown option inside of another',
    redis({ connect: url, replicas: { atLeast: 1, url } }),
    '`atLeast`, `timeout`',
  ],
  // Clients
  ['options as a client', redis({ client: { host, password } }), 'options are the `connect`'],
  ['a URL as a client', redis({ client: url }), 'a URL or options are the `connect`'],
  [
    'a client of a URL as the host',
    redis({ client: new Redis({ host: url, ...lazy }) }),
    'a host name',
  ],
  // ZooKeeper
  ['credentials as a text', zookeeper({ auth: `me:${password}` }), "{ scheme: 'digest', auth:"],
  [
    'credentials with another name',
    zookeeper({ auth: [{ scheme: 'digest', id: password }] }),
    'auth:',
  ],
  [
    'credentials as a Buffer',
    zookeeper({ auth: [{ scheme: 'digest', auth: Buffer.from(password) }] }),
    'auth:',
  ],
  [
    'credentials without their list',
    zookeeper({ auth: { scheme: 'digest', auth: password } }),
    'auth:',
  ],
  [
    'credentials as the scheme',
    zookeeper({ auth: [{ scheme: `me:${password}`, auth: 'digest' }] }),
    'auth:',
  ],
  ['an ACL as a text', zookeeper({ acl: `digest:me:${password}:cdrwa` }), '{ perms: 31'],
  [
    'an ACL with an id for all',
    zookeeper({ acl: [{ scheme: 'digest', id: password }] }),
    '{ perms: 31',
  ],
  ['credentials as servers', zookeeper({ connect: `me:${password}` }), "servers as 'host:port"],
  ['a URL as servers', zookeeper({ connect: url }), "servers as 'host:port"],
  [
    'credentials before a server',
    zookeeper({ connect: `me:${password}@zk1` }),
    "servers as 'host:port",
  ],
  // Not even options
  ['a URL', url, "an object such as { backend: 'redis', connect: url }"],
  ['a parsed URL', new URL(url), "an object such as { backend: 'redis', connect: url }"],
  ['a list of URLs', [url], "an object such as { backend: 'redis', connect: url }"],
  [
    'the characters of a URL',
    { ...[...url] },
    "an object such as { backend: 'redis', connect: url }",
  ],
  ['a Map', new Map([['url', url]]), "an object such as { backend: 'redis', connect: url }"],
  [
    'a function',
    () => redis({ connect: url }),
    "an object such as { backend: 'redis', connect: url }",
  ],
  ['a client', new Redis(url, lazy), "an ioredis client as { backend: 'redis', client }"],
  // Options that are right, with something in them that is not
  ['an object as the prefix', redis({ connect: url, prefix: { password } }), 'Give a text'],
  ['an object as the name', { name: { password } }, 'a name that is not empty'],
  ['a URL as the wait', { wait: url }, 'milliseconds above 0'],
];

describe('An app whose options are wrong does not show the password that is in them', () => {
  const failures: unknown[] = [];
  afterEach(() => void failures.splice(0));

  const bootError = async (module: () => DynamicModule): Promise<string[]> => {
    const logger = new FullLogger();
    const printed = await printedBy(async () => {
      try {
        @Module({ imports: [module()] })
        class App {}
        const options = { logger, abortOnError: false };
        const app = await NestFactory.createApplicationContext(App, options);
        await app.close();
      } catch (error) {
        failures.push(error);
      }
    });
    return [...logger.lines, ...printed];
  };

  const given = (options: unknown) => options as LockModuleOptions;
  const { name } = { name: 'locks' };

  it.each(MISTAKES)('%s', async (_, options, advice) => {
    const modules = [
      () => LockModule.forRootAsync({ name, useFactory: () => given(options) }),
      () => LockModule.forRootAsync({ name, useFactory: () => Promise.resolve(given(options)) }),
      () => LockModule.forRoot(given(options)),
    ];
    if (typeof options === 'function')
      modules.pop(); // its name would be that of the client
    else if ('name' in Object(options)) modules.splice(0, 2); // it is given beside a factory
    for (const module of modules) {
      const logged = await bootError(module);
      const error = failures.pop();
      expect(error).toBeInstanceOf(LockError);
      expect((error as LockError).message).toContain(advice);
      expectNoSecret(writtenOut(error), ...logged);
    }
  });
});
