/** What is written into the node of a lock to ask its holder for it, as by Curator's `Revoker`. */
export const REVOKE_MESSAGE = Buffer.from('__REVOKE__');
