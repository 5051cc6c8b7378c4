import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Path of a file with both. */
  readonly file: string;
}

/** An authority that signs certificates, made by `openssl`. */
export class CertificateAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  #count = 0;

  constructor() {
    this.#openssl('req -x509 -days 2', 'ca', ['-subj', '/CN=authority']);
  }

  /** Path of its own certificate. */
  get file(): string {
    return join(this.#folder, 'ca.pem');
  }

  /** Its own certificate. */
  get cert(): string {
    return readFileSync(this.file, 'utf8');
  }

  /**
   * @param subject common name
   * @param names such as `DNS:localhost` and `IP:127.0.0.1`
   * @param days 0 makes one that has expired
   */
  sign(subject: string, names: readonly string[] = [], days = 2): Certificate {
    const name = `${++this.#count}`;
    const alternatives = names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : [];
    this.#openssl('req -new', name, ['-subj', `/CN=${subject}`, ...alternatives]);
    this.#run([
      ...`x509 -req -in ${name}.pem -CA ca.pem -CAkey ca.key -CAcreateserial`.split(' '),
      ...`-copy_extensions copy -days ${days} -out ${name}.crt`.split(' '),
    ]);
    const cert = readFileSync(join(this.#folder, `${name}.crt`), 'utf8');
    const key = readFileSync(join(this.#folder, `${name}.key`), 'utf8');
    return { cert, key, file: this.write(`${name}.both.pem`, cert + key) };
  }

  /** Writes a file beside the certificates, and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }

  stop(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #openssl(command: string, name: string, args: readonly string[]): void {
    const key = `-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${name}.key`;
    this.#run([...`${command} ${key} -out ${name}.pem`.split(' '), ...args]);
  }

  #run(args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: 'pipe' });
  }
}
