/** A holder of a lock, for operators. What is not known of it is `undefined`. */
export interface LockHolder {
  /** Id on the server: on ZooKeeper the path of the node, on Redis `<uuid of the client>:<number>`, for Redisson `<uuid>:<thread id>`. */
  readonly id: string;
  readonly mode: 'alone' | 'write' | 'read';
  /** Name of the host. Of a holder on Redis it is set if that is of this library, on ZooKeeper if it is of this client. */
  readonly host?: string | undefined;
  /** Process id; set as `host` is. */
  readonly pid?: number | undefined;
  /**
   * Class and method of a decorated method, or the `method` that was given to the acquire; set as `host` is. If the lock was handed
   * on, or is kept, other clients see that of the first caller.
   */
  readonly method?: string | undefined;
  /** When it requested or was granted the lock, by the clock of its host; on ZooKeeper by that of the server. */
  readonly since?: Date | undefined;
  /** On ZooKeeper the data of its node, up to 200 characters: the address of its host, unless other data was configured. */
  readonly data?: string | undefined;
}
