import { describe, expect, test } from '@jest/globals';
import { configSchema } from './schema.ts';
import { configWarnings } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);

const warned = (space: object) =>
  configWarnings(
    configSchema.parse({
      spaces: [
        {
          url: 'http://localhost:3001/app/',
          realm: 'app',
          schemes: ['Bearer'],
          serves: 'upstream',
          ...space,
        },
      ],
    }),
    NOW,
  ).map(({ path }) => path);

describe('settings that are probably a mistake', () => {
  test.each([
    ['http://app.example/app/', ['spaces.0.upstream.url']],
    ['http://203.0.113.7/app/', ['spaces.0.upstream.url']],
    ['http://[2001:db8::1]/app/', ['spaces.0.upstream.url']],
    ['https://app.example/app/', []],
    ['http://127.0.0.1:8080/app/', []],
    ['http://[::1]:8080/app/', []],
    ['http://localhost:8080/app/', []],
    ['http://10.1.2.3/app/', []],
    ['http://172.20.0.2/app/', []],
    ['http://172.32.0.2/app/', ['spaces.0.upstream.url']],
    ['http://[fd00::1]/app/', []],
    ['http://inventory:8080/app/', []],
  ])('clear text to %s gets a warning, unless the address is private', (url, paths) => {
    expect(warned({ upstream: { url } })).toEqual(paths);
  });

  test('clear text to one of several upstreams gets a warning', () => {
    const urls = ['http://127.0.0.1/app/', 'http://app.example/app/'];
    expect(warned({ upstream: { urls } })).toEqual(['spaces.0.upstream.url']);
  });

  test('a space without authentication gets a warning', () => {
    const upstream = { url: 'http://127.0.0.1/app/' };
    expect(warned({ schemes: [], upstream })).toEqual(['spaces.0.schemes']);
  });

  test('a cached application that another space also reaches gets a warning', () => {
    const at = (name: string, url: string, more = {}) => ({
      url: `http://localhost:3001/${name}/`,
      realm: name,
      schemes: ['Bearer'],
      serves: 'upstream',
      methods: ['GET', 'POST'],
      upstream: { url },
      ...more,
    });
    const told = (...spaces: readonly object[]) =>
      configWarnings(configSchema.parse({ spaces }), NOW).map(({ path }) => path);
    const cached = at('a', 'http://127.0.0.1:8080/', { cache: {} });
    expect(told(cached, at('b', 'http://127.0.0.1:8080/'))).toEqual(['spaces.0.cache']);
    expect(told(cached, at('b', 'http://127.0.0.1:8080/b/'))).toEqual(['spaces.0.cache']);
    expect(told(cached, at('b', 'http://127.0.0.1:8081/'))).toEqual([]);
    expect(told(cached)).toEqual([]);
  });

  test('WebDAV with mapped paths gets a warning', () => {
    const upstream = { url: 'http://127.0.0.1/' };
    expect(warned({ upstream })).toEqual(['spaces.0.upstream']);
    expect(warned({ upstream, methods: ['GET', 'POST'] })).toEqual([]);
    expect(warned({ upstream, methods: ['GET', 'PROPFIND'] })).toEqual(['spaces.0.upstream']);
  });
});
