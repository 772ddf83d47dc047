import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withProof } from '../clients/concealed/concealed-client.ts';
import {
  type AlgorithmName,
  ALGORITHMS,
  type ConcealedKey,
  newKey,
} from '../clients/concealed/keys.ts';
import type { BoundConnection } from '../clients/concealed/over-tls.ts';
import type { HttpRequest } from '../clients/digest/exchange.ts';
import { challengesIn, signed } from '../clients/hoba/hoba-client.ts';
import { newKey as newHobaKey } from '../clients/hoba/keys.ts';
import { type BoundContender, overBound } from './bound-load.ts';
import { basic } from './gate.ts';
import { round } from './statistics.ts';
import type { Comparison } from './suite.ts';
import { type Countersign, startCountersign } from './targets/countersign.ts';

const CONNECTIONS = 8;
const SHOWN = [
  'ed25519',
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'rsa_pss_rsae_sha256',
] as const;
/** How often OpenSSL alone verifies. */
const VERIFIED = 2000;

const hidden = (url: string, realm: string) => ({
  url,
  realm,
  schemes: ['Concealed'],
  serves: 'identity',
  hide: 'everything',
});

/** Concealed and HOBA: what letting in costs, and whether the cost tells that something hides. */
export async function keyComparisons(
  stack: AsyncDisposableStack,
): Promise<{ readonly comparisons: readonly Comparison[]; readonly note: string }> {
  const servers = stack.use(
    await startCountersign(({ resource }) => ({
      spaces: [
        hidden(`${resource}/vault/`, 'vault'),
        { url: `${resource}/basic/`, realm: 'basic', schemes: ['Basic'], serves: 'identity' },
        { url: `${resource}/hoba/`, realm: 'hoba', schemes: ['HOBA'], serves: 'identity' },
      ],
    })),
  );
  const { pair, resourceTls: server } = servers;
  const { name, password } = await pair.addPerson();
  const keys = new Map<AlgorithmName, ConcealedKey>();
  for (const algorithm of SHOWN) keys.set(algorithm, await register(servers, name, algorithm));

  const at = (path: string) => ({
    method: 'GET',
    target: path,
    fields: [],
    content: Buffer.alloc(0),
  });
  const same = async (request: HttpRequest) => () => request;
  const proving =
    (key: ConcealedKey, path: string, more: Parameters<typeof withProof>[1] | object = {}) =>
    ({ exporter }: BoundConnection) =>
      same(withProof(at(path), { key, exporter, origin: server.url, ...more }));
  const fields = Object.entries(basic(name, password));
  const byBasic: BoundContender = {
    name: 'Basic, seen',
    server,
    status: 200,
    requestsOn: () => same({ ...at('/basic/'), fields }),
  };
  const right = [...keys].map(([algorithm, key]): BoundContender => {
    return { name: algorithm, server, status: 200, requestsOn: proving(key, '/vault/') };
  });

  const browser = newHobaKey();
  await addKey(servers, name, browser.privateKey, ['--scheme', 'hoba', '--origin', server.url]);
  const hoba: BoundContender = {
    name: 'HOBA, RSA 2048, a new signature for each',
    server,
    status: 200,
    async requestsOn({ send }) {
      const [challenge] = challengesIn(await send(at('/hoba/')));
      if (challenge === undefined) throw new Error('HOBA is not asked for');
      return () => signed(at('/hoba/'), challenge, { key: browser, origin: server.url });
    },
  };

  const key = keys.get('ed25519') ?? newKey('ed25519', '');
  const stranger = withId(newKey('ed25519', ''));
  const tellTales: Readonly<Record<string, (path: string) => BoundContender['requestsOn']>> = {
    'no credentials': (path) => () => same(at(path)),
    'unknown key': (path) => proving(stranger, path),
    'wrong signature': (path) =>
      proving(key, path, { sign: (content: Buffer) => sign(null, content, stranger.privateKey) }),
    'wrong exporter': (path) => proving(key, path, { exporter: () => Buffer.alloc(48) }),
  };
  const compared = Object.entries(tellTales).flatMap(([what, requestTo]) =>
    ['/nothing/', '/vault/'].map((path): BoundContender => {
      return { name: `${what}, ${path}`, server, status: 404, requestsOn: requestTo(path) };
    }),
  );
  const elsewhere: BoundContender = {
    name: 'right, /nothing/',
    server,
    status: 404,
    requestsOn: proving(key, '/nothing/'),
  };
  const loaded = (contenders: readonly BoundContender[]) =>
    contenders.map((contender) => overBound(contender, CONNECTIONS));
  return {
    comparisons: [
      { title: 'Concealed and HOBA, over TLS', contenders: loaded([byBasic, ...right, hoba]) },
      {
        title: 'Concealed: what is hidden (/vault/) and what is not there (/nothing/)',
        contenders: loaded([...compared, elsewhere]),
      },
    ],
    note: `Concealed: ${CONNECTIONS} connections of TLS. OpenSSL alone verifies in ${[...keys].map(verified).join(', ')}.`,
  };
}

const withId = (key: ConcealedKey): ConcealedKey => {
  const spki = createPublicKey(key.privateKey).export({ format: 'der', type: 'spki' });
  return { ...key, keyId: hash('sha256', spki, 'buffer') };
};

async function register(
  servers: Countersign,
  name: string,
  algorithm: AlgorithmName,
): Promise<ConcealedKey> {
  const key = withId(newKey(algorithm, ''));
  await addKey(servers, name, key.privateKey);
  return key;
}

async function addKey(
  { pair }: Countersign,
  name: string,
  privateKey: KeyObject,
  options: readonly string[] = [],
): Promise<void> {
  const file = join(pair.data, 'bench.pem');
  await writeFile(file, createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }));
  await pair.cli('user', 'key', 'add', name, '--public-key', file, ...options);
}

/** Microseconds of CPU time. */
function verified([algorithm, { privateKey }]: readonly [AlgorithmName, ConcealedKey]): string {
  const content = Buffer.alloc(126);
  const signature = ALGORITHMS[algorithm].sign(content, privateKey);
  const key = createPublicKey(privateKey);
  const { user } = process.cpuUsage();
  for (let time = 0; time < VERIFIED; time += 1)
    verify(digestOf(algorithm), content, key, signature);
  return `${algorithm} ${round((process.cpuUsage().user - user) / VERIFIED, 0)} us`;
}

const digestOf = (algorithm: AlgorithmName) => /sha\d+$/.exec(algorithm)?.[0];
