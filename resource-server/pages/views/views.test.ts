import { describe, expect, test } from '@jest/globals';
import { ATTACKS, expectStrict, skeleton } from '#shared/pages/checked.fixture.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { errorPage } from './error.ts';
import { samples } from './samples.fixture.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };
const SAMPLES = samples();

describe.each(LANGUAGES)('every page in %s', (language) => {
  const frame = { brand: BRAND, language };

  test.each(Object.keys(SAMPLES))('%s has a strict policy and its language', (name) => {
    const page = SAMPLES[name]?.(frame);
    if (page === undefined) throw new Error(`no page ${name}`);
    expectStrict(page);
    expect(page.fields['Content-Language']).toBe(language);
    expect(page.body).toContain(`<html lang="${language}">`);
  });

  test('ids are unique, and what names something is there', () => {
    for (const [name, draw] of Object.entries(SAMPLES)) {
      const { body = '' } = draw(frame);
      const ids = [...body.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      expect([name, new Set(ids).size]).toEqual([name, ids.length]);
      for (const [, list = ''] of body.matchAll(/\saria-labelledby="([^"]*)"/g)) {
        expect(ids).toEqual(expect.arrayContaining(list.split(' ')));
      }
    }
  });

  test.each(ATTACKS)('%s stays text on every page', (attack) => {
    const [attacked, harmless] = [samples(`x${attack}`), samples('x')];
    const drawn = { ...frame, brand: { ...BRAND, name: `x${attack}` } };
    for (const [name, draw] of Object.entries(attacked)) {
      const usual = harmless[name]?.({ ...frame, brand: { ...BRAND, name: 'x' } });
      const page = draw(drawn);
      expect([name, skeleton(page)]).toEqual([name, usual && skeleton(usual)]);
      expect(page.fields).toEqual(usual?.fields);
    }
  });
});

test.each(LANGUAGES)('every status has words in %s', (language) => {
  for (let status = 400; status < 600; status += 1) {
    const { body } = errorPage({ brand: BRAND, language }, { status, detail: 'x', id: undefined });
    expect([status, body]).toEqual([
      status,
      expect.stringMatching(/<h1>[^<]{5,}<\/h1>\s*<p>[^<]{5,}/),
    ]);
  }
});

test('each page has at most 20 KiB beside what it lists', () => {
  for (const [name, draw] of Object.entries(SAMPLES)) {
    const { body = '' } = draw({ brand: BRAND, language: 'de' });
    expect([name, Buffer.byteLength(body) < 20_480]).toEqual([name, true]);
  }
});
