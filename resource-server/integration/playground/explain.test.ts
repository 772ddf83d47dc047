import { expect, test } from '@jest/globals';
import { checksOf, onePlayground } from './playground.fixture.ts';

const suite = onePlayground();

const formOf = (text: string) => new URLSearchParams({ text }).toString();
const BASIC = `Authorization: Basic ${Buffer.from('alice:secret').toString('base64')}`;

test('the page explains the pasted text: its parts, the checks in order, and the text again', async () => {
  const { rs } = suite;
  const empty = await rs.ask('GET', '/playground/explain', { headers: { Accept: 'text/html' } });
  expect(empty.text).toContain('action="/playground/explain#results"');
  expect((await rs.ask('GET', '/schemes/')).text).toContain('href="/playground/explain"');
  const { status, text } = await rs.perform('explain', formOf(BASIC));
  expect(status).toBe(200);
  expect(text).toContain('<code>alice</code>');
  expect(text).toContain(`${BASIC}</textarea`);
  const results = [...text.matchAll(/<span class="tag[^"]*">([^<]*)</g)].map(([, word]) => word);
  expect(results).toEqual(['only the server can tell', 'right', 'only the server can tell']);
});

test('the frame of an explanation is German for a German browser', async () => {
  const { rs } = suite;
  const { text } = await rs.perform('explain', formOf(BASIC), { 'Accept-Language': 'de' });
  expect(text).toContain('weiß nur der Server');
  expect(text).toContain('<h2 id="thing-1" lang="en">Basic credentials</h2>');
});

test("the page checks the signature of its own authorization server's tokens", async () => {
  const { rs } = suite;
  const resultsOf = async (token: string) => {
    const { text } = await rs.perform('explain', formOf(token));
    return checksOf(text)[0]
      ?.slice(0, 3)
      .map(({ result }) => result);
  };
  const good = rs.token('documents:read');
  expect(await resultsOf(good)).toEqual(['right', 'right', 'right']);
  const changed = good.replace(/\.[^.]*$/, `.${'A'.repeat(86)}`);
  expect(await resultsOf(changed)).toEqual(['right', 'right', 'wrong']);
  const unknown = rs.token('documents:read', {}, { kid: 'k2' });
  expect(await resultsOf(unknown)).toEqual(['right', 'wrong', 'not reached']);
  const foreign = rs.token('documents:read', { iss: 'https://other.example' });
  expect(await resultsOf(foreign)).toEqual([
    'right',
    'only the server can tell',
    'only the server can tell',
  ]);
});

test('the page checks tokens that the playground itself issued', async () => {
  const { rs } = suite;
  const { text: page } = await rs.perform('bearer');
  const [, token = ''] = /Authorization: Bearer (ey\S+)/.exec(page) ?? [];
  const { text } = await rs.perform('explain', formOf(token));
  expect(
    checksOf(text)[0]
      ?.slice(0, 3)
      .map(({ result }) => result),
  ).toEqual(['right', 'right', 'right']);
});

test.each([
  ['hello', 'put its name in front'],
  ['', 'kind of text is unknown'],
  ['a'.repeat(16_385), 'longer than 16384 bytes'],
  ['\u00e4'.repeat(8193), 'longer than 16384 bytes'],
])('explaining %.20s is 400, with the reason', async (pasted, reason) => {
  const { rs } = suite;
  const { status, text } = await rs.perform('explain', formOf(pasted));
  expect([status, text]).toEqual([400, expect.stringContaining(reason)]);
});

test('a text of 16 KB fits into the form even if every character is escaped, and a longer form is 413', async () => {
  const { rs } = suite;
  const longest = `DPoP: ${'"'.repeat(16_378)}`;
  expect((await rs.perform('explain', formOf(longest))).status).toBe(200);
  expect((await rs.perform('explain', `text=${'a'.repeat(50_000)}`)).status).toBe(413);
});

test.each([
  ['text=a&text=b', {}, 400],
  ['mistake=a', {}, 400],
  ['text=%ff', {}, 400],
  ['{}', { 'Content-Type': 'application/json' }, 415],
  ['text=a', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }, 403],
  ['text=a', { Origin: 'null', 'Sec-Fetch-Site': 'same-site' }, 403],
])('the form %s with the fields %j is %d', async (form, headers, status) => {
  const { rs } = suite;
  expect((await rs.perform('explain', form, headers)).status).toBe(status);
});

test.each([
  'Authorization: Basic realm="</code><script>alert(1)</script>"',
  'WWW-Authenticate: <script>alert(1)</script>',
  'X"><script>: a',
  '</textarea><script>alert(1)</script>',
  `DPoP: e30.${Buffer.from('{"<script>alert(1)</script>":"<img src=x>"}').toString('base64url')}.`,
  'Cache-Status: "</dd><script>alert(1)</script>"; hit; detail="<img src=x>"',
  'If: </<script>alert(1)</script>> ([W/"<img"])',
])('pasted markup is shown as text: %s', async (pasted) => {
  const { rs } = suite;
  const { text } = await rs.perform('explain', formOf(pasted));
  expect(text).not.toMatch(/<(?:script|img src)/);
  expect(text.match(/<\/textarea/g)).toHaveLength(1);
});

test('a visitor has 30 explanations at once, then 429, and the log has nothing of the text', async () => {
  const { rs } = suite;
  const statuses = new Set<number>();
  for (let count = 0; count < 40 && !statuses.has(429); count += 1) {
    const one = { 'X-Forwarded-For': '203.0.113.1' };
    statuses.add((await rs.perform('explain', formOf(BASIC), one)).status);
  }
  expect(statuses).toEqual(new Set([200, 429]));
  expect(rs.lines.length).toBeGreaterThan(30);
  expect(rs.lines.join()).not.toMatch(/alice|secret|YWxpY2U/);
});
