import { expect, test } from '@jest/globals';
import type { SpaceConfig } from './schema.ts';
import { gnapSpaces, tokenSpaces } from './token-spaces.ts';

const RESOURCE = 'http://localhost:3001';
const SECURE = 'https://localhost:3443';

/** A space with the members that the lists need. */
const space = (path: string, serves: SpaceConfig['serves']) =>
  ({
    url: RESOURCE + path,
    realm: path,
    schemes: ['Bearer', 'GNAP'],
    scopes: {},
    alg: 'ES256',
    serves,
  }) as SpaceConfig;

test('RFC 8030 section 8: tokens are issued for every space of a clear-text origin except a push service', () => {
  const config = {
    issuer: 'http://localhost:3000',
    resource: RESOURCE,
    tls: { resource: SECURE },
    spaces: [space('/documents/', 'documents'), space('/push/', 'push')],
  } as Parameters<typeof tokenSpaces>[0];
  const urls = [`${RESOURCE}/documents/`, `${SECURE}/documents/`, `${SECURE}/push/`];
  expect(gnapSpaces(config).map(({ url }) => url)).toEqual(urls);
  expect(tokenSpaces(config).map(({ url }) => url)).toEqual([
    ...urls,
    'http://localhost:3000/revocations',
    'http://localhost:3000/admin/api',
  ]);
});
