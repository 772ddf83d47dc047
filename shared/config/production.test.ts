import { expect, test } from '@jest/globals';
import { loadConfig } from './load.ts';
import { isProduction, productionMistakes } from './production.ts';
import { configSchema } from './schema.ts';

const SECRET = { COUNTERSIGN_SECRET: 'a secret of more than thirty-two bytes' };

test('the mode is production if a listener, the issuer or the resource is reachable from other machines', async () => {
  const config = await loadConfig({});
  expect(isProduction(config)).toBe(false);
  const { listen } = config;
  const exposed = { host: '0.0.0.0', port: 3000 };
  const { host: _inContainer, ...listeners } = listen;
  for (const name of Object.keys(listeners)) {
    expect(isProduction({ ...config, listen: { ...listen, [name]: exposed } })).toBe(true);
  }
  expect(isProduction({ ...config, issuer: 'https://auth.example' })).toBe(true);
  expect(isProduction({ ...config, resource: 'https://api.example' })).toBe(true);
  const { privateTokens } = await loadConfig({});
  const elsewhere = privateTokens && { ...privateTokens, issuer: 'https://issuer.example' };
  expect(isProduction({ ...config, privateTokens: elsewhere })).toBe(true);
});

test.each(['authz', 'resource', 'authzTls', 'resourceTls', 'proxy', 'metrics'])(
  'a public host in listen.%s turns production on, even if listen.host is the same',
  (name) => {
    const of = (listen: object) => isProduction(configSchema.parse({ listen }));
    expect(of({ host: '0.0.0.0', [name]: {} })).toBe(false);
    expect(of({ host: '0.0.0.0', [name]: { host: '0.0.0.0' } })).toBe(true);
    expect(of({ host: '0.0.0.0', [name]: { host: '127.0.0.1' } })).toBe(false);
  },
);

test('production refuses http origins and a missing secret, and says why', async () => {
  const config = await loadConfig({});
  const exposed = {
    ...config,
    listen: { ...config.listen, authz: { host: '0.0.0.0', port: 3000 } },
  };
  expect(productionMistakes(exposed, {}).map(({ path }) => path)).toEqual([
    'issuer',
    'resource',
    'tls.certificate',
    'privateTokens.certificate',
    'COUNTERSIGN_SECRET',
  ]);
  const tls = config.tls && { ...config.tls, certificate: '/tls/certificate', key: '/tls/key' };
  const origins = { issuer: 'https://auth.example', resource: 'https://api.example' };
  const privateTokens = config.privateTokens && { ...config.privateTokens, issuer: origins.issuer };
  const https = {
    ...exposed,
    ...origins,
    ...(tls && { tls }),
    ...(privateTokens && { privateTokens }),
  };
  expect(productionMistakes(https, { COUNTERSIGN_SECRET: '' })).toHaveLength(1);
  expect(productionMistakes(https, SECRET)).toEqual([]);
  expect(productionMistakes(https, { COUNTERSIGN_SECRET_FILE: '/run/secrets/master' })).toEqual([]);
});

test('development needs no settings', async () => {
  expect(productionMistakes(await loadConfig({}), {})).toEqual([]);
});
