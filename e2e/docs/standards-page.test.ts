import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { SCHEMES } from '#shared/auth/schemes/list.ts';
import { methodsPage } from './methods-page.ts';
import { sources } from './sources.ts';
import { STANDARDS } from './standards-data.ts';

const standards = Object.values(STANDARDS).flat();
const ids = new Set(standards.map(({ id }) => id));
const cited = new Set(
  sources(true).flatMap(([, text]) =>
    [...text.matchAll(/\bRFC (\d{3,5})\b/g)].map(([, number]) => `RFC ${number}`),
  ),
);

describe('the page of standards', () => {
  test('has each standard once', () => {
    expect(ids.size).toBe(standards.length);
  });

  test('has every RFC that the code and its tests cite', () => {
    expect(cited.size).toBeGreaterThan(100);
    expect([...cited].filter((id) => !ids.has(id))).toEqual([]);
  });

  test('claims no RFC that neither the code nor a test cites', () => {
    const claimed = standards.filter(
      ({ id, status }) => id.startsWith('RFC') && status !== 'not implemented',
    );
    const uncited = claimed.filter(({ id }) => !cited.has(id));
    expect(uncited.map(({ id }) => id)).toEqual([]);
  });

  test('names the missing sections of each partly implemented standard, with reasons', () => {
    for (const { id, status, missing = [], used } of standards) {
      expect([id, missing.length > 0]).toEqual([id, status === 'partly']);
      expect([id, used !== undefined]).toEqual([id, status === 'parts used']);
      for (const [section, what, why] of missing) {
        expect([id, section, what, why]).toEqual([
          id,
          expect.stringMatching(/^\d+(\.\d+)*$/),
          expect.stringMatching(/\w/),
          expect.stringMatching(/\w/),
        ]);
      }
    }
  });

  test('README.md and the guide for clients have the right number of registered schemes', () => {
    // https://www.iana.org/assignments/http-authschemes
    const registered =
      'Basic Bearer Concealed Digest DPoP GNAP HOBA Mutual Negotiate OAuth PrivateToken SCRAM-SHA-1 SCRAM-SHA-256 vapid';
    const names = registered.split(' ');
    const ours = new Set<string>([...SCHEMES.map(({ name }) => name), 'vapid']);
    const missing = names.filter((name) => !ours.has(name));
    expect(missing).toEqual(['OAuth']);
    for (const page of ['README.md', 'docs/how-to/test-your-client.md']) {
      const text = readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8');
      const number = `${names.length - missing.length} of the ${names.length} registered `;
      expect([page, text]).toEqual([page, expect.stringContaining(number)]);
    }
    expect(methodsPage()).toContain('18 of the 40 registered methods');
  });

  test('has the standard of each scheme in the specification', () => {
    const schemes = '7617 6750 7616 4559 9449 9729 9577 7486 8120 7804 9635 8292'.split(' ');
    expect(schemes.filter((number) => !ids.has(`RFC ${number}`))).toEqual([]);
  });
});
