import { expect, test } from '@jest/globals';
import { proxyUrl } from './proxy-url.ts';
import { configSchema } from './schema.ts';
import { proxySchema } from './space-schema.ts';

test.each([
  [{}, {}, 'http://127.0.0.1:3128'],
  [{}, { proxy: { host: '::1', port: 8080 } }, 'http://[::1]:8080'],
  [{ tls: { certificate: 'c.pem', key: 'k.pem' } }, {}, 'https://127.0.0.1:3128'],
])('%j is read as %j', (proxy, listen, url) => {
  expect(proxyUrl(proxySchema.parse(proxy), configSchema.parse({ listen }).listen.proxy)).toBe(url);
});
