/** Permission bits of ZooKeeper. */
export const Permission = { READ: 1, WRITE: 2, CREATE: 4, DELETE: 8, ADMIN: 16, ALL: 31 } as const;

/** One entry of an access control list. */
export interface AclEntry {
  /** Sum of {@link Permission} bits. */
  readonly perms: number;
  /** `world`, `auth`, `digest`, `ip`, `x509`, … */
  readonly scheme: string;
  /** `anyone` for `world`, empty for `auth`, `user:hash` for `digest`. */
  readonly id: string;
}
