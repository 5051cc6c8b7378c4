import { isIP } from 'node:net';
import { ForbiddenException } from '@nestjs/common';
import { LockOptionsError } from '../core/index.js';

/** Headers of a request. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A host and its port, if that is not the default one. */
interface Host {
  readonly name: string;
  readonly port: string;
}

const HOST = /^(\[[\da-f:.]+\]|[^\s@/?#\\:[\],]+?)\.?(?::(\d{1,5}))?$/i;

/** Parses `host` or `host:port`; `undefined` for anything else. */
function hostOf(text: unknown): Host | undefined {
  const [, name, port = ''] = (typeof text === 'string' && HOST.exec(text)) || [];
  if (name === undefined) return undefined;
  return { name: name.toLowerCase(), port: port === '80' || port === '443' ? '' : port };
}

/**
 * Refuses the requests that a browser sends for another site: those that come from one, and those of a site whose name
 * resolves to this server (DNS rebinding), which are of the same origin as the page for the browser.
 */
export class RequestOrigin {
  readonly #hosts?: readonly Host[];

  /**
   * @param hosts option `hosts`
   * @throws LockOptionsError
   */
  constructor(hosts?: readonly string[]) {
    if (hosts === undefined) return;
    const parsed = Array.isArray(hosts) ? hosts.map(hostOf) : [];
    const valid = parsed.filter((host) => host !== undefined);
    if (valid.length === 0 || valid.length < parsed.length)
      throw new LockOptionsError(
        'hosts',
        hosts,
        "an array of hosts such as 'locks.example.com' or '[::1]:3000', without 'https://' and without a path",
      );
    this.#hosts = valid;
  }

  /**
   * Of a request for the page itself, which a link of another site may lead to.
   *
   * @throws ForbiddenException
   */
  expectVisitor(headers: RequestHeaders): void {
    this.#expect(this.#isOurs({ ...headers, origin: undefined, 'sec-fetch-site': undefined }));
  }

  /**
   * Of a request for a snapshot.
   *
   * @throws ForbiddenException
   */
  expectReader(headers: RequestHeaders): void {
    this.#expect(this.#isOurs(headers));
  }

  /**
   * Of a request to release a lock.
   *
   * @throws ForbiddenException
   */
  expectOperator(headers: RequestHeaders): void {
    const { name } = askedBy(headers) ?? { name: '' };
    const cannotBeRebound = name === 'localhost' || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
    this.#expect(this.#isOurs(headers) && (cannotBeRebound || this.#hosts !== undefined));
  }

  #isOurs(headers: RequestHeaders): boolean {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    const asked = askedBy(headers);
    if (asked === undefined) return false;
    const { name, port } = asked;
    if (this.#hosts !== undefined)
      return this.#hosts.some((host) => host.name === name && (!host.port || host.port === port));
    const addressed = hostOf(hostHeader(headers));
    return addressed?.name === name && addressed.port === port;
  }

  #expect(isOurs: boolean): void {
    if (isOurs) return;
    throw new ForbiddenException(
      'The request comes from another site, or by a host that is not known: name the hosts of this page in the option `hosts` of LockInspectorModule.forRoot().',
    );
  }
}

/** The host of the page that sent the request, if the browser sends it, or else the one that the request was sent to. */
function askedBy(headers: RequestHeaders): Host | undefined {
  const { origin } = headers;
  if (origin === undefined) return hostOf(hostHeader(headers));
  return hostOf(typeof origin === 'string' ? /^https?:\/\/(.*)$/i.exec(origin)?.[1] : undefined);
}

function hostHeader(headers: RequestHeaders): unknown {
  return headers[':authority'] ?? headers.host;
}
