import { type Command, Failure } from '../arguments/command.ts';
import { findClient } from '#shared/operations/clients/find-client.ts';
import { createProver } from '../oauth/dpop.ts';
import { sendUnhurried } from '../oauth/http.ts';
import { requestToken } from '../oauth/token-request.ts';
import { readSecret, SECRET_OPTIONS } from '../arguments/secret.ts';
import { withStores } from '../stores/with-stores.ts';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Clock } from '#shared/base/clock.ts';
import type { Revocations, RevokedBy } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type CheckedToken, checkToken } from '#shared/operations/tokens/check-token.ts';
import { columns } from '#shared/base/printable.ts';
import { moment } from '#shared/base/moment.ts';
import { readToken } from '../arguments/read-token.ts';
import { revokeToken } from '#shared/operations/tokens/token-revoke.ts';
import { commandOf } from '../stores/of-operation.ts';

export const tokenGet: Command = {
  name: 'token get',
  store: 'opens',
  summary: 'get an access token with the credentials of a client and print it',
  operands: ['CLIENT'],
  options: {
    ...SECRET_OPTIONS,
    scope: { value: '"A B"', help: "the scope of the token; default: the client's default" },
    resource: {
      value: 'URL',
      help: 'the space that the token is for; default: the first space with these scopes',
    },
    dpop: { help: 'bind the token to a new key; --json prints the private key as dpop_jwk' },
  },
  details: ['Without an option the command reads the secret from COUNTERSIGN_CLIENT_SECRET.'],
  run: async (input, shell) => {
    const secret = await readSecret(input, shell);
    const { client, issuer } = await withStores(shell, async ({ clients }, config) => ({
      client: await findClient(clients, input.operands[0] ?? ''),
      issuer: config.issuer,
    }));
    if (client.secret_hash === undefined)
      throw new Failure(`client ${client.client_id} has no secret`);
    const prover = input.flag('dpop') ? await createProver(shell.clock, shell.random) : undefined;
    const answer = await requestToken(sendUnhurried, {
      issuer,
      client,
      secret,
      scope: input.text('scope'),
      resource: input.text('resource'),
      prover,
    });
    return {
      json: { ...answer, ...(prover && { dpop_jwk: prover.privateJwk }) },
      lines: [answer.access_token],
    };
  },
};

type Words = (value: unknown, clock: Clock) => string;

const plain: Words = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The header parameters and claims that the command explains, in the order of the output. */
const WORDS: readonly (readonly [name: string, meaning: string, words: Words])[] = [
  ['typ', 'type', plain],
  ['alg', 'signed with', plain],
  ['kid', 'by the key', plain],
  ['iss', 'issued by', plain],
  ['client_id', 'to the client', plain],
  ['sub', 'in the name of', plain],
  ['aud', 'for', plain],
  ['scope', 'may', plain],
  ['acr', 'signed in by', plain],
  ['amr', 'methods', plain],
  ['auth_time', 'signed in at', moment],
  ['iat', 'issued at', moment],
  ['nbf', 'not before', moment],
  ['exp', 'expires at', moment],
  ['cnf', 'bound to the key', plain],
  ['jti', 'identifier', plain],
  ['grant_id', 'grant', plain],
];

const REVOKED_BY: Record<RevokedBy | 'unknown', string> = {
  token: 'yes, this token',
  grant: 'yes, with its grant',
  key: 'yes, with every token of its key',
  person: 'yes, with everything of its person',
  client: 'yes, with everything of its client',
  epoch: 'refused: it is older than the memory of the store',
  unknown: 'unknown: the store cannot say',
};

export const tokenExplain: Command = {
  name: 'token explain',
  store: 'opens',
  summary: 'explain an access token: its claims, and whether the servers accept it',
  operands: ['TOKEN'],
  details: ['TOKEN: the token, or - to read it from standard input.'],
  run: ({ operands: [operand] }, shell) =>
    withStores(shell, async ({ keys, revocations }, config) => {
      const token = await readToken(operand, shell);
      const { header, claims } = decode(token);
      const checked = await checkToken(token, keys, config, shell.clock);
      const revoked = checked.ok ? await revokedBy(revocations, checked) : undefined;
      const members = { ...claims, ...header };
      return {
        json: {
          header,
          claims,
          good: checked.ok,
          ...(!checked.ok && { reason: checked.reason }),
          ...(revoked && { revoked_by: revoked }),
        },
        lines: columns([
          ...WORDS.filter(([name]) => members[name] !== undefined).map(([name, meaning, words]) => [
            meaning,
            words(members[name], shell.clock),
          ]),
          ...verdict(checked, revoked),
        ]),
      };
    }),
};

function decode(token: string) {
  try {
    const header: Record<string, unknown> = { ...decodeProtectedHeader(token) };
    const claims: Record<string, unknown> = { ...decodeJwt(token) };
    return { header, claims };
  } catch (error) {
    throw new Failure(
      `this is not a JWT: ${(error as Error).message}`,
      'Give the whole access token or ID token: three parts with a dot between them.',
    );
  }
}

async function revokedBy(
  revocations: Revocations,
  { claims, kid }: Extract<CheckedToken, { ok: true }>,
): Promise<RevokedBy | 'unknown' | undefined> {
  await using feed = await revocations.feed();
  try {
    return (await feed.latest()).revokedBy({ ...claims, kid });
  } catch (error) {
    if (error instanceof StoreUnavailable) return 'unknown';
    throw error;
  }
}

function verdict(checked: CheckedToken, revoked: RevokedBy | 'unknown' | undefined): string[][] {
  if (!checked.ok) return [['accepted', `no: ${checked.reason}`]];
  return [
    ['checked', 'signature, issuer, audience and times are good'],
    ['revoked', revoked === undefined ? 'no' : REVOKED_BY[revoked]],
  ];
}

export const tokenRevoke = commandOf(revokeToken, {
  details: ['TOKEN: the token, or - to read it from standard input.'],
  source: {
    members: ['token'],
    options: {},
    read: async ({ operands: [operand] }, shell) => ({
      given: { token: await readToken(operand, shell) },
    }),
  },
  lines: ({ jti }) => [`Revoked ${jti}.`],
});
