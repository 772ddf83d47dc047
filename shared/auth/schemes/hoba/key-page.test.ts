import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { keyPage } from './key-page.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { KEY_SCRIPT } from './key-script.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };
const A = 'https://a.example';
const spaces = [`${A}/one/`, `${A}/"><b>/`];
const pages = LANGUAGES.map((language) =>
  keyPage({ brand: BRAND, language }, { origin: A, spaces }),
);

test.each(pages)('the key page names the spaces that accept the key', ({ body = '' }) => {
  const visited = body.match(/(?<=data-visit=")[^"]*/g);
  expect(visited).toEqual([`${A}/one/`, `${A}/&quot;&gt;&lt;b&gt;/`]);
});

test.each(pages)('the key page has all texts that its script shows', ({ body }) => {
  const names = new Set([...KEY_SCRIPT.matchAll(/words\.(\w+)/g)].map(([, name = '']) => name));
  for (const name of names) {
    const attribute = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect(body).toMatch(new RegExp(`data-${attribute}="[^"]`));
  }
});

test.each(pages)(
  "the key page's policy allows only its own script, and requests only to its own origin",
  ({ body = '', fields }) => {
    const scripts = [...body.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)];
    expect(scripts.map(([, attributes, text]) => [attributes, text])).toEqual([
      [' type="module"', KEY_SCRIPT],
    ]);
    const hash = createHash('sha256').update(KEY_SCRIPT).digest('base64');
    const policy = String(fields['Content-Security-Policy']).split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^style-src 'sha256-[\w+/=]+'$/),
      `script-src 'sha256-${hash}'`,
      "require-trusted-types-for 'script'",
      "connect-src 'self'",
      'img-src data:',
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(body).not.toMatch(/<[^>]+ on\w+=|javascript:|src=/i);
  },
);
