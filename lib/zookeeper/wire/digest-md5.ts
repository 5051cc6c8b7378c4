import { createHash, randomBytes } from 'node:crypto';
import { ProtocolError } from './jute.js';

/** Credentials for SASL, by the mechanism DIGEST-MD5. */
export interface ZooKeeperSaslOptions {
  readonly username: string;
  readonly password: string;
}

/** Whether these are credentials. */
export function isSasl(sasl: Partial<ZooKeeperSaslOptions> | null): boolean {
  const { username, password } = sasl ?? {};
  return typeof username === 'string' && username !== '' && typeof password === 'string';
}

/** What ZooKeeper's servers call themselves in this mechanism. */
const DIGEST_URI = 'zookeeper/zk-sasl-md5';
/** Number of requests with one nonce. */
const COUNT = '00000001';
const FIELD = /([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]*))/g;

const md5 = (text: string | Buffer) => createHash('md5').update(text).digest();
const hex = (text: string) => md5(text).toString('hex');
/** As servers hash a name or a password (RFC 2831, 2.1.2.1): in ISO 8859-1 if that has all its letters, else in UTF-8. */
function hashedBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text ? bytes : Buffer.from(text);
}

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

/**
 * The client's part of SASL DIGEST-MD5 (RFC 2831): neither side sends the password, and each proves to the other that it knows
 * it.
 */
export class DigestMd5 {
  #expected?: string;

  /** @param cnonce random text of the client */
  constructor(
    private readonly credentials: ZooKeeperSaslOptions,
    private readonly cnonce = randomBytes(24).toString('base64'),
  ) {}

  /**
   * The answer to the server's challenge.
   *
   * @throws ProtocolError if the server wants something else than this mechanism without a layer of encryption
   */
  respond(challenge: Buffer): Buffer {
    const { nonce, realm = '', qop = 'auth', algorithm } = fields(challenge);
    if (nonce === undefined || algorithm !== 'md5-sess' || !qop.split(/[,\s]+/).includes('auth'))
      throw new ProtocolError('it does not offer SASL by DIGEST-MD5');
    const { username, password } = this.credentials;
    const { cnonce } = this;
    const parts = [username, ':', realm, ':', password];
    const secret = md5(Buffer.concat(parts.map(hashedBytes)));
    const key = md5(Buffer.concat([secret, Buffer.from(`:${nonce}:${cnonce}`)])).toString('hex');
    const proof = (what: string) => hex(`${key}:${nonce}:${COUNT}:${cnonce}:auth:${hex(what)}`);
    this.#expected = proof(`:${DIGEST_URI}`);
    const response = proof(`AUTHENTICATE:${DIGEST_URI}`);
    return Buffer.from(
      `charset=utf-8,username=${quoted(username)},realm=${quoted(realm)},nonce=${quoted(nonce)},nc=${COUNT},cnonce=${quoted(cnonce)},digest-uri="${DIGEST_URI}",response=${response},qop=auth`,
    );
  }

  /** Whether the server has proven that it knows the password. */
  isProven(answer: Buffer): boolean {
    return this.#expected !== undefined && fields(answer).rspauth === this.#expected;
  }
}

function fields(text: Buffer): Partial<Record<string, string>> {
  const found = [...text.toString().matchAll(FIELD)];
  return Object.fromEntries(
    found.map(([, name = '', inQuotes, bare]) => [
      name,
      inQuotes?.replaceAll(/\\(.)/g, '$1') ?? bare,
    ]),
  );
}
