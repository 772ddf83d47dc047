import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from '@jest/test-result';
import type TestSequencer from '@jest/test-sequencer';

// Its types are those of its CommonJS.
const { default: Sequencer } = createRequire(import.meta.url)(
  '@jest/test-sequencer',
) as typeof TestSequencer;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Seconds that each suite took in a run of all; `npm run durations` writes them. */
const durations: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('durations.json', import.meta.url), 'utf8'),
);

/** The suites of this run, for the setup before them. */
export const selected: string[] = [];

const seconds = ({ path }: Test) => durations[relative(root, path)] ?? 0;

/** The longest suites first, so that no worker is left with one at the end. */
export default class LongestFirst extends Sequencer {
  override sort(tests: Test[]): Test[] {
    selected.splice(0, Infinity, ...tests.map(({ path }) => path));
    return tests.toSorted((a, b) => seconds(b) - seconds(a));
  }
}
