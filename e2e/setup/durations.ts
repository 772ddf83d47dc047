/** `npm run durations -- results.json`: writes down how long each suite took in a run of all, by jest's `--json`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Results {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
  }[];
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file that jest --json --outputFile wrote');
const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Results;
const root = fileURLToPath(new URL('../../', import.meta.url));
const elsewhere = testResults.find(({ name }) => !name.startsWith(root));
if (elsewhere) throw new Error(`${elsewhere.name} is in another clone: run this in that one`);
const rows = testResults
  .map(({ name, startTime, endTime }) => ({
    suite: relative(root, name),
    seconds: Math.round((endTime - startTime) / 1000),
  }))
  // The rest differ by less than a start of theirs.
  .filter(({ seconds }) => seconds >= 2)
  .toSorted((a, b) => a.suite.localeCompare(b.suite))
  .map(({ suite, seconds }) => [suite, seconds]);
const text = `${JSON.stringify(Object.fromEntries(rows), undefined, 2)}\n`;
writeFileSync(new URL('durations.json', import.meta.url), text);
