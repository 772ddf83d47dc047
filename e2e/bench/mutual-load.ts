import { mutualClient } from '#shared/auth/schemes/mutual/client.fixture.ts';
import type { MutualAlgorithmName } from '#shared/auth/schemes/mutual/algorithms.ts';
import { parseChallenges, valueOf } from '../clients/digest/challenges.ts';
import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import type { HttpRequest } from './requests.ts';
import { ORIGIN } from './site.ts';

export interface MutualOptions {
  readonly algorithm: MutualAlgorithmName;
  readonly user: string;
  readonly password: string;
  /** How many clients take turns, each with a session of its own. */
  readonly clients: number;
  /** More than any server answers: a proof is good once. */
  readonly perSecond: number;
}

/** A space for each algorithm, by its name. */
export const mutualSpace = (algorithm: MutualAlgorithmName) => ({
  url: `${ORIGIN}/${algorithm}/`,
  realm: algorithm,
  schemes: ['Mutual'],
  mutual: { algorithm },
  serves: 'identity',
});

const clientOf = ({ algorithm, user, password }: MutualOptions) =>
  mutualClient({
    algorithm,
    scope: new URL(ORIGIN).hostname,
    realm: algorithm,
    user,
    password,
    validation: 'host',
    vh: Buffer.from(ORIGIN),
  });

function request(algorithm: string, params: Readonly<Record<string, string>>): HttpRequest {
  const list = Object.entries(params).map(([name, value]) => `${name}="${value}"`);
  const fields = { Authorization: `Mutual ${list.join(', ')}` };
  return { method: 'GET', path: `/${algorithm}/`, fields };
}

async function send({ url }: Server, { path, fields }: HttpRequest): Promise<Response> {
  const response = await fetch(url + path, { headers: fields });
  await response.arrayBuffer();
  return response;
}

/** A session that was proved once (RFC 8120 section 2.2). */
async function begin(server: Server, options: MutualOptions) {
  const { algorithm } = options;
  const client = clientOf(options);
  const { headers } = await send(server, request(algorithm, client.kex()));
  const [challenge] = parseChallenges([headers.get('www-authenticate') ?? '']);
  const [sid, ks1] = ['sid', 'ks1'].map((name) => valueOf(challenge?.params ?? [], name) ?? '');
  const session = client.session({ sid: sid ?? '', ks1: ks1 ?? '' });
  const { status } = await send(server, request(algorithm, session.vfy(0)));
  if (status !== 200) throw new Error(`${server.url} answered ${status} by Mutual`);
  return session;
}

/** A new proof for each request, made before each run: none is sent twice. */
export const byProof = (name: string, server: Server, options: MutualOptions): HttpContender => ({
  name,
  server,
  load: {
    async take(seconds) {
      const { clients, perSecond, algorithm } = options;
      const sessions = await Promise.all(
        Array.from({ length: clients }, () => begin(server, options)),
      );
      const each = Math.ceil((seconds * perSecond) / clients);
      return Array.from({ length: each }, (_, n) => n + 1).flatMap((nc) =>
        sessions.map(({ vfy }) => request(algorithm, vfy(nc))),
      );
    },
    sent: () => {},
  },
  answer: { status: 200 },
  async forged() {
    const { vfy } = await begin(server, options);
    return request(options.algorithm, { ...vfy(1), nc: '2' });
  },
});
