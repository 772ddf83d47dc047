import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { expect, test } from '@jest/globals';
import { importsOf } from './rooms.ts';

/** What a resource server elsewhere would need of us: the judge, and the schemes of OAuth with their verifier. */
const ENTRIES = ['shared/auth/admit.ts', 'shared/auth/oauth-schemes.ts'];

/** All files that these lead to, types included, with their text. */
function closure(entries: readonly string[]): Map<string, string> {
  const texts = new Map(entries.map((path) => [path, readFileSync(path, 'utf8')]));
  // It grows while it is read.
  for (const [path, text] of texts) {
    for (const target of importsOf({ [path]: text }).get(path) ?? []) {
      if (!texts.has(target)) texts.set(target, readFileSync(target, 'utf8'));
    }
  }
  return texts;
}

test('authentication can be taken out as a library: it needs no package and nothing of a server', () => {
  const texts = closure(ENTRIES);
  expect([...texts.keys()]).toContain('shared/auth/token-verifier.ts');
  const rooms = new Set([...texts.keys()].map((path) => path.split('/').slice(0, 2).join('/')));
  expect([...rooms].toSorted()).toEqual([
    'shared/auth',
    'shared/base',
    'shared/http',
    'shared/jose',
    'shared/people',
    'shared/stores',
  ]);
  const named = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/ from '([^'.#][^']*)'/g)].map(([, name = '']) => name),
  );
  expect(named.filter((name) => !isBuiltin(name))).toEqual([]);
  expect(texts.size).toBeLessThanOrEqual(50);
});
