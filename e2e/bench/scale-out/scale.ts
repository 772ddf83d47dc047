import { CLOCK_MARGIN } from '#shared/stores/revocation/lifetime.ts';
import { ASSUMED, COSTS } from './costs.ts';

/** The numbers of people on the page. */
export const CROWDS = [1_000_000, 100_000_000] as const;

const DAY = 86_400;
const MICROSECONDS = 1_000_000;

/** The resources for this many people in the busiest hour. */
export interface Need {
  /** Requests of each kind per second. */
  readonly verdicts: number;
  readonly refreshes: number;
  readonly signIns: number;
  readonly revocations: number;
  readonly remembered: number;
  /** Octets of each process for its caches. */
  readonly memory: number;
  readonly resourceServers: number;
  readonly authzServers: number;
  /** Cores of PostgreSQL, and a little of Redis, for refreshes, sign-ins and revocations. */
  readonly database: number;
  /** Audit events per day: tokens, sign-ins and revocations. */
  readonly events: number;
  /** Octets in PostgreSQL for the events of a day. */
  readonly audit: number;
  /** The part of a Redis core for the revocations and for one question per process and millisecond. */
  readonly feed: number;
  /** Cores of PostgreSQL for these questions, without Redis. */
  readonly alone: number;
}

export function needOf(people: number): Need {
  const active = people * ASSUMED['part of all people who are active in the busiest hour'];
  const busy =
    ASSUMED['the busiest hour has so many times the average of sign-ins and revocations'];
  const used = ASSUMED['part of a core that is used in the busiest hour'];
  const ended = (people * ASSUMED['revocations of a person in a day']) / DAY;
  const verdicts = active / ASSUMED['seconds between two requests of an active person'];
  const refreshes = active / ASSUMED['seconds between two refreshes (`tokens.lifetime`)'];
  const signIns = (busy * people * ASSUMED['sign-ins of a person in a day']) / DAY;
  const cores = (rate: number, cost: keyof typeof COSTS) =>
    (rate * COSTS[cost].value) / MICROSECONDS;
  const resourceServers = Math.ceil(cores(verdicts, 'verdict, token seen') / used);
  const revocations = busy * ended;
  const remembered =
    ended * (CLOCK_MARGIN / 1000 + ASSUMED['seconds between two refreshes (`tokens.lifetime`)']);
  const events = ((refreshes + signIns + revocations) / busy) * DAY;
  const asked = Math.min(verdicts, 1000 * resourceServers);
  return {
    verdicts,
    refreshes,
    signIns,
    revocations,
    remembered,
    memory: remembered * COSTS['octets of one remembered revocation'].value,
    resourceServers,
    authzServers: Math.ceil((cores(refreshes, 'refresh') + cores(signIns, 'sign-in')) / used),
    database:
      cores(refreshes, 'PostgreSQL and Redis, one refresh') +
      cores(signIns, 'PostgreSQL and Redis, one sign-in') +
      cores(revocations, 'PostgreSQL, one revocation'),
    events,
    audit: events * COSTS['octets of one event of the audit log on PostgreSQL'].value,
    feed:
      cores(revocations, 'Redis, one revocation') + cores(asked, 'Redis, one query for verdicts'),
    alone: cores(asked, 'PostgreSQL, one query for verdicts, without Redis'),
  };
}

const whole = (number: number) => Math.ceil(number).toLocaleString('en');
const tenths = (number: number) =>
  number.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const ROWS: readonly (readonly [string, (need: Need) => string])[] = [
  ['verdicts a second', ({ verdicts }) => whole(verdicts)],
  ['tokens a second, by refresh', ({ refreshes }) => whole(refreshes)],
  ['sign-ins a second', ({ signIns }) => whole(signIns)],
  ['revocations a second', ({ revocations }) => whole(revocations)],
  ['revocations that are remembered', ({ remembered }) => whole(remembered)],
  ['memory of each process for them, MiB', ({ memory }) => whole(memory / 1024 ** 2)],
  ['processes of the resource server', ({ resourceServers }) => whole(resourceServers)],
  ['processes of the authorization server', ({ authzServers }) => whole(authzServers)],
  ['cores of PostgreSQL', ({ database }) => tenths(database)],
  ['events of the audit log in a day', ({ events }) => whole(events)],
  [
    'disk of PostgreSQL for them, GiB for each day that they are kept',
    ({ audit }) => tenths(audit / 1024 ** 3),
  ],
  ['cores of Redis for the feed', ({ feed }) => tenths(feed)],
  ['more cores of PostgreSQL without Redis', ({ alone }) => tenths(alone)],
];

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Returns the computed tables of `docs/explanation/scale.md`: needs, assumptions and costs. */
export function scaleTables(): readonly string[] {
  const needs = CROWDS.map(needOf);
  return [
    table(
      ['in the busiest hour', ...CROWDS.map((people) => `${whole(people)} people`)],
      ROWS.map(([name, of]) => [name].concat(needs.map(of))),
    ),
    table(
      ['assumption', 'value'],
      Object.entries(ASSUMED).map(([name, value]) => [name, `${value}`]),
    ),
    table(
      ['cost (us, unless another unit is given)', 'value', 'source'],
      Object.entries(COSTS).map(([name, { value, source }]) => [
        name,
        value.toLocaleString('en'),
        source,
      ]),
    ),
  ];
}
