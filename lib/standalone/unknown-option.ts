import { nearestAmong } from '../core/internal/option-names.js';

/** Names of options of a connection elsewhere, and in which option of the backend they belong. */
type Places = Readonly<Record<string, string>>;

const each = (names: string, place: string): Places =>
  Object.fromEntries(names.split(' ').map((name) => [name, place]));

const PLACES: Readonly<Record<'redis' | 'zookeeper', Places>> = {
  redis: {
    ...each(
      'url uri urls dsn connectionstring connectstring connection servers server redis redisurl endpoint address',
      "it as `connect`: 'redis://user:password@host:6379', or ioredis' options",
    ),
    ...each(
      'host hostname port username user password pass auth credentials db database path tls ssl sentinels sentinelpassword family options redisoptions config',
      'it inside of `connect`: { host, port, username, password, db, tls }, or in its URL',
    ),
    ...each('clusternodes clusteroptions', 'it inside of `cluster`: { nodes, options }'),
  },
  zookeeper: {
    ...each(
      'url uri urls dsn connectionstring connectstring connection servers server host hosts hostname port ensemble quorum endpoint address nodes cluster chroot path zookeeper',
      "the servers as `connect`: 'host:port,host:port/chroot'",
    ),
    ...each(
      'username user password pass credentials digest scheme authinfo auths',
      "credentials as `auth`: [{ scheme: 'digest', auth: 'user:password' }]",
    ),
    ...each('timeout', 'it as `sessionTimeout` or `connectTimeout`'),
  },
};

/** The known options of each backend. */
export type KnownOptions = Readonly<Record<'embedded' | 'zookeeper' | 'redis', readonly string[]>>;

const SERVED = ['zookeeper', 'redis'] as const;

const quoted = (backends: readonly string[]) => backends.map((it) => `'${it}'`).join(' or ');

/** What to give instead of an option that the backend does not have: where it belongs, or the name that is nearest to it. */
export function insteadOf(
  option: string,
  backend: keyof KnownOptions,
  known: KnownOptions,
): string {
  const place = backend === 'embedded' ? undefined : placeOf(option, backend);
  if (place !== undefined) return place;
  const owners = SERVED.filter((other) => known[other].includes(option));
  if (owners.length > 0) return `it to the backend ${quoted(owners)} only`;
  if (backend === 'embedded') return insteadOfNone(option, known);
  return nearestAmong(option, known[backend]) ?? anyOf(backend, known[backend]);
}

/** For the embedded backend, which may only be meant because none was given. */
function insteadOfNone(option: string, known: KnownOptions): string {
  const own = nearestAmong(option, known.embedded);
  if (own !== undefined) return own;
  const near = nearestAmong(option, [...known.zookeeper, ...known.redis]);
  if (near !== undefined) {
    const owners = SERVED.filter((backend) => nearestAmong(option, known[backend]) === near);
    return `${near} and \`backend\`: ${quoted(owners)}`;
  }
  const place = placeOf(option, 'redis');
  return place === undefined
    ? anyOf('embedded', known.embedded)
    : `\`backend\`: 'zookeeper' or 'redis', too. For Redis give ${place}`;
}

function placeOf(option: string, backend: 'zookeeper' | 'redis'): string | undefined {
  const name = option.replaceAll(/[-_]/g, '').toLowerCase();
  return Object.hasOwn(PLACES[backend], name) ? PLACES[backend][name] : undefined;
}

function anyOf(backend: string, names: readonly string[]): string {
  const list = names.map((name) => `\`${name}\``).join(', ');
  return `an option that the backend '${backend}' has: ${list}`;
}
