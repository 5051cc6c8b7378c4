/** Credentials that a connection presents, e.g. `{ scheme: 'digest', auth: 'user:password' }`. */
export interface AuthInfo {
  readonly scheme: string;
  readonly auth: string;
}
