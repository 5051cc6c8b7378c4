/** Settings of a test server; the defaults suit tests that lose and expire sessions quickly. */
export interface ZooKeeperServerOptions {
  /** Loopback address to listen on, `127.0.0.1` or `::1`. Default `127.0.0.1`. */
  host?: string;
  /** The server's unit of time in milliseconds: sessions expire with this resolution. Default 500. */
  tickTime?: number;
  /** Shortest session timeout that it grants, in milliseconds. Default 1000. */
  minSessionTimeout?: number;
  /** Longest session timeout that it grants, in milliseconds. Default 60 000. */
  maxSessionTimeout?: number;
  /** How often it looks for containers that have become empty, in milliseconds. Default 1000. */
  containerCheckIntervalMs?: number;
  /** Further lines of `zoo.cfg`. */
  config?: Readonly<Record<string, string | number>>;
  /** Further arguments of the Java machine. */
  jvmArgs?: readonly string[];
  /** Its id in an ensemble, the members of which `config` names. Default: it stands alone. */
  id?: number;
}

/** The text of `zoo.cfg`. */
export function zooKeeperConfig(
  dataDir: string,
  host: string,
  port: number,
  options: ZooKeeperServerOptions,
): string {
  const settings = {
    dataDir,
    clientPort: port,
    clientPortAddress: host,
    tickTime: options.tickTime ?? 500,
    minSessionTimeout: options.minSessionTimeout ?? 1000,
    maxSessionTimeout: options.maxSessionTimeout ?? 60_000,
    maxClientCnxns: 0,
    'admin.enableServer': false,
    '4lw.commands.whitelist': '*',
    extendedTypesEnabled: true,
    ...options.config,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** Arguments of the Java machine. */
export function zooKeeperJvmArgs(options: ZooKeeperServerOptions): string[] {
  return [
    '-Xmx256m',
    '-XX:+UseSerialGC',
    '-Dzookeeper.forceSync=no',
    `-Dznode.container.checkIntervalMs=${options.containerCheckIntervalMs ?? 1000}`,
    '-Dznode.container.maxPerMinute=1000000',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    ...(options.jvmArgs ?? []),
  ];
}
