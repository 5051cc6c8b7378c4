import type { ErrorPolicy } from '../core/election/election-backend.js';
import { LockOptionsError } from '../core/errors/index.js';
import { NotShown } from '../core/errors/shown-value.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import { validateWaiterLimits, type WaiterLimits } from '../core/internal/waiter-limits.js';
import type { ReadWriteLockOptions, Wait } from '../core/lock.js';
import type { RenewalWorkerOptions } from '../core/worker/standby-thread.js';
import { validateRenewalWorker } from '../core/worker/validate-renewal-worker.js';
import type { RetryPolicy } from './connection/retry-policies.js';
import { parseConnectString } from './connection/server-list.js';
import { isCanonicalPath } from './connection/znode-path.js';
import { type AclEntry, type AuthInfo, Permission } from './connection/zookeeper-connection.js';
import type { ZooKeeperDriver } from './drivers.js';
import { isSasl, type ZooKeeperSaslOptions } from './wire/digest-md5.js';
import { isTls, type ZooKeeperTlsOptions } from './wire/tls-options.js';
import type { NodeOptions } from './lock-path.js';
import type { SharedCountReader } from './shared/shared-count.js';

/** Options of a semaphore on ZooKeeper. */
export interface ZooKeeperSemaphoreOptions extends NodeOptions {
  /**
   * Maximum number of concurrent holders: an integer from 1 to 2^31 - 1, or a started `SharedCount`, which may be changed
   * while the semaphore is in use.
   */
  readonly permits: number | SharedCountReader;
}

/** Options of a read/write lock on ZooKeeper. */
export interface ZooKeeperReadWriteOptions extends NodeOptions, ReadWriteLockOptions {}

/** Options of a lock client on ZooKeeper. Times are in milliseconds, above 0 and below 2^31. */
export interface ZooKeeperLockOptions extends WaiterLimits {
  /**
   * Servers and chroot: `'zk1:2181,zk2:2181,[::1]:2181/app'`. All paths are below the chroot, which is created if
   * missing.
   */
  readonly connect: string;
  /**
   * What speaks to the servers: `'native'` is the npm package `zookeeper`, which has to be installed; `'wire'` is part of this
   * library, and works in worker threads too.
   *
   * The log says which one is used.
   *
   * @default 'native', else 'wire'
   */
  readonly driver?: ZooKeeperDriver | undefined;
  /**
   * How long the servers keep the locks of a silent client: a crashed process blocks others for this long, and a longer pause
   * loses the locks. The servers negotiate the value (by default to 40 s at most). Use at least 10,000 in production.
   *
   * @default 30000
   */
  readonly sessionTimeout?: number | undefined;
  /**
   * Keeps the session from a worker thread while the event loop of the main thread is blocked: then work that blocks it for longer
   * than the session lasts does not lose its locks. The thread has a connection of its own, by the driver `'wire'`, which it opens
   * when the main thread has shown no sign of life for a third of the `sessionTimeout`; the connection of the main thread is
   * interrupted then, so it does not go with `errorPolicy: 'standard'`, and ends a leadership with that policy. If the thread ends,
   * locks are as without it, and there is a process warning. If it cannot be started, as in a bundle, the client does not connect:
   * `LockOptionsError`.
   *
   * The price: a process that hangs, but is not dead, blocks others for up to `maxStall` and a `sessionTimeout`, instead of one
   * `sessionTimeout`. One that was killed or is stopped loses its locks as ever.
   *
   * @default none
   */
  readonly renewalWorker?: RenewalWorkerOptions | undefined;
  /**
   * The `tickTime` in the configuration of the servers. Their leader may learn this late that a client is alive, so a session
   * without proof of life is given up this much earlier. Set it if the servers use a longer one.
   *
   * @default 2000
   */
  readonly tickTime?: number | undefined;
  /**
   * What ends a hold of a lock, and with it the lease; Curator's `ConnectionStateErrorPolicy`. Elections have their own option.
   *
   * - `'session'`: the loss of the session, or of the lock node. An interrupted connection does not end a hold while the
   *   servers keep the session.
   * - `'standard'`: an interrupted connection too, as Curator recommends to all users: work under the lock stops at the first
   *   doubt. The lock is released as soon as the servers can be reached.
   *
   * @default 'session'
   */
  readonly errorPolicy?: ErrorPolicy | undefined;
  /**
   * Bound on the first connection, and on a `tryAcquire` without a `wait` that finds no connection.
   *
   * @default 15000
   */
  readonly connectTimeout?: number | undefined;
  /**
   * Directory of all keys; each key is one percent-encoded component in it. To share locks with Apache Curator, set the
   * directory that contains them.
   *
   * @default '/locks'
   */
  readonly basePath?: string | undefined;
  /**
   * Whether a key that starts with `/` is the path itself, wherever that is. For sharing locks with Apache Curator that are not
   * all in one directory. Such a key reaches every node that `auth` gives access to: never build it from user input.
   *
   * @default false
   */
  readonly literalPaths?: boolean | undefined;
  /**
   * Bound of an acquire without a `wait` of its own.
   *
   * @default 'forever'
   */
  readonly wait?: Wait | undefined;
  /**
   * When to retry what a lost connection interrupted. Waiting for the connection is bounded by the acquire's `wait`.
   *
   * @default new RetryForever(50)
   */
  readonly retryPolicy?: RetryPolicy | undefined;
  /**
   * Encrypts all connections by TLS, optionally with a certificate of this client. Needs the driver `'wire'`, which is then the
   * default.
   */
  readonly tls?: ZooKeeperTlsOptions | undefined;
  /**
   * User and password for SASL with the mechanism DIGEST-MD5. Needs the driver `'wire'`, which is then the default. There is no
   * Kerberos (GSSAPI).
   */
  readonly sasl?: ZooKeeperSaslOptions | undefined;
  /** Credentials presented on every connection. */
  readonly auth?: readonly AuthInfo[] | undefined;
  /**
   * Access control list of the nodes that this client creates: directories of locks, counters, shared values, barriers, and with
   * the driver `'wire'` the lock nodes in the directories, which are open otherwise. Existing nodes keep theirs. It prevents
   * unauthorized clients from queueing, listing, deleting, and changing numbers. Those that may list, but not read the nodes, cannot
   * wait for them.
   *
   * @default open to all
   */
  readonly acl?: readonly AclEntry[] | undefined;
}

