import { describe, expect, test } from '@jest/globals';
import { ask, decide, errorOf, gnap, idOf, open, refOf, refusedWith } from './attacks.fixture.ts';
import { CALLBACK, NONCE, READ } from './gnap.fixture.ts';

describe('RFC 9635 section 2.5.2: the URI to which the browser is sent', () => {
  const finishing = (uri: string, key = gnap.key) =>
    ask(
      {
        ...READ,
        interact: { start: ['redirect'], finish: { method: 'redirect', uri, nonce: NONCE } },
      },
      key,
    );

  test.each([
    'https://alice@client.example/back',
    'https://alice:secret@client.example/back',
    'https://:secret@client.example/back',
    'https://client.example/back#fragment',
    'https://client.example/back#',
    'https:evil#@client.example/',
    'http://client.example/back',
    'http://localhost.evil.example/back',
    'http://127.0.0.1.evil.example/back',
    'http://127.0.0.1@evil.example/back',
    'http://0.0.0.0/back',
    'http://169.254.169.254/latest',
    'http://[::ffff:10.0.0.1]/back',
    'javascript:alert(1)',
    'JavaScript:alert(1)//https://client.example',
    'java\tscript:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://client.example/x',
    'about:blank',
    'ftp://client.example/',
    'ws://client.example/',
    'app:/back',
    'com.example.app:/back',
    '//client.example/back',
    '/back',
    'client.example/back',
    'https://',
    'https://client.example:99999/',
    'https://client example/',
    `https://client.example/${'x'.repeat(2048)}`,
    '',
  ])('an unknown client may not use %j', async (uri) => {
    const told = await finishing(uri);
    expect(told.status).toBe(400);
    expect(['invalid_interaction', 'invalid_request']).toContain(errorOf(told));
  });

  test.each([
    'https://client.example/back',
    'https://client.example/back?state=1&hash=evil&interact_ref=evil&hash=more',
    'https://client.example\\@evil.example/back',
    'https:\\\\client.example\\back',
    'https:client.example/back',
    'https://client.example/ba\r\nck',
    'https://cli\tent.example/back',
    '  https://client.example/back  ',
    'https://CLIENT.example:443/back',
    'https://client.example%2fback/',
    'https://b\u00FCcher.example/back',
    'http://127.0.0.1:1234/back',
    'http://[::1]:1234/back',
    'http://2130706433/back',
  ])('if %j is accepted, the page names the host to which the browser then goes', async (uri) => {
    const asked = await finishing(uri);
    if (asked.status !== 200) return;
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    const end = await decide(browser, page);
    const location = end.headers.get('location') ?? '';
    const { host, protocol, searchParams } = new URL(location);
    expect(location).toMatch(/^https?:\/\/[!-~]+$/);
    expect([protocol, page.text.includes(host)]).toEqual([protocol, true]);
    expect(searchParams.getAll('hash')).toHaveLength(1);
    expect(searchParams.getAll('interact_ref')).toHaveLength(1);
    expect((await gnap.proceed(asked, refOf(end))).body).toHaveProperty('access_token');
  });

  test.each([
    'https://client.example/back/',
    'https://client.example/Back',
    'https://CLIENT.example/back',
    'https://client.example:443/back',
    'https://client.example:8443/back',
    'https://client.example/back?a=1',
    'https://client.example/back?',
    'https://client.example/b%61ck',
    'https://client.example/x/../back',
    'https://client.example//back',
    'https://evil.client.example/back',
    'https://client.example.evil.example/back',
    'https://client.example@evil.example/back',
    'https://client.example\\back',
    ' https://client.example/back',
    'https://client.example/back\n',
    'https://client.example/back#',
    'http://client.example/back',
    'http://127.0.0.1/back',
  ])('a registered client may not use %j', async (uri) => {
    await gnap.register(gnap.key);
    const told = await finishing(uri);
    expect(told.status).toBe(400);
    expect(['invalid_interaction', 'invalid_request']).toContain(errorOf(told));
  });

  test('a registered client without any URI may use none', async () => {
    const { byValue: key } = gnap.key;
    await gnap.flow.authz.stores.clients.add({
      client_id: idOf(gnap.key),
      client_name: 'None',
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'none',
      scope: 'photos:read',
      gnap: { key },
      created_at: 0,
    });
    for (const uri of [CALLBACK, 'http://127.0.0.1/back', '']) {
      expect((await finishing(uri)).status).toBe(400);
    }
  });

  test.each([
    ['http://127.0.0.1:1/back', 200],
    ['http://127.0.0.1:65535/back', 200],
    ['http://127.0.0.1/back', 200],
    ['http://[::1]:9/back', 200],
    ['http://127.0.0.1:0x50/back', 400],
    ['http://127.0.0.1:99999/back', 400],
    ['http://127.0.0.1:1:2/back', 400],
    ['http://127.0.0.1:/back', 400],
    ['http://127.0.0.1:1@evil.example/back', 400],
    ['http://127.0.0.1:1\\@evil.example/back', 400],
    ['http://127.0.0.1:1/other', 400],
    ['http://127.0.0.1:1/back?a', 400],
    ['http://127.0.0.1:1/back/', 400],
    ['http://127.0.0.2:1/back', 400],
    ['http://localhost:1/back', 400],
    ['http://[::1].evil.example/back', 400],
    ['https://127.0.0.1:1/back', 400],
    ['https://app.example:8443/back', 400],
    ['https://app.example/back', 200],
  ])('RFC 8252 section 7.3: a native client that uses %s gets %d', async (uri, status) => {
    await gnap.register(gnap.key, {
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/back', 'http://[::1]/back', 'https://app.example/back'],
    });
    expect((await finishing(uri)).status).toBe(status);
  });

  test('only native clients may use any port', async () => {
    await gnap.register(gnap.key, { redirect_uris: ['http://127.0.0.1:80/back'] });
    expect((await finishing('http://127.0.0.1:81/back')).status).toBe(400);
  });

  test('section 2.5.1: a client may use only the start modes that it is registered for', async () => {
    await gnap.register(gnap.key, { grant_types: ['client_credentials'] });
    for (const start of [['redirect'], ['user_code'], ['user_code_uri'], ['app'], []]) {
      expect(await ask({ ...READ, interact: { start } })).toMatchObject(
        refusedWith('invalid_interaction'),
      );
    }
  });
});
