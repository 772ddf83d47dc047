import { temporaryFolder } from '../parts/temporary-folder.ts';
import { overBatches } from './batch-load.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import {
  addGnapClient,
  byGrant,
  byUse,
  byVerifier,
  GNAP_SETTINGS,
  type GnapClient,
  gnapToken,
  grantsOf,
  type Signed,
  usesOf,
} from './gnap-contenders.ts';
import { byClient } from './grant-contenders.ts';
import { type HttpContender, overWrk } from './http-load.ts';
import { compare, type Measured } from './measure.ts';
import { comparison, type Findings, type Table } from './report.ts';
import { inTurn } from './requests.ts';
import { ES256, furnish, get, SCOPE, type Site } from './site.ts';
import { round } from './statistics.ts';
import { startCountersign } from './targets/countersign.ts';
import { byBearer } from './token-contenders.ts';
import { type SigningParty, type VerifierName, VERIFIERS } from './verifiers.ts';

const CONNECTIONS = 32;
const ALGORITHMS: readonly SigningParty['alg'][] = ['ES256', 'Ed25519'];
const ALONE = Object.keys(VERIFIERS) as VerifierName[];

const NOTES = [
  `wrk, ${CONNECTIONS} connections, SQLite; the load generator signs each request before the run. The ratio is to the`,
  'first row, which is the same without a signature. "x node:crypto" and the like: how many times the CPU time of',
  'one verification by it alone. Those processes verify such requests in a loop, each once and without HTTP, as many',
  'as are signed for a server. node:crypto gets the signature base; the others make it from the fields.',
];

interface Compared {
  readonly title: string;
  readonly contenders: readonly HttpContender[];
  /** The requests whose signatures are also verified alone. */
  readonly all: Signed;
}

/** Measures signed requests per second, beside unsigned requests and beside the verification alone. */
export async function measureGnap(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  const tables: Table[] = [];
  let errors = 0;
  for (const alg of ALGORITHMS) {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await temporaryFolder());
    const site = await furnish(stack.use(await startCountersign(GNAP_SETTINGS)));
    const client = await addGnapClient(site.servers, alg, folder);
    for (const compared of [await grants(site, client), await uses(site, client)]) {
      say(`  ${compared.title}`);
      const measured = await measureBeside(compared, folder, say);
      errors += measured.reduce((sum, row) => sum + row.errors, 0);
      tables.push(withCosts(comparison(compared.title, measured), measured));
    }
  }
  return { tables, errors, notes: NOTES };
}

/** A client gets a token for itself. */
async function grants({ servers }: Site, client: GnapClient): Promise<Compared> {
  const { pair, authz } = servers;
  const all = grantsOf(client);
  return {
    title: `${client.alg} key: a client acts for itself, ES256 JWT`,
    contenders: [
      byClient('client credentials, POST /token', authz, await pair.addClient(SCOPE), ES256.url),
      byGrant('GNAP with a nonce, POST /gnap', authz, all),
    ],
    all,
  };
}

/** One token is used repeatedly. */
async function uses({ servers, tokens }: Site, client: GnapClient): Promise<Compared> {
  const { resource: server } = servers;
  const token = await gnapToken(client);
  const all = usesOf(client, token, 'no nonce');
  const bearer = {
    name: 'Bearer, GET',
    server,
    space: ES256,
    tokens: await tokens(ES256, 1),
    ask: get,
    load: inTurn,
  };
  return {
    title: `${client.alg} key: one token again and again, document`,
    contenders: [
      byBearer(bearer),
      byUse('GNAP, GET', server, all),
      byUse('GNAP with a nonce, GET', server, usesOf(client, token, 'nonce')),
    ],
    all,
  };
}

async function measureBeside(
  { contenders, all }: Compared,
  folder: string,
  say: (line: string) => void,
): Promise<readonly Measured[]> {
  await using stack = new AsyncDisposableStack();
  const started = async (by: VerifierName) => {
    const contender = await byVerifier(by, all, folder);
    stack.use(contender.server);
    return contender;
  };
  const alone = await Promise.all(ALONE.map(started));
  const servers = contenders.map((contender) => overWrk(contender, CONNECTIONS));
  return await compare([...servers, ...alone.map(overBatches)], say);
}

/** Adds each row's cost as a multiple of each verifier's cost. The verifiers are the last rows. */
function withCosts({ title, rows }: Table, measured: readonly Measured[]): Table {
  const verifiers = measured.slice(-ALONE.length);
  const costs = (cpu = Number.NaN) =>
    Object.fromEntries(
      ALONE.map((by, at) => [`x ${by}`, round(cpu / (verifiers[at]?.cpu ?? Number.NaN), 2)]),
    );
  return { title, rows: rows.map((row, at) => ({ ...row, ...costs(measured[at]?.cpu) })) };
}
