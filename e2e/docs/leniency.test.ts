import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Pair, startPair } from '../pair/pair.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';
import { type Example, LENIENCIES } from './leniency-data.ts';

const rows = Object.values(LENIENCIES).flat();
const examples = rows.flatMap(({ sends, shown }): [string, Example][] =>
  'to' in shown ? [[sends, shown]] : [],
);

let pair: Pair;
let token: string;
beforeAll(async () => {
  pair = await startPair();
  token = await pair.token(await pair.addClient());
});
afterAll(() => pair[Symbol.asyncDispose]());

test.each(examples)('the server accepts %s', async (_sends, { to, lines, content, status }) => {
  const origin = to === 'authz' ? pair.issuer : pair.resource;
  const { host } = new URL(origin);
  const values = { resource: pair.resource, issuer: pair.issuer, host, token };
  const filled = (text: string) =>
    Object.entries(values).reduce((now, [name, value]) => now.replaceAll(`{${name}}`, value), text);
  const [first, ...fields] = lines.map(filled);
  const body = filled(content ?? '');
  const length = content === undefined ? [] : [`Content-Length: ${body.length}`];
  const head = [first, `Host: ${host}`, 'Connection: close', ...fields, ...length];
  const answer = await rawHttp(origin, `${head.join('\r\n')}\r\n\r\n${body}`);
  expect([statusOf(answer), answer]).toEqual([status, answer]);
});

test('each row names a client that needs it, and a request or a test that shows it', () => {
  for (const { sends, clients, section, shown } of rows) {
    expect([sends, clients, section]).toEqual([
      sends,
      expect.stringMatching(/\w{3}/),
      expect.stringMatching(/\w{3}/),
    ]);
    if ('to' in shown) continue;
    const [file, title] = shown;
    const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
    expect([file, readFileSync(path, 'utf8')]).toEqual([file, expect.stringContaining(title)]);
  }
});
