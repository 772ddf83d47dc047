import { expect, test } from '@jest/globals';
import { passkeyWarning } from '#shared/config/passkey-warning.ts';
import { configSchema } from '#shared/config/schema.ts';
import { WARNINGS } from '#shared/config/warning-texts.ts';
import { configWarnings } from '#shared/config/warnings.ts';
import { warningWords } from './messages.ts';

const NOW = Date.UTC(2026, 0, 1);

const space = { url: 'http://localhost:3001/a/', realm: 'a', schemes: ['Bearer'] };
const place = { url: 'http://127.0.0.1:8080/' };
const application = { ...space, serves: 'upstream', methods: ['GET'], upstream: place };
const other = { ...application, url: 'http://localhost:3001/b/', realm: 'b' };
const elsewhere = { issuer: 'https://auth.example', resource: 'https://api.example' };
const mail = { host: 'mail.example', port: 465, tls: 'starttls', from: 'a@mail.example' };
const purge = (network: string) => ({ ...application, cache: { purge: { networks: [network] } } });
const needing = { GET: ['notes:read'] };

/** Configurations that lead to each warning; `config check` shows them all. */
const CONFIGURATIONS: readonly object[] = [
  { spaces: [{ ...application, schemes: [] }] },
  { spaces: [{ ...space, schemes: ['Basic'], authentication: { acr: 'passkey' } }] },
  { spaces: [{ ...space, schemes: ['Basic'], secondFactor: 'not asked' }] },
  { spaces: [{ ...application, schemes: ['Basic'], signIn: true }] },
  { spaces: [{ ...application, schemes: ['Bearer'], signIn: true, scopes: needing }] },
  { spaces: [{ ...application, upstream: { url: 'http://app.example/a/' } }] },
  { spaces: [{ ...application, cache: {} }, other] },
  { spaces: [purge('0.0.0.0/0')] },
  { spaces: [purge('10.0.0.0/8')], trustedProxies: ['10.0.0.1'] },
  { spaces: [{ ...application, methods: ['PROPFIND'] }] },
  { issuer: 'https://192.0.2.1' },
  { listen: { host: '0.0.0.0' } },
  { listen: { authz: { port: 3100 } } },
  { security: { contacts: ['mailto:a@a.example'], expires: '2025-12-31T00:00:00Z' } },
  { clients: { documents: 'off' }, spaces: [{ ...space, documentClients: ['a'] }] },
  {
    ...elsewhere,
    clients: { documents: 'allow' },
    spaces: [{ ...space, url: 'https://api.example/a/', documentClients: ['a'] }],
  },
  { ...elsewhere, listen: { authz: { host: '0.0.0.0' } } },
  { clients: { documents: 'allow' }, spaces: [space] },
  { people: { registration: 'open' }, mail, spaces: [space] },
  {
    people: { secondFactor: 'off' },
    spaces: [{ ...space, authentication: { acr: 'second-factor' } }],
  },
  { mail },
];

/** Only `config check` finds these, since they need the store. */
const OF_STORE = ['empty-group', 'server-of-store'];

async function warningsOfAll() {
  async function* passkeys() {
    yield await Promise.resolve([{ rpId: 'old.example' } as never]);
  }
  const ofPasskeys = ['https://192.0.2.1', 'https://auth.example'].map((issuer) =>
    passkeyWarning(configSchema.parse({ issuer }), { list: passkeys }),
  );
  return [
    ...CONFIGURATIONS.flatMap((content) => configWarnings(configSchema.parse(content), NOW)),
    ...(await Promise.all(ofPasskeys)).flatMap((warning) => warning ?? []),
  ];
}

test('each warning in `WARNINGS` is given for at least one configuration', async () => {
  const codes = new Set((await warningsOfAll()).map(({ code }) => code));
  expect([...codes, ...OF_STORE].toSorted()).toEqual(Object.keys(WARNINGS).toSorted());
});

test('changing the English text of a warning changes neither its setting, nor its code, nor its German text', async () => {
  const seen = async () =>
    (await warningsOfAll()).map(({ message, ...warning }) => [
      warning,
      warningWords('de', { ...warning, message }),
    ]);
  const before = await seen();
  expect(JSON.stringify(before)).not.toMatch(/\{\w+\}/);
  const { ...texts } = WARNINGS;
  try {
    for (const code of Object.keys(WARNINGS)) Reflect.set(WARNINGS, code, 'other words');
    expect(new Set((await warningsOfAll()).map(({ message }) => message))).toEqual(
      new Set(['other words']),
    );
    expect(await seen()).toEqual(before);
  } finally {
    Object.assign(WARNINGS, texts);
  }
});
