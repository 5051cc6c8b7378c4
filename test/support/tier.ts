/** How thorough a run of the tests is: `npm run test:quick`, `npm test` or `npm run test:long`. */
export type Tier = 'quick' | 'standard' | 'long';

export const tier = (process.env.TEST_TIER ?? 'standard') as Tier;

/** What this run takes of three numbers of rounds, or of anything else that makes it longer and more thorough. */
export const byTier = <T>(choices: Readonly<Record<Tier, T>>): T => choices[tier];