/** Longest time in ms, since the driver counts in 32 bits. */
const LONGEST = 2 ** 31 - 1;

/** Throws {@link LockOptionsError} for the first option that is out of range. */
export function validateZooKeeperOptions(options: ZooKeeperLockOptions, client: string): void {
  const refuse = (option: keyof ZooKeeperLockOptions, expected: string): never => {
    const isSecret = SECRET.has(option);
    const shown = isSecret ? new NotShown('invalid, and not shown here') : options[option];
    throw new LockOptionsError(option, shown, expected, { client });
  };
  parseConnectString(options.connect, client);
  for (const option of ['sessionTimeout', 'connectTimeout', 'tickTime'] as const) {
    const ms = options[option];
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0 && ms <= LONGEST))
      refuse(option, 'milliseconds above 0 and below 2^31');
  }
  const {
    basePath,
    literalPaths,
    wait,
    retryPolicy,
    errorPolicy,
    auth,
    acl,
    driver,
    renewalWorker,
  } = options;
  if (driver !== undefined && driver !== 'native' && driver !== 'wire')
    refuse('driver', "'native' or 'wire'");
  const { tls, sasl } = options;
  if (driver === 'native' && (tls !== undefined || sasl !== undefined))
    refuse('driver', "'wire', or none: the native driver has neither TLS nor SASL");
  if (tls !== undefined && !isTls(tls))
    refuse('tls', 'an object such as { ca, cert, key } with texts in PEM that belong together');
  if (sasl !== undefined && !isSasl(sasl))
    refuse('sasl', 'an object such as { username, password }');
  if (basePath !== undefined && !isCanonicalPath(basePath))
    refuse('basePath', "a path such as '/locks', without a slash at its end");
  if (literalPaths !== undefined && typeof literalPaths !== 'boolean')
    refuse('literalPaths', 'true or false');
  validateAcquireOptions({ wait }, { client });
  validateWaiterLimits(options, client);
  if (retryPolicy !== undefined && typeof retryPolicy?.nextDelay !== 'function')
    refuse('retryPolicy', 'a RetryPolicy, such as new RetryForever(50)');
  if (errorPolicy !== undefined && errorPolicy !== 'standard' && errorPolicy !== 'session')
    refuse('errorPolicy', "'standard' or 'session'");
  if (auth !== undefined && !(Array.isArray(auth) && auth.every(isAuthInfo)))
    refuse('auth', "entries such as { scheme: 'digest', auth: 'user:password' }");
  if (renewalWorker !== undefined && errorPolicy === 'standard')
    refuse('errorPolicy', "'session', or none, with `renewalWorker`: it interrupts the connection");
  validateRenewalWorker(renewalWorker, {
    client,
    lasting: ['sessionTimeout', options.sessionTimeout ?? 30_000],
    copied: { tls, sasl, auth },
  });
  if (acl !== undefined && !isAcl(acl)) refuse('acl', ACL_EXPECTED);
}

const SECRET: ReadonlySet<string> = new Set(['auth', 'acl', 'sasl', 'tls']);

/** The scheme is shown when the servers refuse it, so it may not be the credentials. */
const SCHEME = /^[\w.-]+$/;

function isAuthInfo(entry: Partial<AuthInfo> | null | undefined): boolean {
  const { scheme, auth } = entry ?? {};
  return typeof scheme === 'string' && SCHEME.test(scheme) && typeof auth === 'string';
}

/** What a message says is expected of an `acl`. */
export const ACL_EXPECTED =
  "at least one entry such as { perms: 31, scheme: 'auth', id: '' }, or leave it out";

/** Whether that is an access control list which the servers understand. */
export function isAcl(acl: unknown): acl is readonly AclEntry[] {
  return Array.isArray(acl) && acl.length > 0 && acl.every(isAclEntry);
}

function isAclEntry(entry: Partial<AclEntry> | null | undefined): boolean {
  const { perms, scheme, id } = entry ?? {};
  const isPermission = Number.isInteger(perms) && perms! > 0 && perms! <= Permission.ALL;
  return isPermission && typeof scheme === 'string' && typeof id === 'string';
}
