import { type Beside, failure, type Line, lineBeside, lineOf } from './line.ts';
import { compare, type Contender, type Measured, type Schedule } from './measure.ts';
import { AT_ONCE, type Goal, type Loaded, type Opened, times, type Way } from './work.ts';

/** The length of a run with single requests, in seconds. */
const ALONE = 1;

/** The goals for the cost of other ways, compared with the first. */
const GOALS: Readonly<Record<string, Goal>> = {
  PostgreSQL: times(1.5),
  'PostgreSQL, Redis': times(1.5),
  '2 workers': times(1.08),
};

interface Asked {
  readonly way: Way;
  readonly load: Loaded;
}

/** Measures a work in every way: a line for each peer of the first way, and for each other way. */
export async function measureWork(work: Opened, schedule: Schedule): Promise<readonly Line[]> {
  const { name, atOnce = AT_ONCE, goals = {} } = work;
  const { beside, ways } = await work.loads();
  const peers = beside.map((load) => load(atOnce));
  const own = (Object.entries(ways) as [Way, Loaded][]).map(([way, load]) => ({ way, load }));
  const [first, ...others] = own;
  const [peer, ...further] = peers.map((one) => one.name);
  if (first === undefined || peer === undefined) throw new Error('there is nothing to compare');
  const all = [...peers, ...own.map(({ way, load }) => named(way, load(atOnce)))];
  const stray = Object.keys(goals).find((goal) => all.every((one) => one.name !== goal));
  if (stray !== undefined) throw new Error(`there is a goal beside ${stray}, but no such server`);
  const found = await measureAll(all, { ...schedule, ...work.schedule });

  const standing = (other: string, goal = goals[other]): Beside => ({
    name: other,
    goal,
    found: found(other),
  });
  async function line({ way, load }: Asked, other: Beside): Promise<Line> {
    const measured = found(way);
    if (measured instanceof Error) return failure(name, way, measured);
    try {
      const { latency, errors } = await (await load(1).prepare(ALONE))();
      const alone = latency?.p50;
      return lineOf(name, way, { own: measured, beside: other, atOnce, alone, errors });
    } catch (error) {
      return failure(name, way, error);
    }
  }

  const lines = [await line(first, standing(peer))];
  const measured = found(first.way);
  if (!(measured instanceof Error)) {
    lines.push(...further.map((one) => lineBeside(name, first.way, measured, standing(one))));
  }
  for (const one of others) {
    const goal = goals[one.way] ?? GOALS[one.way];
    lines.push(await line(one, standing(first.way, goal)));
  }
  return lines;
}

const named = (name: string, contender: Contender): Contender => ({ ...contender, name });

/** Resolves to each contender's figures by name, or to the reason why there are none. */
async function measureAll(
  contenders: readonly Contender[],
  schedule: Schedule,
): Promise<(name: string) => Measured | Error> {
  const reasons = new Map<string, Error>();
  const measured = await compare(
    contenders,
    () => {},
    schedule,
    ({ name }, error) => {
      reasons.set(name, error instanceof Error ? error : new Error(String(error)));
    },
  );
  return (name) =>
    measured.find((one) => one.name === name) ??
    reasons.get(name) ??
    new Error('it was not measured');
}
