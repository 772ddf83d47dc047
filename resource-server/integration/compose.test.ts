import { expect, test } from '@jest/globals';
import { RESOURCE, startResourceServer } from './resource-server.fixture.ts';

const BASIC = {
  spaces: [{ url: `${RESOURCE}/basic/`, realm: 'basic', schemes: ['Basic'], serves: 'identity' }],
};

test.each([
  ['on loopback', { trustedProxies: [] }, 401],
  ['behind a proxy that is trusted', {}, 403],
  [
    'on an address that others reach',
    { trustedProxies: [], listen: { resource: { host: '0.0.0.0' } } },
    403,
  ],
  [
    'beside a forward proxy on loopback',
    { trustedProxies: [], proxy: { destinations: ['self'] } },
    401,
  ],
  [
    'beside a forward proxy that others reach',
    {
      trustedProxies: [],
      proxy: { destinations: ['self'] },
      listen: { proxy: { host: '0.0.0.0' } },
    },
    403,
  ],
])(
  'RFC 7617 section 4: the status of Basic in clear text, %s',
  async (_where, settings, status) => {
    await using rs = await startResourceServer({ ...BASIC, ...settings });
    const answer = await rs.ask('GET', '/basic/');
    expect(answer.status).toBe(status);
    expect(answer.headers['www-authenticate']).toBe(
      status === 401 ? 'Basic realm="basic", charset="UTF-8"' : undefined,
    );
    const headers = { Authorization: `Basic ${btoa('nobody:a password')}` };
    expect((await rs.ask('GET', '/basic/', { headers })).status).toBe(status);
  },
);
