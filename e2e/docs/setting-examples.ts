import type * as z from 'zod';
import type { configSchema } from '#shared/config/schema.ts';

type Settings = z.input<typeof configSchema>;

/** An example of each setting. A test checks that the servers accept all examples. */
export const EXAMPLES: Required<Omit<Settings, '$schema'>> = {
  issuer: 'https://auth.example',
  resource: 'https://api.example',
  listen: {
    authz: { host: '10.0.0.5', port: 3000 },
    resource: { host: '10.0.0.5' },
    metrics: { port: 9464 },
  },
  tls: { resource: 'https://api.example:3443', certificate: 'api.pem', key: 'api.key' },
  privateTokens: { issuer: 'https://auth.example' },
  clients: { documents: { hosts: ['claude.ai', '*.example.com'] } },
  gnap: { clients: 'anybody' },
  data: '/var/lib/countersign',
  store: {
    kind: 'postgres',
    urls: ['postgres://countersign@10.0.0.7/countersign'],
    redis: { mode: 'sentinel', urls: ['redis://10.0.0.7:26379'] },
  },
  trustedProxies: ['10.0.0.0/24', '2001:db8::7'],
  tokens: { lifetime: 300, nonce: true },
  people: { session: 86_400, secondFactor: { required: ['staff'] } },
  sources: [
    {
      name: 'corp',
      title: 'Example Corp',
      newcomers: 'created',
      emails: { verifiedFor: ['example.com'] },
      groups: { map: { engineering: 'staff' } },
      provider: {
        issuer: 'https://login.example.com',
        clientId: 'countersign',
        clientSecretFile: 'corp.secret',
      },
    },
  ],
  revocations: { lease: 5 },
  device: { lifetime: 900 },
  audit: { addresses: true, keep: 730 },
  backup: { folder: '/var/backups/countersign-daily', keep: 14 },
  mail: {
    host: 'mail.example',
    from: 'accounts@example.com',
    user: 'countersign',
    passwordFile: 'mail.password',
  },
  security: {
    contacts: ['mailto:security@auth.example'],
    expires: '2027-06-30T00:00:00Z',
    policy: 'https://auth.example/reports',
  },
  brand: {
    name: 'Example Ltd',
    logo: 'logo.svg',
    color: '#7a1f5f',
    docs: 'https://www.example.com/countersign/docs/',
    links: [
      { text: { en: 'Terms', de: 'Nutzungsbedingungen' }, url: 'https://www.example.com/terms' },
      { text: { en: 'Help', de: 'Hilfe' }, url: '/help' },
    ],
  },
  scopeTexts: { 'documents:read': { en: 'Read your documents', de: 'Ihre Dokumente lesen' } },
  jwks: { url: 'http://10.0.0.5:3000/jwks' },
  limits: { account: { burst: 5, per: 60 } },
  server: { connections: { address: 200 }, requestTimeout: 60 },
  documents: { maxBytes: 1_073_741_824, quota: { bytes: 107_374_182_400 } },
  negotiate: { keytab: '/etc/countersign.keytab' },
  playground: true,
  proxy: { schemes: ['Digest'], destinations: ['*.example.com:443'] },
  spaces: [
    {
      url: 'https://api.example/documents/',
      realm: 'documents',
      schemes: ['DPoP', 'Bearer'],
      scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
      authentication: { acr: 'passkey', maxAge: 300, methods: ['DELETE', 'MOVE'] },
    },
    {
      url: 'https://api.example/app/',
      realm: 'app',
      schemes: ['Bearer'],
      serves: 'upstream',
      signIn: true,
      upstream: { url: 'http://127.0.0.1:8080/' },
      cache: {},
    },
  ],
};
