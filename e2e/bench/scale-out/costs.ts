/** The numbers of `docs/explanation/scale.md`, each with its source. Times are microseconds of one core. */
export interface Cost {
  readonly value: number;
  readonly source: string;
}

const QUICK = '`npm run bench -- scale-out --quick`, 27 November 2026, a busy machine';
const ONCE = '`e2e/bench/README.md`, "Measured once"';

export const COSTS = {
  'verdict, token seen': { value: 48, source: ONCE },
  refresh: { value: 4_500, source: QUICK },
  'sign-in': { value: 21_400, source: QUICK },
  'PostgreSQL and Redis, one refresh': { value: 1_100, source: QUICK },
  'PostgreSQL and Redis, one sign-in': { value: 2_000, source: QUICK },
  'PostgreSQL, one revocation': { value: 200, source: `${QUICK}, table of the feed` },
  'PostgreSQL, one query for verdicts, without Redis': {
    value: 66,
    source: `${QUICK}, table of the feed`,
  },
  'Redis, one revocation': { value: 10, source: `${QUICK}, table of the feed` },
  'Redis, one query for verdicts': { value: 24, source: `${QUICK}, table of the feed` },
  'octets of one event of the audit log on PostgreSQL': { value: 1_366, source: ONCE },
  'octets of one remembered revocation': {
    value: 233,
    source: '`docs/explanation/capacity.md`: a million took 222 MiB more',
  },
} as const satisfies Readonly<Record<string, Cost>>;

/** Our assumptions about people. Measure your own. */
export const ASSUMED = {
  'part of all people who are active in the busiest hour': 0.1,
  'seconds between two requests of an active person': 10,
  'seconds between two refreshes (`tokens.lifetime`)': 600,
  'sign-ins of a person in a day': 0.2,
  'revocations of a person in a day': 0.1,
  'the busiest hour has so many times the average of sign-ins and revocations': 3,
  'part of a core that is used in the busiest hour': 0.5,
} as const;
