import { temporaryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { type HttpContender, overWrk } from './http-load.ts';
import { compare } from './measure.ts';
import { comparison, type Findings, type Table } from './report.ts';
import { inTurn } from './requests.ts';
import { BODY, ES256, furnish, get, SCOPE, SETTINGS } from './site.ts';
import { type Guarded, startGuarded } from './targets/bare.ts';
import { startCountersign } from './targets/countersign.ts';
import { byBearer } from './token-contenders.ts';

const CONNECTIONS = 32;
/** More than ours remember (20,000), so that each is unseen when it comes again. */
const TOKENS = 21_000;

const NOTES = [
  `wrk, ${CONNECTIONS} connections; the answer is a text of ${BODY.length} bytes; tokens are signed with ES256. Of the`,
  'libraries only ours looks at revocations, which it follows meanwhile. The ratio is to the framework alone.',
];

type Framework = Parameters<typeof startGuarded>[0];
type Contenders = Readonly<Record<string, Guarded['by']>>;

const ROWS: Readonly<Record<Framework, Contenders>> = {
  express: {
    'Express alone': 'nobody',
    '@countersign/resource': 'countersign',
    'express-oauth2-jwt-bearer': 'peer',
  },
  fastify: {
    'Fastify alone': 'nobody',
    '@countersign/resource': 'countersign',
    '@fastify/jwt': 'peer',
    '@fastify/jwt, cache: true': 'peer, which remembers',
  },
};

/** Requests a second to an API that is protected by a library. */
export async function measureGuard(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const servers = stack.use(await startCountersign(SETTINGS));
  const site = await furnish(servers);
  const client = await servers.pair.addClient('revocations:follow');
  const { issuer } = servers.pair;
  say(`  ${TOKENS} tokens`);
  const tokens = await site.tokens(ES256, TOKENS);

  const expected = { issuer, audience: ES256.url, scope: SCOPE, client, path: ES256.path };
  const started = async ([framework, rows]: [string, Contenders]) => {
    const all = Object.entries(rows).map(async ([name, by]) => {
      const options = { ...expected, by, body: BODY };
      const server = stack.use(await startGuarded(framework as Framework, options, folder));
      return { name, by, server };
    });
    return { framework, contenders: await Promise.all(all) };
  };
  const frameworks = await Promise.all(Object.entries(ROWS).map(started));

  const comparisons = frameworks.flatMap(({ framework, contenders }) =>
    [
      { how: 'one token again and again (seen)', load: oneOf },
      { how: `${TOKENS} tokens in turn (unseen)`, load: inTurn },
    ].map(({ how, load }): readonly [string, readonly HttpContender[]] => [
      `${framework}: Bearer, ${how}`,
      contenders.map(({ name, by, server }) => {
        const asked = { name, server, space: ES256, tokens, ask: get, load };
        const { forged, ...contender } = byBearer(asked);
        return { ...contender, ...(by !== 'nobody' && forged && { forged }) };
      }),
    ]),
  );
  const tables: Table[] = [];
  let errors = 0;
  for (const [title, contenders] of comparisons) {
    say(`  ${title}`);
    const measured = await compare(
      contenders.map((contender) => overWrk(contender, CONNECTIONS)),
      say,
    );
    errors += measured.reduce((sum, row) => sum + row.errors, 0);
    tables.push(comparison(title, measured));
  }
  return { tables, errors, notes: NOTES };
}

const oneOf: typeof inTurn = (all) => inTurn(all.slice(0, 1));
