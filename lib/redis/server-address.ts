/** Where a server is, as ioredis takes it. */
export interface ServerAddress {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly sentinels?: unknown;
}

const EXAMPLE = "'redis://user:password@localhost:6379/0'";
const ENCODED = `a URL such as ${EXAMPLE}, the special characters of user and password percent-encoded (encodeURIComponent)`;

/**
 * What to give instead of a URL that ioredis cannot parse, or would parse otherwise than meant; `undefined` if it is right. Its
 * error would show the URL, or the part of the password that it takes for a port.
 */
export function mistakeInUrl(text: string): string | undefined {
  if (!/^rediss?:\/\/./.test(text))
    return "a URL such as 'redis://localhost:6379', or options of ioredis";
  if (/,.*:\/\//.test(text))
    return 'one URL; several servers are a `cluster`, or independent `nodes`';
  let url: URL;
  try {
    url = new URL(text);
    decodeURIComponent(url.username + url.password);
  } catch {
    return ENCODED; // without the cause, which contains the URL
  }
  const isMisread = url.hash !== '' || (url.pathname + url.search).includes('@');
  if (isMisread || /\s/.test(text.trim())) return ENCODED;
  const isDatabase = /^(\/\d*)?$/.test(url.pathname);
  return isDatabase
    ? mistakeInQuery(text)
    : `a URL whose path is the number of a database, such as ${EXAMPLE}`;
}

/** What the query of a URL may set: options that are texts, and that break nothing. `allowUsernameInURI` is from ioredis 4. */
const IN_QUERY: readonly string[] = [
  'family',
  'username',
  'password',
  'connectionName',
  'allowUsernameInURI',
];

/**
 * What to give instead of this URL, or host and port with a query, for what is in its query; `undefined` if that is right. ioredis
 * takes all of it for options, which override those that this library sets, and node-redis takes none.
 */
export function mistakeInQuery(text: string): string | undefined {
  const [, query = ''] = /\?(.*)/s.exec(text) ?? [];
  const isRight = [...new URLSearchParams(query).keys()].every((name) => IN_QUERY.includes(name));
  return isRight
    ? undefined
    : `a URL with at most \`family\`, \`username\`, \`password\` and \`connectionName\` in its query; TLS is \`rediss://\`, the database is the path, as in ${EXAMPLE}, other options of the driver stand in an object as \`connect\`, or in the \`options\` of a \`cluster\`, and instead of a \`keyPrefix\` there is the \`prefix\` of the lock client`;
}

/** Whether it is a server without a scheme or credentials, as ioredis takes it for the node of a cluster. */
export const isHostAndPort = (text: string): boolean =>
  /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.test(text);

/** What to give instead of this host, port, or list of Sentinels; `undefined` if they are right, or none is given. */
export function mistakeInAddress({ host, port, sentinels }: ServerAddress): string | undefined {
  // The error of a look-up shows the host, and that of a connect the port.
  const isHost = host === undefined || host === null || isHostName(host);
  if (!isHost) return 'a host name as its `host`; a URL stands alone';
  if (port !== undefined && port !== null && !isPort(port))
    return 'a number from 0 to 65535 as its `port`';
  if (sentinels === undefined || sentinels === null) return undefined;
  const isList = Array.isArray(sentinels) && sentinels.every(isObject);
  if (!isList) return "`sentinels` as a list: [{ host: 'sentinel-1', port: 26379 }]";
  return sentinels.map(mistakeInAddress).find((mistake) => mistake !== undefined);
}

const isHostName = (host: unknown) => typeof host === 'string' && !/[\s/@]/.test(host);

const isPort = (port: unknown) =>
  (typeof port === 'number' || (typeof port === 'string' && /^\d+$/.test(port))) &&
  Number.isInteger(Number(port)) &&
  Number(port) >= 0 &&
  Number(port) <= 65_535;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
