import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { PLANS } from '../conformance/plans.ts';

const FOLDER = new URL('../conformance/', import.meta.url);

test('the page has the plan of each file of e2e/conformance', async () => {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, FOLDER), 'utf8')));
  const names = texts
    .filter((text) => text.includes('satisfies Plan'))
    .flatMap((text) => [...text.matchAll(/^ {2}name: '([^']+)'/gm)].map(([, name]) => name));
  expect(names.length).toBeGreaterThan(5);
  expect(new Set(PLANS.map(({ name }) => name))).toEqual(new Set(names));
  expect(names).toHaveLength(PLANS.length);
});

test('each module that does not pass has a reason, and a performed plan is public', () => {
  for (const { name, modules } of PLANS) {
    expect(name).toMatch(/-test-plan$/);
    for (const { outcome, why } of Object.values(modules)) {
      expect(why === undefined).toBe(outcome === 'passed');
    }
  }
});
