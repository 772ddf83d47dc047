import { describe, expect, test } from '@jest/globals';
import { ATTACKS, expectStrict, skeleton } from '#shared/pages/checked.fixture.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { errorPage } from './error.ts';
import { exchangePicture, type PicturedLeg } from './exchange-picture.ts';
import { samples, WAYS } from './samples.fixture.ts';
import { textsOf } from '../texts/index.ts';

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

  test('ids are unique, and every referenced id exists', () => {
    for (const [name, draw] of Object.entries(SAMPLES)) {
      const { body = '' } = draw(frame);
      const ids = [...body.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      expect([name, new Set(ids).size]).toEqual([name, ids.length]);
      for (const [, list = ''] of body.matchAll(/\saria-labelledby="([^"]*)"/g)) {
        expect(ids).toEqual(expect.arrayContaining(list.split(' ')));
      }
    }
  });

  test.each(ATTACKS)('the text %s is escaped on every page', (attack) => {
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

test.each(LANGUAGES)('every status has a text in %s', (language) => {
  for (let status = 400; status < 600; status += 1) {
    const props = { status, detail: 'x', id: undefined, ways: WAYS };
    const { body } = errorPage({ brand: BRAND, language }, props);
    expect([status, body]).toEqual([
      status,
      expect.stringMatching(/<h1>[^<]{5,}<\/h1>\s*<p>[^<]{5,}/),
    ]);
  }
});

test('each page has at most 20 KiB, without the listed content', () => {
  for (const [name, draw] of Object.entries(SAMPLES)) {
    const { body = '' } = draw({ brand: BRAND, language: 'de' });
    expect([name, Buffer.byteLength(body) < 20_480]).toEqual([name, true]);
  }
});

describe('the diagram of an exchange', () => {
  const picture = (language: (typeof LANGUAGES)[number], ...legs: readonly PicturedLeg[]) => {
    const { dashed, parties } = textsOf(language).playground;
    return exchangePicture(legs, { ...parties, dashed, label: 'picture' }).toString();
  };
  const leg = (sent: string, received: string, more: Partial<PicturedLeg> = {}): PicturedLeg => ({
    sent: { text: `${sent}\n\n` },
    received: { text: `${received}\n\n` },
    ...more,
  });
  const BACK = 'HTTP/1.1 303 See Other\nLocation: https://client.example/cb?code=abc&state=s&iss=i';
  const CODE = [
    leg('GET / HTTP/1.1', 'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer realm="a b"'),
    leg('POST /request HTTP/1.1', 'HTTP/1.1 201 Created', { to: 'authorization' }),
    leg('GET /auth?a=b HTTP/1.1', BACK, { to: 'authorization', from: 'browser' }),
  ];

  test('the diagram shows what the browser brings to the client in Location (RFC 6749 section 4.1.2)', () => {
    const drawn = picture('en', ...CODE);
    expect(drawn).toMatch(/>code,<.*>state, iss<.*stroke-dasharray="6 4"/s);
    expect(drawn).not.toContain('abc');
    expect(drawn).toContain('Dashed arrows');
    expect(picture('en', ...CODE.slice(0, 2))).not.toContain('Dashed arrows');
  });

  test('the diagram shows the steps of a scheme by their parameters (RFC 7804 section 5)', () => {
    const drawn = picture(
      'en',
      leg(
        'GET / HTTP/1.1',
        'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Digest realm="a", nonce="n"',
      ),
      leg(
        'GET / HTTP/1.1\nAuthorization: Digest realm="a", nonce="n", cnonce="c", response="r"',
        'HTTP/1.1 200 OK\nAuthentication-Info: rspauth="r", nc=1',
      ),
    );
    const words = [
      '401, WWW-Authenticate: Digest (nonce)',
      '2. GET, Authorization: Digest (response)',
    ];
    for (const told of [...words, '200, Authentication-Info (rspauth)']) {
      expect(drawn).toContain(`>${told}<`);
    }
  });

  test('the diagram shows that a cache without an answer asks the application (RFC 9211 section 2.2)', () => {
    const kept = (status: string) =>
      leg('GET /a HTTP/1.1', `HTTP/1.1 200 OK\nCache-Status: c; ${status}`);
    const asked = picture('en', kept('fwd=uri-miss; stored'));
    expect(asked.match(/stroke-dasharray="6 4"/g)).toHaveLength(2);
    expect(asked).toContain('>Application<');
    const hit = picture('en', kept('hit; ttl=60'));
    expect(hit).toContain('>200, Cache-Status: hit<');
    expect(hit).not.toContain('>Application<');
  });

  test.each(LANGUAGES)(
    'the letters of the diagram have 11 pixels on a phone, and all words fit in %s',
    (language) => {
      const drawn = picture(language, ...CODE);
      const [, width = ''] = /viewBox="0 0 (\d+) /.exec(drawn) ?? [];
      const [, size = ''] = /font-size="(\d+)"/.exec(drawn) ?? [];
      // A phone is 390 pixels wide, and the page has 12 pixels of margin at each side.
      expect((Number(size) * 366) / Number(width)).toBeGreaterThanOrEqual(11);
      for (const [, x = '', words = ''] of drawn.matchAll(/<tspan x="([\d.]+)"[^>]*>([^<]*)</g)) {
        const half = (words.length * 6.4) / 2;
        expect([words, Number(x) - half >= 0, Number(x) + half <= Number(width)]).toEqual([
          words,
          true,
          true,
        ]);
      }
    },
  );
});
