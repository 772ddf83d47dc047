/** The numbers of `docs/explanation/scale.md`, each with its source. Times are microseconds of one core. */
export interface Cost {
  readonly value: number;
  readonly source: string;
}

const WHOLE = '`npm run bench -- scale-out`, 26 November 2026, one shard, one process';
const SIX = '`npm run bench -- scale-out`, 26 November 2026, six shards, one process';
const ONCE = '`e2e/bench/README.md`, "Measured once"';

export const COSTS = {
  'verdict, token seen': { value: 48, source: ONCE },
  refresh: { value: 2_475, source: WHOLE },
  'sign-in': { value: 10_475, source: WHOLE },
  'Redis, one refresh': { value: 575, source: SIX },
  'Redis, one sign-in': { value: 875, source: SIX },
  'Redis, one revocation': { value: 7, source: `${WHOLE}, table of the feed` },
  'Redis, one question for verdicts': { value: 37, source: `${WHOLE}, table of the feed` },
  'octets of one event of the audit log on Redis': { value: 653, source: ONCE },
  'octets of one remembered revocation': {
    value: 233,
    source: '`docs/explanation/capacity.md`: a million took 222 MiB more',
  },
} as const satisfies Readonly<Record<string, Cost>>;

/** Assumptions of ours about people; measure your own. */
export const ASSUMED = {
  'part of all people who are active in the busiest hour': 0.1,
  'seconds between two requests of an active person': 10,
  'seconds between two refreshes (`tokens.lifetime`)': 600,
  'sign-ins of a person in a day': 0.2,
  'revocations of a person in a day': 0.1,
  'the busiest hour has so many times the average of sign-ins and revocations': 3,
  'part of a core or of a shard that is used in the busiest hour': 0.5,
} as const;
