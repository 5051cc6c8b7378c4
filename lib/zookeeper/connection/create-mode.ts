/** Kinds of znodes, with the flags of the protocol. */
export const CreateMode = {
  PERSISTENT: 0,
  EPHEMERAL: 1,
  PERSISTENT_SEQUENTIAL: 2,
  EPHEMERAL_SEQUENTIAL: 3,
  /** Removed by the server some time after its last child has gone. */
  CONTAINER: 4,
} as const;

export type CreateMode = (typeof CreateMode)[keyof typeof CreateMode];
