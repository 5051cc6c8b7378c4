/**
 * State of a connection, as in Curator.
 *
 * - `CONNECTING`: not yet connected for the first time.
 * - `CONNECTED`: connected for the first time.
 * - `SUSPENDED`: the connection is gone; the session, and with it every lock, may still live.
 * - `RECONNECTED`: connected again, to the same session or, after `LOST`, to a new one.
 * - `LOST`: the session has expired or may have; its locks are gone. A new session is being opened.
 * - `CLOSED`: closed by its owner.
 */
export type ConnectionState =
  'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'RECONNECTED' | 'LOST' | 'CLOSED';
