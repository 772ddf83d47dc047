import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { notesOf, released } from './changelog.ts';

const packageText = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
const text = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');

describe('the changelog', () => {
  test('every change is one line below Added, Changed, Fixed or Security', () => {
    const odd = text
      .split('\n')
      .slice(4)
      .filter(
        (line) => !/^(?:|- \S.*\.|## .*|### (?:Added|Changed|Fixed|Security)(?::.*)?)$/.test(line),
      );
    expect(odd).toEqual(['The first release.']);
  });

  test('a line has at most 120 characters', () => {
    expect(text.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });
});

describe('a release in the changelog', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n### Added\n- One.\n\n## 0.1.0\n- Zero.\n';

  test('contains all unreleased changes, and leaves that section empty', () => {
    expect(released(changelog, '0.2.0', '2026-11-23')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-23)\n\n### Added\n- One.\n\n## 0.1.0\n- Zero.\n',
    );
  });

  test('has its section as notes, and none without a section', () => {
    expect(notesOf(changelog, '0.1.0')).toBe('- Zero.\n');
    const { version } = JSON.parse(packageText) as { readonly version: string };
    expect(notesOf(text, version)).toMatch(/^### Added\n- /);
    expect(notesOf(changelog, '0.1')).toBeUndefined();
  });

  test.each([
    ['a version that is there', changelog, '0.1.0'],
    ['nothing unreleased', released(changelog, '0.2.0', '2026-11-23'), '0.3.0'],
    ['no such section', '# Changelog\n', '0.3.0'],
  ])('no release is made from a changelog with %s', (_, given, version) => {
    expect(() => released(given, version, '2026-11-23')).toThrow(/Unreleased|section already/);
  });
});
