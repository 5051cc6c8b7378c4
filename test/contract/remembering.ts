/**
 * Settings of servers that know after a kill all that they have answered: they write each change before its reply, which
 * with the default `everysec` may wait for a sync to the disk.
 */
export const remembering = { appendonly: 'yes', appendfsync: 'no' };
