import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const READMES = execFileSync('git', ['ls-files', '*/README.md'], { cwd: ROOT, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => !path.startsWith('docs/'));

/** The decisions in a room's README. */
const decisionsOf = (path: string) =>
  /^## Decisions\n(.*?)(?=^\*\*Tests:\*\*|^## |$(?![^]))/ms.exec(
    readFileSync(join(ROOT, path), 'utf8'),
  )?.[1] ?? '';

test('each decision of a room has a heading and names existing tests', () => {
  const headings = READMES.flatMap((path) => decisionsOf(path).match(/^### .+$/gm) ?? []);
  expect(headings.length).toBeGreaterThan(100);
  for (const path of READMES) {
    const decisions = decisionsOf(path);
    const before = decisions.split(/^### /m)[0] ?? '';
    expect([path, before.trim()]).toEqual([path, '']);
    const tests = [...decisions.matchAll(/^Test: (.*)$/gm)].flatMap(([, list = '']) =>
      [...list.matchAll(/`([^`]+)`/g)].map(([, file = '']) => join(ROOT, dirname(path), file)),
    );
    expect(tests.filter((file) => !existsSync(file))).toEqual([]);
  }
});
