/** Where a server listens. */
export interface ServerAddress {
  /** A host name, an IPv4 or an IPv6 address (without brackets). */
  readonly host: string;
  readonly port: number;
}
