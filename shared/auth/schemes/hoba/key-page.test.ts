import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { keyPages } from './key-page.ts';
import { KEY_SCRIPT } from './key-script.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const pages = keyPages([
  { url: `${A}/one/`, origin: A },
  { url: `${B}/two/`, origin: B },
  { url: `${A}/"><b>/`, origin: A },
]);

test('each origin has its own page, with its own spaces', () => {
  expect([...pages.keys()]).toEqual([A, B]);
  const visited = (origin: string) => pages.get(origin)?.body?.match(/(?<=data-visit=")[^"]*/g);
  expect(visited(A)).toEqual([`${A}/one/`, `${A}/&quot;&gt;&lt;b&gt;/`]);
  expect(visited(B)).toEqual([`${B}/two/`]);
});

test('its one script is the one of the policy, which allows no other, nor to ask elsewhere', () => {
  const { body = '', fields } = { ...pages.get(A) };
  const scripts = [...body.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)];
  expect(scripts.map(([, attributes, text]) => [attributes, text])).toEqual([
    [' type="module"', KEY_SCRIPT],
  ]);
  const hash = createHash('sha256').update(KEY_SCRIPT).digest('base64');
  const policy = String(fields?.['Content-Security-Policy']).split('; ');
  expect(policy).toEqual([
    "default-src 'none'",
    expect.stringMatching(/^style-src 'sha256-[\w+/=]+'$/),
    `script-src 'sha256-${hash}'`,
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(body).not.toMatch(/<[^>]+ on\w+=|javascript:|<link|src=/i);
});
