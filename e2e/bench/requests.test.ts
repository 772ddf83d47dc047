import { expect, test } from '@jest/globals';
import { inTurn, serialize } from './requests.ts';

const get = (path: string) => ({ method: 'GET', path, fields: {} });

test('RFC 9112 section 6.2: Content-Length counts bytes', () => {
  const request = { method: 'POST', path: '/token', fields: { A: 'b' }, body: 'é' };
  expect(serialize(request, 'h:1')).toBe(
    'POST /token HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 2\r\n\r\né',
  );
  expect(serialize(get('/a'), 'h:1')).toBe('GET /a HTTP/1.1\r\nHost: h:1\r\n\r\n');
});

test('requests in rotation continue after the end of the last run', async () => {
  const load = inTurn(['/a', '/b', '/c'].map(get));
  const paths = async () => (await load.take(1)).map(({ path }) => path).join('');
  expect(await paths()).toBe('/a/b/c');
  load.sent(2);
  expect(await paths()).toBe('/c/a/b');
  load.sent(5);
  expect(await paths()).toBe('/b/c/a');
});
