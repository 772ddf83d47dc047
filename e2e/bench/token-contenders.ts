import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import { fresh, type HttpRequest, type Load } from './requests.ts';
import { bearer, BODY, ES256, type get, ORIGIN, type Site, type Space, verify } from './site.ts';

/** Proofs made per second of a run, more than any server checks. */
export const PROOFS = 12_000;

const DOCUMENT: HttpContender['answer'] = { status: 200, body: (text) => text === BODY };
const VERDICT: HttpContender['answer'] = { status: 204 };

/** The request: for a document, or only for a verdict. */
type Ask = typeof get;

const answerTo = (ask: Ask) => (ask === verify ? VERDICT : DOCUMENT);

export interface Bearers {
  readonly name: string;
  readonly server: Server;
  readonly space: Space;
  readonly tokens: readonly string[];
  readonly ask: Ask;
  /** The order of the tokens. */
  readonly load: (requests: readonly HttpRequest[]) => Load;
}

/** Bearer tokens. A token with another signature must be refused. */
export function byBearer({ name, server, space, tokens, ask, load }: Bearers): HttpContender {
  const request = (token: string) => ask(space, bearer(token));
  return {
    name,
    server,
    load: load(tokens.map(request)),
    answer: answerTo(ask),
    forged: () => request(forged(tokens[0] ?? '')),
  };
}

/** A new proof for each request. A proof with another signature must be refused. */
export async function byProof(
  name: string,
  server: Server,
  { bound }: Site,
  ask: Ask,
): Promise<HttpContender> {
  const fields = () => bound.fields('GET', ORIGIN + ES256.path);
  const other = await fields();
  return {
    name,
    server,
    load: fresh(async () => ask(ES256, await fields()), PROOFS),
    answer: answerTo(ask),
    forged: () => ask(ES256, { ...other, DPoP: forged(other['DPoP'] ?? '') }),
  };
}

/** The same JWT with another signature. */
function forged(jwt: string): string {
  const at = jwt.lastIndexOf('.') + 1;
  return `${jwt.slice(0, at)}${jwt[at] === 'A' ? 'B' : 'A'}${jwt.slice(at + 1)}`;
}
