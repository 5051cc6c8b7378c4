/** What a test server is set to. */
export interface RedisServerOptions {
  /** Loopback port to listen on. Default: a free one. */
  port?: number;
  /**
   * Further lines of `redis.conf`, which win over those of {@link redisConfig}: `{ maxmemory: '10mb' }`. A directive that
   * is there several times for different things is named with them: `{ 'sentinel monitor mymaster': '127.0.0.1 7000 2' }`.
   */
  config?: Readonly<Record<string, string>>;
  /** What is in its folder before it starts for the first time: text by file name. */
  files?: Readonly<Record<string, string>>;
  /** Whether it is a sentinel, which watches over other servers, and holds no data. Default false. */
  sentinel?: boolean;
}

/** The text of `redis.conf`: on loopback, nothing kept over a restart, replicas fed at once. */
export function redisConfig(
  folder: string,
  host: string,
  port: number,
  options: RedisServerOptions,
): string {
  const settings = {
    bind: host,
    port: `${port}`,
    dir: folder,
    save: '',
    appendonly: 'no',
    'rdb-del-sync-files': 'yes', // else a replica finds its last copy when it starts again
    'repl-diskless-sync-delay': '0',
    ...options.config,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value || '""'}\n`)
    .join('');
}
