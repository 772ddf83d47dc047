import { encodePadded } from '#shared/private-token/base64url.ts';
import { REQUEST_TYPE } from '#shared/private-token/issuer-directory.ts';
import { type TokenKeyPair, truncatedKeyId } from '#shared/private-token/token-key.ts';
import { encodeTokenRequest } from '#shared/private-token/token-request.ts';
import {
  BLIND_RSA,
  TOKEN_TYPES,
  type TokenType,
  VOPRF,
} from '#shared/private-token/token-types.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import {
  type OctetAnswer,
  type OctetRequest,
  overPool,
  type PoolContender,
  type Probe,
} from './pool-load.ts';
import { type Schedule, WARM_UP } from './measure.ts';
import type { Findings, Table } from './report.ts';
import { round } from './statistics.ts';
import { compareAll, type Comparison } from './suite.ts';
import { blindRequest, tokenMaker } from './token-maker.ts';
import { startTokenTargets, type TokenTarget, type TokenTargets } from './token-targets.ts';

const CONNECTIONS = 8;
/** Tokens take milliseconds to make, and what takes longest to answer is waited for. */
const SCHEDULE: Schedule = { rounds: 3, seconds: 2, warmUp: { ...WARM_UP, seconds: 3 } };
/** Tokens for each second of a run, which ends when there are no more. */
const TOKENS: Readonly<Record<TokenType, number>> = { [VOPRF]: 300, [BLIND_RSA]: 4000 };
/** For which an event loop is watched. */
const WATCHED = 10;

const NOTES = [
  `A client in Node, ${CONNECTIONS} connections; what was begun at the end of a round is waited for. Issuance over TLS with`,
  'connections that stay, redemption without TLS. Token requests were blinded before and come again;',
  'each token comes once, made with the private key. privacypass-ts computes with sjcl, or with noble',
  'for VOPRF where it says so; its servers are bare: no access token, no quota, no log, spent tokens in a Set.',
  'Ours verifies an access token (seen before), spends a quota in the store and writes a log line for each',
  'request, and keeps spent tokens in the store. With redemption the CPU time is that of both servers: of type 1',
  'the resource server asks the issuer, or verifies itself. CPU time of Redis stands beside. Event loop:',
  'from one turn to the next, over all turns, seen from within the issuer, which has one CPU for all of its',
  'threads; at least 1 ms.',
];

/** PrivateToken: tokens issued and redeemed a second, beside @cloudflare/privacypass-ts. */
export async function measurePrivateToken(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const targets = await startTokenTargets(stack);
  const found = await compareAll(comparisonsOf(targets), say, SCHEDULE);
  const loops = await watchLoops(targets, say);
  return {
    tables: [...found.tables, loops.table],
    errors: found.errors + loops.errors,
    notes: NOTES,
  };
}

function comparisonsOf({ sjcl, noble, sqlite, redis, itself }: TokenTargets): Comparison[] {
  const comparison = (
    title: string,
    contender: typeof issuing,
    type: TokenType,
    targets: readonly TokenTarget[],
  ): Comparison => ({
    title: `PrivateToken: ${title}`,
    unit: 'token',
    contenders: targets.map((target) => overPool(contender(target, type), CONNECTIONS)),
  });
  const two = [sjcl, sqlite, redis];
  return [
    comparison('issuance, type 1 (VOPRF)', issuing, VOPRF, [sjcl, noble, sqlite, redis]),
    comparison('issuance, type 2 (blind RSA)', issuing, BLIND_RSA, two),
    comparison('redemption, type 1', redeeming, VOPRF, [sjcl, noble, sqlite, redis, itself]),
    comparison('redemption, type 2', redeeming, BLIND_RSA, two),
  ];
}

function keyOf({ name, keys }: TokenTarget, type: TokenType): TokenKeyPair {
  const key = keys.find((one) => one.type === type);
  if (key === undefined) throw new Error(`${name} has no key of type ${type}`);
  return key;
}

/** Has to blind sign, and to refuse what is no blinded message. */
function issuing(target: TokenTarget, type: TokenType): PoolContender {
  const { server, path, credentials } = target.issuer;
  const { blinded, response } = TOKEN_TYPES[type];
  const key = keyOf(target, type);
  const all = Array.from({ length: CONNECTIONS }, () => blindRequest(key));
  const fields = { ...credentials, 'Content-Type': REQUEST_TYPE };
  const post = (body: Buffer): OctetRequest => ({ method: 'POST', path, fields, body });
  const requests = all.map(({ content }) => post(content));
  const none = encodeTokenRequest({
    type,
    truncatedKeyId: truncatedKeyId(key.id),
    blinded: Buffer.alloc(blinded, 0xff),
  });
  let next = 0;
  return {
    name: target.name,
    server,
    probes: [
      ...all.map(({ content, isAnsweredBy }): Probe => [
        post(content),
        (answer) => answer.status === 200 && isAnsweredBy(answer.content),
      ]),
      [post(none), ({ status }) => status === 422],
    ],
    prepare: () => () => requests[next++ % requests.length],
    isRight: ({ status, content }) => status === 200 && content.length === response,
  };
}

/** Has to take a token once, and none with another authenticator. */
function redeeming(target: TokenTarget, type: TokenType): PoolContender {
  const { server, path, digest } = target.origin;
  const make = tokenMaker(keyOf(target, type), digest(type));
  const get = (token: Buffer): OctetRequest => ({
    method: 'GET',
    path: path(type),
    fields: { Authorization: `PrivateToken token="${encodePadded(token)}"` },
  });
  const forged = make();
  forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
  const good = get(make());
  const isRight = ({ status }: OctetAnswer) => status === 200;
  const isRefused = ({ status }: OctetAnswer) => status === 401;
  const left: OctetRequest[] = [];
  return {
    name: target.name,
    server,
    probes: [
      [good, isRight],
      [good, isRefused],
      [get(forged), isRefused],
    ],
    prepare(seconds) {
      while (left.length < seconds * TOKENS[type]) left.push(get(make()));
      return () => left.pop();
    },
    isRight,
  };
}

/** The event loops of the issuers while they are asked for as many tokens as they give. */
async function watchLoops(
  { sjcl, noble, sqlite }: TokenTargets,
  say: (line: string) => void,
): Promise<{ readonly table: Table; readonly errors: number }> {
  const watched: readonly (readonly [TokenType, readonly TokenTarget[]])[] = [
    [VOPRF, [sjcl, noble, sqlite]],
    [BLIND_RSA, [sjcl, sqlite]],
  ];
  const rows = [];
  let errors = 0;
  for (const [type, targets] of watched) {
    for (const target of targets) {
      say(`  event loop of ${target.name}, type ${type}`);
      const { prepare } = overPool(issuing(target, type), CONNECTIONS);
      const run = await prepare(WATCHED);
      const { done, delay } = await target.issuer.monitor.during(target.issuer.server, run);
      errors += done.errors;
      rows.push({
        server: target.name,
        type,
        'p50 ms': round(delay.p50, 1),
        'p99 ms': round(delay.p99, 1),
        'max ms': round(delay.max, 1),
        'wall token/s': Math.round(done.count / done.seconds),
        errors: done.errors,
      });
    }
  }
  return { table: { title: 'PrivateToken: event loop while issuing at full load', rows }, errors };
}
