import { expect, test } from '@jest/globals';
import { copyable } from './copyable.ts';
import { html } from './html.ts';
import { scriptOf } from './page-script.ts';

const own = { text: 'own();', asks: true } as const;
const time = html`<time datetime="2026-03-09T07:03:00.000Z" data-shown="long">9 March</time>`;
const copied = copyable('en', html`<code>x</code>`, 'Link');

test.each([
  ['no such part', html`<p>data-copied</p>`, undefined, undefined],
  ['no such part and a script of its own', html`<p></p>`, own, /^own\(\);$/],
  ['a text to copy', copied, undefined, /^[^]*clipboard[^]*$/],
  ['a moment', time, undefined, /^[^]*DateTimeFormat[^]*$/],
  ['all', html`${copied}${time}`, own, /^own\(\);[^]*clipboard[^]*DateTimeFormat/],
])('the script of a page with %s', (_, content, script, text) => {
  const joined = scriptOf(String(content), script);
  if (text === undefined) expect(joined).toBeUndefined();
  else expect(joined?.text).toMatch(text);
  expect(joined?.asks).toBe(script?.asks);
});

test('a text on a page adds no script', () => {
  const content = html`<p title="${' data-copied="x" '}">${' data-shown="long" '}</p>`;
  expect(scriptOf(String(content))).toBeUndefined();
});
