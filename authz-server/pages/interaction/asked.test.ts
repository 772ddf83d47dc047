import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { configSchema } from '#shared/config/schema.ts';
import { allowedItems, askedItems } from './asked.ts';

const DOCUMENTS = 'https://api.example/documents/';
const NOTES = 'https://notes.example/';
const config = configSchema.parse({
  spaces: [
    {
      url: DOCUMENTS,
      realm: 'd',
      schemes: ['Bearer'],
      scopes: { safe: ['read'], unsafe: ['write'] },
    },
    { url: NOTES, realm: 'n', schemes: ['Bearer'], scopes: { safe: ['read'] } },
  ],
  scopeTexts: { read: { en: 'Read them', de: 'Lesen' }, write: { en: 'Change them' } },
});
const client = { client_id: 'app', scope: 'openid profile read write other' };
const idsOf = (params: Record<string, unknown>, scope = client.scope) =>
  askedItems(config, { ...client, scope }, params, 'en').map(({ id }) => id);

function formOf(items: readonly string[]): URLSearchParams {
  const form = new URLSearchParams();
  for (const id of items) form.append('item', id);
  return form;
}

describe('the items that a request asks for', () => {
  test('identity comes first, then the scopes of each resource, with the texts of the configuration', () => {
    const params = { client_id: 'app', scope: 'write read openid', resource: [DOCUMENTS, NOTES] };
    expect(askedItems(config, client, params, 'de')).toEqual([
      { id: 'openid', scope: 'openid', text: expect.any(String), values: [], required: true },
      {
        id: `${DOCUMENTS} write`,
        scope: 'write',
        text: 'Change them',
        values: [],
        resource: DOCUMENTS,
        place: 'd',
        required: false,
      },
      {
        id: `${DOCUMENTS} read`,
        scope: 'read',
        text: 'Lesen',
        values: [],
        resource: DOCUMENTS,
        place: 'd',
        required: false,
      },
      {
        id: `${NOTES} read`,
        scope: 'read',
        text: 'Lesen',
        values: [],
        resource: NOTES,
        place: 'n',
        required: false,
      },
    ]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['no parameters', {}],
    ['a scope that is no string', { client_id: 'app', scope: ['read'], resource: DOCUMENTS }],
    ['scopes without a resource', { client_id: 'app', scope: 'read write' }],
    [
      'a scope that the client may not have',
      { client_id: 'app', scope: 'delete', resource: DOCUMENTS },
    ],
    [
      'a scope that the resource does not know',
      { client_id: 'app', scope: 'other write', resource: NOTES },
    ],
    [
      'a resource that is not configured',
      { client_id: 'app', scope: 'read', resource: 'https://evil.example/' },
    ],
    [
      '`__proto__` as scope and resource',
      { client_id: 'app', scope: '__proto__ constructor', resource: '__proto__' },
    ],
  ])('a request with %s has no items', (_what, params) => {
    expect(idsOf(params)).toEqual([]);
  });

  test('a request has only items that the client may have', () => {
    expect(idsOf({ client_id: 'app', scope: 'read write', resource: DOCUMENTS }, 'read')).toEqual([
      `${DOCUMENTS} read`,
    ]);
  });

  test('an origin with and without a slash is the same resource, and keeps the form in which it was sent', () => {
    expect(idsOf({ client_id: 'app', scope: 'read', resource: 'https://notes.example' })).toEqual([
      'https://notes.example read',
    ]);
  });

  test('a scope without a configured text is shown as it is', () => {
    const bare = { ...config, scopeTexts: {} };
    const [item] = askedItems(bare, client, { scope: 'read', resource: NOTES }, 'en');
    expect(item?.text).toBe('read');
  });
});

describe('the items that a form allows', () => {
  const asked = askedItems(config, client, { scope: 'openid profile read', resource: NOTES }, 'en');
  const idsAllowed = (items: readonly string[]) =>
    allowedItems(asked, formOf(items)).map(({ id }) => id);

  test('a form allows ticked items, and items that cannot be refused', () => {
    expect(idsAllowed([])).toEqual(['openid']);
    expect(idsAllowed(['profile'])).toEqual(['openid', 'profile']);
    expect(idsAllowed([`${NOTES} read`, 'openid'])).toEqual(['openid', `${NOTES} read`]);
  });

  test('a form never allows an item that the client did not ask for', () => {
    const known = asked.map(({ id }) => id);
    const id = fc.oneof(
      fc.constantFrom(...known, `${DOCUMENTS} read`, 'read', 'offline_access', '__proto__'),
      anyText(),
    );
    fc.assert(
      fc.property(fc.array(id), (items) => {
        const allowed = idsAllowed(items);
        expect(allowed.every((one) => known.includes(one))).toBe(true);
        expect(allowed).toEqual(known.filter((one) => one === 'openid' || items.includes(one)));
      }),
    );
  });
});

describe('tokens for PrivateToken', () => {
  const issuer = configSchema.parse({ privateTokens: {} });
  const allowed = { client_id: 'app', scope: 'private-token private-token:verify' };
  const params = {
    scope: 'private-token private-token:verify',
    resource: 'https://localhost:3444/private-token/request',
  };

  test.each(['en', 'de'] as const)(
    'the scope for tokens has a text in plain words in the language %s',
    (language) => {
      expect(askedItems(issuer, allowed, params, language)).toEqual([
        {
          id: `${params.resource} private-token`,
          scope: 'private-token',
          text: expect.stringMatching(/without learning who you are|erfährt niemand/),
          values: [],
          resource: params.resource,
          required: false,
        },
      ]);
    },
  );

  test('a scope of the same name at another resource does not have this text', () => {
    const spaces = [
      { url: NOTES, realm: 'n', schemes: ['Bearer'], scopes: { safe: ['private-token'] } },
    ];
    const other = configSchema.parse({ privateTokens: {}, spaces });
    const [item] = askedItems(other, allowed, { ...params, resource: NOTES }, 'en');
    expect(item).toMatchObject({ text: 'private-token', values: [], resource: NOTES });
  });
});
