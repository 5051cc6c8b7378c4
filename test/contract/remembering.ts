/** Settings of servers that know after a restart what they knew before. */
export const remembering = { appendonly: 'yes' };
