import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { CALLBACK } from '../pair/people-client.ts';
import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import type { OctetAnswer, OctetRequest, PoolContender, Probe } from './pool-load.ts';
import { always } from './requests.ts';
import { clientForm, type Grant, tokenRequest } from './tokens.ts';

export const SCOPE = 'documents:read';
const VERIFIER = 'v'.repeat(43);
/** The challenge to which every code is bound (RFC 7636). */
export const CODES = {
  redirectUri: CALLBACK,
  challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
};

type Client = Grant['client'];

/** An authorization server, a client, and codes of a person who has allowed everything. */
export interface Issuer {
  readonly server: Server;
  readonly client: Client;
  code(): Promise<string>;
}

/** Codes per second of a run. A run ends when its codes are used up. */
const CODES_PER_SECOND = 200;
/** How many codes are made at a time. */
const CODES_AT_ONCE = 8;

/** The client credentials grant. Another secret must be refused. */
export function byClient(
  name: string,
  server: Server,
  client: Client,
  resource: string,
): HttpContender {
  const request = { client, scope: SCOPE, resource };
  const stranger = { ...client, secret: client.secret.toUpperCase() };
  return {
    name,
    server,
    load: always(tokenRequest(request)),
    answer: { status: 200, body: isJwtAnswer },
    forged: () => tokenRequest({ ...request, client: stranger }),
  };
}

/** Whether the answer has an ES256 JWT (RFC 9068) of type Bearer (RFC 6749 section 5.1). */
function isJwtAnswer(text: string): boolean {
  const { access_token, token_type } = JSON.parse(text) as Record<string, string>;
  const { typ, alg } = decodeProtectedHeader(access_token ?? '');
  return token_type === 'Bearer' && typ === 'at+jwt' && alg === 'ES256';
}

/** Redeems codes (RFC 6749 section 4.1.3), each once. An unissued code must be refused. */
export async function redeeming(name: string, issuer: Issuer): Promise<PoolContender> {
  const code = await issuer.code();
  return {
    name,
    server: issuer.server,
    probes: [
      [redemption(issuer, code), hasTokens],
      [redemption(issuer, altered(code)), isRefused],
    ],
    async prepare(seconds) {
      const left: OctetRequest[] = [];
      while (left.length < seconds * CODES_PER_SECOND) {
        const made = await Promise.all(Array.from({ length: CODES_AT_ONCE }, () => issuer.code()));
        left.push(...made.map((one) => redemption(issuer, one)));
      }
      return () => left.pop();
    },
    isRight: hasTokens,
  };
}

/** Uses refresh tokens (RFC 6749 section 6). Each use returns the next token. */
export function refreshing(
  name: string,
  issuer: Issuer,
  refreshTokens: readonly string[],
): PoolContender {
  const left = [...refreshTokens];
  const refresh = (token: string) =>
    octets(
      clientForm(issuer.client, '/token', { grant_type: 'refresh_token', refresh_token: token }),
    );
  const isRight: Probe[1] = (answer) => {
    if (!hasTokens(answer)) return false;
    left.push(tokensIn(answer.content.toString())['refresh_token'] ?? '');
    return true;
  };
  const first = left.shift() ?? '';
  return {
    name,
    server: issuer.server,
    probes: [
      [refresh(altered(first)), isRefused],
      [refresh(first), isRight],
    ],
    prepare: () => () => {
      const token = left.shift();
      return token === undefined ? undefined : refresh(token);
    },
    isRight,
  };
}

/** Introspects one token (RFC 7662) repeatedly. It must be active. */
export function introspecting(name: string, issuer: Issuer, token: string): HttpContender {
  const path = '/token/introspection';
  return {
    name,
    server: issuer.server,
    load: always(clientForm(issuer.client, path, { token })),
    answer: {
      status: 200,
      body: (text) => (JSON.parse(text) as Record<string, unknown>)['active'] === true,
    },
    forged: () => clientForm({ ...issuer.client, secret: 'another' }, path, { token }),
  };
}

/** Gets the tokens for a new code. */
export async function newTokens(issuer: Issuer): Promise<{ access: string; refresh: string }> {
  const { method, path, fields: headers, body } = redeemForm(issuer, await issuer.code());
  const answer = await fetch(issuer.server.url + path, { method, headers, body });
  const { access_token: access, refresh_token: refresh } = tokensIn(await answer.text());
  if (access === undefined || refresh === undefined) throw new Error(`no tokens: ${answer.status}`);
  return { access, refresh };
}

const redeemForm = ({ client }: Issuer, code: string) =>
  clientForm(client, '/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CODES.redirectUri,
    code_verifier: VERIFIER,
  });

const redemption = (issuer: Issuer, code: string) => octets(redeemForm(issuer, code));

const octets = ({ body, ...request }: ReturnType<typeof clientForm>): OctetRequest => ({
  ...request,
  body: Buffer.from(body),
});

const tokensIn = (text: string) => JSON.parse(text) as Record<string, string | undefined>;

function hasTokens({ status, content }: OctetAnswer): boolean {
  if (status !== 200) return false;
  const { access_token, refresh_token } = tokensIn(content.toString());
  return access_token !== undefined && refresh_token !== undefined;
}

const isRefused: Probe[1] = ({ status }) => status === 400;

/** A text of the same length that is no valid secret. */
const altered = (secret: string) => `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;
