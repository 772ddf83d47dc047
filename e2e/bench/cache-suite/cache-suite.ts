import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Findings, Table } from '../report.ts';
import { openFolder } from '../targets/open-folder.ts';
import { CONTENDERS } from './contenders.ts';
import { runSuite, startOrigin } from './run.ts';
import { type Kind, type Score, scoreOf } from './score.ts';
import { suiteAt } from './suite.ts';

const NOTES = [
  'Required, optimal, behaviour ("yes" of a check): as the suite counts, a test whose dependencies did not pass does not',
  'pass. Alone: however those fared. Each cache obeys what the answers say and has no time of its own for those that say',
  'nothing. Ours is the gateway in a space without schemes.',
];

export interface CacheSuiteOptions {
  /** A checkout of http-tests/cache-tests; default: the npm package. */
  readonly checkout?: string;
  isWanted(name: string): boolean;
}

/** Counts how many tests of http-tests/cache-tests the gateway's cache passes, beside other caches. */
export async function measureCacheSuite(
  say: (line: string) => void,
  { checkout, isWanted }: CacheSuiteOptions,
): Promise<Findings> {
  const { folder, version } = suiteAt(checkout);
  await using stack = new AsyncDisposableStack();
  const upstream = await startOrigin(stack, folder);
  const { path: parent } = stack.use(await temporaryFolder());
  const scores = new Map<string, Score>();
  for (const [name, start] of Object.entries(CONTENDERS)) {
    if (!isWanted(name)) continue;
    say(`  ${name}`);
    const own = await openFolder(parent, name.replaceAll(/\W+/g, '-'));
    await using cache = await start({ upstream, folder: own });
    scores.set(name, scoreOf(await runSuite(folder, cache.url)));
  }
  return {
    tables: [totals(version, scores), failing(scores)],
    notes: NOTES,
    errors: 0,
  };
}

function totals(version: string, scores: ReadonlyMap<string, Score>): Table {
  const part = ({ passed, of }: Score, kind: Kind) => `${passed[kind]} of ${of[kind]}`;
  const rows = [...scores].map(([server, score]) => ({
    server,
    required: part(score, 'required'),
    optimal: part(score, 'optimal'),
    behaviour: part(score, 'check'),
    alone: score.alone,
  }));
  return { title: `http-tests/cache-tests, ${version}`, rows };
}

/** The failed tests of the first cache, which is ours unless another was named. */
function failing(scores: ReadonlyMap<string, Score>): Table {
  const [[name, score] = ['nobody', undefined]] = scores;
  const rows = (score?.failing ?? []).map(({ id, kind, why }) => ({ test: id, kind, why }));
  return { title: `What ${name} does not pass`, rows };
}
