import { describe, expect, test } from '@jest/globals';
import { pairWarnings } from './pair-warnings.ts';
import { configSchema } from './schema.ts';

const NOW = Date.UTC(2026, 0, 1);

const warned = (content: object) =>
  pairWarnings(configSchema.parse({ trustedProxies: ['127.0.0.1'], ...content }), NOW).map(
    ({ path, message }) => `${path} ${message}`,
  );

describe('settings of the pair that are probably a mistake', () => {
  test.each(['https://192.0.2.1', 'https://[2001:db8::1]:8443', 'http://127.0.0.1:3000'])(
    'the issuer %s gets a warning, because browsers make no passkeys there (WebAuthn section 5.1.3)',
    (issuer) => {
      expect(warned({ issuer })).toEqual([expect.stringMatching(/^issuer has an IP address/)]);
    },
  );

  test.each(['https://auth.example', 'http://localhost:3000'])(
    'the issuer %s gets no warning',
    (issuer) => {
      expect(warned({ issuer })).toEqual([]);
    },
  );

  test.each([
    [{ listen: { authz: { port: 3100 } } }, ['listen.authz.port is 3100, and issuer is']],
    [{ listen: { resource: { port: 3101 } } }, ['listen.resource.port is 3101, and resource is']],
    [{ listen: { authz: { port: 3100 } }, issuer: 'http://localhost:3100' }, []],
    [{ listen: { authz: { port: 80 } }, issuer: 'http://localhost' }, []],
    [{ listen: { authz: { port: 0 } } }, []],
    [{ listen: { authz: { port: 3100 } }, issuer: 'https://localhost' }, []],
    [{ listen: { authz: { port: 3100 } }, issuer: 'https://auth.example' }, []],
  ])(
    'a port that differs from the public origin gets a warning in development: %j',
    (content, said) => {
      expect(warned(content)).toEqual(said.map((text) => expect.stringContaining(text)));
    },
  );

  test.each([
    [{ listen: { host: '0.0.0.0' } }, ['listen.host is 0.0.0.0, and this is development']],
    [{ listen: { host: '127.0.0.2' } }, []],
    [
      {
        issuer: 'https://auth.example',
        listen: { host: '0.0.0.0' },
        trustedProxies: ['192.0.2.1'],
      },
      [],
    ],
  ])(
    'listeners that other machines may reach get a warning in development: %j',
    (content, said) => {
      expect(warned(content)).toEqual(said.map((text) => expect.stringContaining(text)));
    },
  );

  test.each([
    ['2025-12-31T23:59:59Z', ['security.expires is over']],
    ['2026-01-01T00:00:00Z', ['security.expires is over']],
    ['2026-01-01T00:00:01Z', []],
  ])(
    'security.txt that expires %s gets a warning once that time is past (RFC 9116 section 2.5.5)',
    (expires, said) => {
      const security = { contacts: ['mailto:security@auth.example'], expires };
      expect(warned({ security })).toEqual(said.map((text) => expect.stringContaining(text)));
    },
  );

  const everywhere = { authz: { host: '0.0.0.0', port: 3000 } };
  test.each<[readonly string[], object, string | undefined]>([
    [[], {}, 'lacks 127.0.0.1'],
    [['10.0.0.0/8'], {}, 'lacks 127.0.0.1'],
    [['::1'], {}, undefined],
    [['127.0.0.0/8'], {}, undefined],
    [[], { listen: everywhere }, 'lacks the address'],
    [['10.0.0.0/8'], { listen: everywhere }, undefined],
    [[], { issuer: 'http://localhost:3000' }, undefined],
  ])(
    'trustedProxies without the TLS proxy gets a warning: %j with %j',
    (trustedProxies, more, said) => {
      const expected =
        said === undefined ? [] : [expect.stringContaining(`trustedProxies ${said}`)];
      expect(warned({ issuer: 'https://auth.example', ...more, trustedProxies })).toEqual(expected);
    },
  );

  const asking = (authentication: object) => ({
    spaces: [
      { url: 'http://localhost:3001/a/', realm: 'a', schemes: ['Bearer'] },
      { url: 'http://localhost:3001/b/', realm: 'b', schemes: ['Bearer'], authentication },
    ],
  });

  const space = { url: 'http://localhost:3001/a/', realm: 'a', schemes: ['Bearer'] };
  const opened = { ...space, documentClients: ['a'] };

  test.each([
    [
      'off',
      opened,
      'is off, so that spaces.0.documentClients lets in only what client add --document registers',
    ],
    ['allow', space, 'takes clients that nobody registered, and no space has documentClients'],
    [{ hosts: ['a.example'] }, space, 'takes clients that nobody registered'],
  ])('clients by documents: %j, with %j, get a warning', (documents, only, warning) => {
    expect(warned({ clients: { documents }, spaces: [only] })).toEqual([
      expect.stringContaining(`clients.documents ${warning}`),
    ]);
  });

  test.each([
    ['off', space],
    ['allow', opened],
    [undefined, space],
    [undefined, opened],
  ])('clients by documents: %j, with %j, get no warning', (documents, only) => {
    expect(warned({ clients: { documents }, spaces: [only] })).toEqual([]);
  });

  test('clients by documents of every host get a warning in production', () => {
    const elsewhere = { issuer: 'https://auth.example', resource: 'https://api.example' };
    const spaces = [{ ...opened, url: 'https://api.example/a/' }];
    expect(warned({ ...elsewhere, clients: { documents: 'allow' }, spaces })).toEqual([
      expect.stringContaining('clients.documents is allow: anybody may describe a client'),
    ]);
    const documents = { hosts: ['a.example'] };
    expect(warned({ ...elsewhere, clients: { documents }, spaces })).toEqual([]);
  });

  test('a space that requires a second factor gets a warning while second factors are off', () => {
    const off = { people: { secondFactor: 'off' } };
    const rules = [{ maxAge: 60 }, { acr: 'second-factor', methods: ['unsafe'] }];
    expect(warned({ ...off, ...asking(rules) })).toEqual([
      expect.stringMatching(/^people\.secondFactor is off.* spaces\.1\.authentication asks/),
    ]);
    expect(warned({ ...off, ...asking({ maxAge: 60 }) })).toEqual([]);
    expect(warned({ ...off, ...asking({ acr: 'passkey' }) })).toEqual([]);
    expect(warned(asking(rules))).toEqual([]);
  });

  test.each([
    [{ port: 587 }, 1],
    [{ port: 25 }, 1],
    [{ tls: 'starttls' }, 1],
    [{ port: 465, tls: 'starttls' }, 1],
    [{}, 0],
    [{ port: 587, tls: 'starttls' }, 0],
    [{ port: 2525 }, 0],
  ])(
    'mail %j gets a warning if tls does not fit the port (RFC 8314 section 3.3)',
    (members, count) => {
      const mail = { host: 'mail.example', from: 'accounts@example.com', ...members };
      const found = warned({ mail });
      expect(found).toHaveLength(count);
      for (const line of found) expect(line).toMatch(/^mail\.tls is /);
    },
  );
});

describe('mail.from (RFC 5321 section 4.1.2)', () => {
  const parse = (from: string) => configSchema.safeParse({ mail: { host: 'mail.example', from } });

  test.each([
    'accounts@example.com',
    'no-reply+a@mail.example.com',
    'root@localhost',
    `${'a'.repeat(64)}@example.com`,
  ])('%s is accepted', (from) => {
    expect(parse(from).success).toBe(true);
  });

  test.each([
    'Accounts <accounts@example.com>',
    'accounts',
    '@example.com',
    'accounts@',
    'a@b@example.com',
    '.a@example.com',
    'a.@example.com',
    'a..b@example.com',
    'a@example..com',
    'a@.example.com',
    'a@example.com.',
    'a@-example.com',
    'a@example-.com',
    'a b@example.com',
    'a@example.com\n',
    'a@example.com,b@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.com`,
    `a@${'b.'.repeat(130)}com`,
  ])('%j is refused', (from) => {
    expect(parse(from).error?.issues[0]?.message).toBe(
      'must be an address alone, such as accounts@example.com',
    );
  });
});
